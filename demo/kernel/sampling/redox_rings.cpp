#include "sampling/redox_rings.h"

#include "arch/cpu.h"
#include "arch/instructions.h"
#include "core/layout.h"
#include "core/memory.h"
#include "core/panic.h"
#include "core/thread.h"
#include "process/process.h"
#include "sampling/walk.h"

// The names of Redox' kernel, by which a profiler outside finds the rings.
namespace kernel::profiling {

// Rust may order the members in any way, and so does this: debug information says where each is.
struct RingBuffer {
  u64 nmi_kcount;
  u64 (*buf)[];
  u64 nmi_ucount;
  u64 tail;   // words that were ever written
  u64 head;   // words that were ever taken out
  u64 words;  // of buf; in Redox 16 Mi
  u64 cut;
};

struct Slice {
  RingBuffer** pointer;
  u64 length;
};
Slice BUFS_RAW;  // since 2026-04; before:
constexpr u32 kHardcodedCpus = 4;
RingBuffer* BUFS[kHardcodedCpus];

}  // namespace kernel::profiling

namespace {

using kernel::profiling::BUFS;
using kernel::profiling::BUFS_RAW;
using kernel::profiling::kHardcodedCpus;
using kernel::profiling::RingBuffer;

constexpr u32 kMostWords = 32;
constexpr u64 kMark = 0xfedfac00, kNoContext = 0xffffffff, kBit63 = 1ull << 63;

RedoxFormat g_format;
RingBuffer* g_rings[kMaxCpus];

// Redox' order: room is what the reader has not to read yet; head and tail that are equal modulo
// the size mean an empty ring, so that one that nobody drains begins anew.
u64 room_at(const RingBuffer& ring, u64 head, u64 tail) {
  const u64 to_end = ring.words - tail;
  return head <= tail ? to_end : head - tail;
}

void extend(RingBuffer& ring, const u64* words, u32 count) {
  u32 written = 0;
  for (u32 part = 0; part < 2; ++part) {
    const u64 head = __atomic_load_n(&ring.head, __ATOMIC_ACQUIRE) % ring.words;
    const u64 tail = (ring.tail + written) % ring.words;
    if (part == 1 && !(tail == 0 && head != 0)) break;
    const u64 room = room_at(ring, head, tail);
    for (u64 n = 0; n < room && written < count; ++n, ++written)
      (*ring.buf)[tail + n] = words[written];
  }
  if (written < count) ++ring.cut;
  __atomic_store_n(&ring.tail, ring.tail + written, __ATOMIC_RELEASE);
}

u32 append(const ringside_stack& stack, u64* words, u32 count) {
  for (u32 n = 1; n < stack.count && count < kMostWords; ++n) words[count++] = stack.frames[n];
  return count;
}

uintptr_t g_frames[kMaxCpus][2][RINGSIDE_MAX_FRAMES];

}  // namespace

void make_redox_rings(RedoxFormat format, u32 cpus, u32 words, bool in_array) {
  g_format = format;
  if (in_array && cpus > kHardcodedCpus)
    panic("redox-rings=array has %u CPUs", u64{kHardcodedCpus});
  for (u32 cpu = 0; cpu < cpus; ++cpu) {
    auto* ring = static_cast<RingBuffer*>(allocate(sizeof(RingBuffer)));
    ring->buf = static_cast<u64(*)[]>(allocate(u64{words} * sizeof(u64)));
    ring->words = words;
    g_rings[cpu] = ring;
    if (in_array) __atomic_store_n(&BUFS[cpu], ring, __ATOMIC_RELEASE);
  }
  if (!in_array) BUFS_RAW = {g_rings, cpus};
}

void take_redox_sample(const SavedRegisters& interrupted) {
  const Cpu& cpu = this_cpu();
  RingBuffer* const ring = g_rings[cpu.id];
  if (!ring) return;
  const bool is_user = interrupted.is_user();
  ++(is_user ? ring->nmi_ucount : ring->nmi_kcount);
  u64 words[kMostWords];
  u32 count = 2;
  uintptr_t* const frames = g_frames[cpu.id][0];
  if (g_format == RedoxFormat::kA) {
    if (is_user) return;
    words[0] = interrupted.rip & ~kBit63;
    words[1] = read_tsc();
    count = append(walk_kernel(interrupted, frames), words, count);
  } else {
    const Process* process = cpu.current->process;
    words[1] = interrupted.rip;
    words[2] = read_tsc();
    words[3] = process ? process->pid : kNoContext;
    count = 4;
    const SavedRegisters* entered = is_user ? &interrupted : entered_from(cpu, interrupted);
    if (!is_user) count = append(walk_kernel(interrupted, frames), words, count);
    if (entered) {
      if (!is_user && count < kMostWords) words[count++] = entered->rip;
      count = append(walk_user(*entered, g_frames[cpu.id][1]), words, count);
    }
    words[0] = kMark | count;
  }
  extend(*ring, words, count);
}

size_t drain_redox_ring(u32 cpu, void* destination, size_t bytes) {
  RingBuffer& ring = *g_rings[cpu];
  const u64 tail = __atomic_load_n(&ring.tail, __ATOMIC_ACQUIRE);
  const u64 head = ring.head;
  // Until the end of the ring's memory at most, as Redox drains.
  u64 count =
      (tail % ring.words > head % ring.words ? tail % ring.words : ring.words) - head % ring.words;
  if (tail % ring.words == head % ring.words) count = 0;
  if (count > bytes / sizeof(u64)) count = bytes / sizeof(u64);
  memcpy(destination, &(*ring.buf)[head % ring.words], count * sizeof(u64));
  __atomic_store_n(&ring.head, head + count, __ATOMIC_RELEASE);
  return count * sizeof(u64);
}

u64 redox_kernel_count(u32 cpu) { return g_rings[cpu]->nmi_kcount; }
u64 redox_user_count(u32 cpu) { return g_rings[cpu]->nmi_ucount; }
u64 redox_cut_count(u32 cpu) { return g_rings[cpu]->cut; }
