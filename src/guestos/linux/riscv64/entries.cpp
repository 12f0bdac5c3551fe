#include "guestos/linux/riscv64/entries.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/little_endian.h"
#include "guestos/linux/entry/named_entries.h"

namespace ringside::guestos {
namespace {

using namespace arch::riscv64;

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

// Size of the jump at the end of a function: a compressed one has other low bits than 11 (RISC-V
// ISA, volume I, 1.5).
std::uint64_t bytes_of_last_jump(const elf::Image& kernel, const std::string& name) {
  const auto symbol = kernel.file->symbol_named(name);
  if (!symbol || symbol->size < 4) return 4;
  const Bytes tail = kernel.file->bytes_at(symbol->address + (symbol->size - 4), 4);
  return tail.size() == 4 && (static_cast<std::uint8_t>(tail[0]) & 0x7f) == 0x6f ? 4 : 2;
}

}  // namespace

std::vector<unwind::TrapFrameLayout> riscv64_entries(const elf::Image& kernel) {
  unwind::TrapFrameLayout layout;
  layout.frame = pt_regs();
  layout.calls_only = true;
  auto entries = named_entries(kernel, layout, leaves_pt_regs, begins_a_stack);
  // call syscall_exit_to_user_mode, which is auipc and jalr; j ret_from_exception
  for (const char* name : {"ret_from_fork", "ret_from_fork_user_asm"})
    end_in_user_mode(entries, kernel, name, 4 + bytes_of_last_jump(kernel, name));
  return entries;
}

std::optional<std::uint64_t> riscv64_saved_sp(const elf::Image& kernel) {
  constexpr std::size_t kEntryBytes = 256;
  const auto symbol = kernel.file->symbol_named("handle_exception");
  if (!symbol) return std::nullopt;
  const Bytes code = kernel.file->bytes_at(symbol->address, kEntryBytes);
  for (std::size_t at = 0; at + 4 <= code.size();) {
    const auto word = load<std::uint32_t>(code, at);
    const std::uint64_t offset = (word >> 25 & 0x7f) << 5 | (word >> 7 & 0x1f);
    if ((word & 0x01fff07f) == 0x00223023 && offset < 2048) return offset;  // sd sp, offset(tp)
    at += (word & 3) == 3 ? 4 : 2;
  }
  return std::nullopt;
}

void copy_saved_stack(wire::RecipeBuilder& recipe, std::uint64_t offset, std::uint64_t alignment) {
  constexpr std::uint64_t kFirstKernelAddress = std::uint64_t{1} << 63;
  const auto stack = recipe.slot();
  const auto task = recipe.slot();
  const auto left = recipe.slot();
  const auto end = recipe.recipe_end();
  recipe.read_register(stack, kSp, end);
  recipe.go_if_not_less(stack, kFirstKernelAddress, end);
  recipe.read_register(task, kTp, end);
  recipe.go_if_less(task, kFirstKernelAddress, end);
  recipe.copy({task, offset}, 8, wire::PieceKind::kStackLink);
  recipe.load(left, {task, offset}, 8, end);
  recipe.go_if_less(left, kFirstKernelAddress, end);
  recipe.copy_stack(left, wire::PieceKind::kInterruptedStack, alignment);
}

}  // namespace ringside::guestos
