#include "guestos/linux/riscv64_entries.h"

#include <algorithm>
#include <array>

#include "guestos/linux/named_entries.h"

namespace ringside::guestos {
namespace {

using namespace wire::riscv64;

// struct pt_regs, arch/riscv/include/asm/ptrace.h: epc, x1 to x31, status, badaddr, cause, orig_a0.
constexpr unwind::RegisterFrame pt_regs() {
  unwind::RegisterFrame frame;
  for (std::uint8_t reg = kRa; reg <= kT6; ++reg)
    frame.save(reg, static_cast<std::int16_t>(8 * reg));
  return frame.save(kPc, 0).save(kSstatus, 256);
}

// The last ones were pieces of it before 6.5, where the entry code is in C.
bool leaves_pt_regs(std::string_view name) {
  constexpr std::array<std::string_view, 13> kEntries = {
      "handle_exception",
      "ret_from_exception",
      "_save_context",
      "_restore_kernel_tpsp",
      "handle_syscall",
      "check_syscall_nr",
      "ret_from_syscall",
      "ret_from_syscall_rejected",
      "handle_syscall_trace_enter",
      "handle_syscall_trace_exit",
      "resume_kernel",
      "resume_userspace",
      "work_pending",
  };
  return std::find(kEntries.begin(), kEntries.end(), name) != kEntries.end();
}

// Where the stack of a kernel thread, of a new process or of a CPU begins (entry.S, head.S). 6.13
// has two of ret_from_fork.
bool begins_a_stack(std::string_view name) {
  return name == "ret_from_fork" || name == "ret_from_fork_kernel_asm" ||
         name == "ret_from_fork_user_asm" || name == "ret_from_kernel_thread" ||
         name == "_start_kernel" || name == "secondary_start_sbi" ||
         name == "secondary_start_common";
}

}  // namespace

std::vector<unwind::EntryLayout> riscv64_entries(const elf::Image& kernel) {
  unwind::EntryLayout layout;
  layout.frame = pt_regs();
  layout.calls_only = true;
  return named_entries(kernel, layout, leaves_pt_regs, begins_a_stack);
}

}  // namespace ringside::guestos
