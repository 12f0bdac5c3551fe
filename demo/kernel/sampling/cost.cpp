#include "sampling/cost.h"

#include <ringside_guest.h>

#include "arch/instructions.h"
#include "core/console.h"

namespace {

constexpr u32 kCalls = 1000;
constexpr u32 kDepths[] = {1, 8, 32};

// A stack whose frames follow each other.
struct Chain {
  alignas(16) u64 words[2 * RINGSIDE_MAX_FRAMES + 2];
  void build(u32 depth) {
    for (u32 n = 0; n < depth; ++n) {
      words[2 * n] = n + 1 < depth ? reinterpret_cast<u64>(&words[2 * n + 2]) : 0;
      words[2 * n + 1] = n + 1 < depth ? 0xffffffff80100000 + n : 0;
    }
  }
};
Chain g_chain;
uintptr_t g_frames[RINGSIDE_MAX_FRAMES];

template <class Call>
INLINE u64 ticks_of(Call call) {
  const u64 start = read_tsc();
  for (u32 n = 0; n < kCalls; ++n) call();
  return (read_tsc() - start) / kCalls;
}

INLINE ringside_stack walk(const Chain& chain) {
  const u64 low = reinterpret_cast<u64>(chain.words);
  const ringside_registers at{0xffffffff80100000, low, low, 0};
  return ringside_walk(&at, low, low + sizeof(chain.words), nullptr, g_frames);
}

}  // namespace

void print_costs() {
  const ringside_task task{read_cr3(), 1, 1, "a name of 15 by"};
  for (const u32 depth : kDepths) {
    g_chain.build(depth);
    const u64 walked = ticks_of([&] { (void)walk(g_chain); });
    const ringside_stack stack = walk(g_chain);
    const u64 sampled = ticks_of([&] { ringside_sample(0, RINGSIDE_NMI, &task, &stack, nullptr); });
    const ringside_allocation what{RINGSIDE_ALLOC, RINGSIDE_IN_BYTES, "malloc", 0x1000, 0, 64};
    const u64 allocated = ticks_of([&] { ringside_allocated(0, &what, &task, &stack); });
    print("ringside-demo: cost frames=%u walk=%u sample=%u allocation=%u\n",
          static_cast<u64>(stack.count), walked, sampled, allocated);
  }
}
