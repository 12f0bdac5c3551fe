#include "guestos/linux/i386_entries.h"

#include <algorithm>
#include <array>

#include "guestos/linux/named_entries.h"

namespace ringside::guestos {
namespace {

using namespace wire::i386;

// struct pt_regs, arch/x86/include/asm/ptrace.h; `ptype /o struct pt_regs` of a vmlinux with DWARF.
constexpr unwind::RegisterFrame pt_regs() {
  unwind::RegisterFrame frame;
  constexpr std::array<std::uint8_t, 7> kOrder = {kEbx, kEcx, kEdx, kEsi, kEdi, kEbp, kEax};
  for (std::size_t i = 0; i < kOrder.size(); ++i)
    frame.save(kOrder[i], static_cast<std::int16_t>(4 * i));
  return frame.save(kEip, 48).save(kCs, 52).save(kEflags, 56).save(kEsp, 60).save(kSs, 64);
}

// Entry code that calls C code. asm_exc_nmi is missing: it may move to another stack first.
bool leaves_pt_regs(std::string_view name) {
  constexpr std::array<std::string_view, 7> kEntries = {
      "asm_common_interrupt", "asm_spurious_interrupt", "common_interrupt_return", "entry_INT80_32",
      "entry_SYSENTER_32",    "handle_exception",       "handle_exception_return",
  };
  return std::find(kEntries.begin(), kEntries.end(), name) != kEntries.end();
}

// Where the stack of a kernel thread, of a new process or of a CPU begins.
bool begins_a_stack(std::string_view name) {
  return name == "ret_from_fork" || name == "startup_32" || name == "startup_32_smp" ||
         name == "start_cpu0" || name == "rewind_stack_and_make_dead";
}

}  // namespace

std::vector<unwind::EntryLayout> i386_entries(const elf::Image& kernel) {
  unwind::EntryLayout layout;
  layout.frame = pt_regs();
  layout.calls_only = true;
  return named_entries(kernel, layout, leaves_pt_regs, begins_a_stack);
}

void add_frame_in_transit(std::vector<wire::RecipeOp>& recipe) {
  using enum wire::RecipeOpcode;
  constexpr std::uint64_t kFrameSize = 68;  // struct pt_regs
  constexpr std::uint32_t kToEnd = 0xffff;
  enum Slot : std::uint8_t { kStack, kTo, kFrom };
  recipe.push_back({kRegister, kStack, kEsp, 0, kToEnd, 0});
  recipe.push_back({kRegister, kTo, kEdi, 0, kToEnd, 0});
  recipe.push_back({kRegister, kFrom, kEsi, 0, kToEnd, 0});
  recipe.push_back({kSubtract, kTo, kTo, kStack, 0, 0});
  recipe.push_back({kSkipIfNotLess, 0, kTo, 0, 1, kFrameSize});
  recipe.push_back({kCopy, 0, kFrom, static_cast<std::uint8_t>(wire::PieceKind::kInterruptedStack),
                    0, kFrameSize});
}

}  // namespace ringside::guestos
