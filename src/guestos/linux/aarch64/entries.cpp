#include "guestos/linux/aarch64/entries.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/byte_reader.h"
#include "base/little_endian.h"
#include "guestos/linux/aarch64/trampoline.h"
#include "guestos/linux/entry/named_entries.h"

namespace ringside::guestos {
namespace {

using namespace arch::aarch64;

// struct pt_regs, arch/arm64/include/asm/ptrace.h: x0 to x30, sp, pc, pstate; the frame record lies
// behind them, see stack_frame_offset().
constexpr unwind::RegisterFrame pt_regs() {
  unwind::RegisterFrame frame;
  for (std::uint8_t reg = kX0; reg <= kPc; ++reg)
    frame.save(reg, static_cast<std::int16_t>(8 * reg));
  return frame.save(kCpsr, 264);
}

// el1h_64_irq and its like exist from 5.14 on, the others before.
bool leaves_pt_regs(std::string_view name) {
  for (const std::string_view mode : {"el1t_64_", "el1h_64_"})
    for (const std::string_view kind : {"sync", "irq", "fiq", "error"})
      if (name.starts_with(mode) && name.substr(mode.size()) == kind) return true;
  return name == "ret_to_kernel" || name == "el1_sync" || name == "el1_irq" || name == "el1_error";
}

// Entry code for user mode alone, and the way back there: nothing need be read to know it, and it
// is so from the first instruction to the last. The same names as C functions end differently.
bool is_for_user_mode(std::string_view name) {
  for (const std::string_view mode : {"el0t_64_", "el0t_32_"})
    for (const std::string_view kind : {"sync", "irq", "fiq", "error"})
      if (name.starts_with(mode) && name.substr(mode.size()) == kind) return true;
  constexpr std::array<std::string_view, 7> kBefore514 = {
      "el0_sync",  "el0_sync_compat",  "el0_irq",     "el0_irq_compat",
      "el0_error", "el0_error_compat", "ret_to_user",
  };
  return std::find(kBefore514.begin(), kBefore514.end(), name) != kBefore514.end();
}

// Where the stack of a kernel thread, of a new process or of a CPU begins (entry.S, head.S).
bool begins_a_stack(std::string_view name) {
  return name == "ret_from_fork" || name == "__primary_switched" || name == "__secondary_switched";
}

// Where pt_regs holds the frame record: 304, and 296 from 6.13 on. The entry code says it: the
// first `add x29, sp, #offset` (Arm ARM, C6.2.4).
std::optional<std::int16_t> stack_frame_offset(const elf::Image& kernel, std::string_view entry) {
  constexpr std::size_t kEntryBytes = 512;
  const auto symbol = kernel.file->symbol_named(entry);
  if (!symbol) return std::nullopt;
  const Bytes code = kernel.file->bytes_at(symbol->address, kEntryBytes);
  for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
    const auto word = load<std::uint32_t>(code, at);
    if ((word & 0xffc003ff) == 0x910003fd) return static_cast<std::int16_t>(word >> 10 & 0xfff);
  }
  return std::nullopt;
}

}  // namespace

std::vector<unwind::TrapFrameLayout> aarch64_entries(const elf::Image& kernel) {
  constexpr std::int16_t kUsualOffset = 304;
  auto offset = stack_frame_offset(kernel, "el1h_64_irq");
  if (!offset) offset = stack_frame_offset(kernel, "el1_irq");
  unwind::TrapFrameLayout layout;
  layout.base = unwind::TrapFrameLayout::Base::kFramePointer;
  layout.base_offset = static_cast<std::int16_t>(-offset.value_or(kUsualOffset));
  layout.calls_only = true;
  layout.frame = pt_regs();
  auto entries = named_entries(kernel, layout, leaves_pt_regs, begins_a_stack);
  const unwind::TrapFrameLayout user{.below = unwind::TrapFrameLayout::Below::kUser};
  for (const auto& entry :
       named_entries(kernel, user, is_for_user_mode, [](std::string_view) { return false; }))
    entries.push_back(entry);
  // bl asm_exit_to_user_mode; b ret_to_user
  end_in_user_mode(entries, kernel, "ret_from_fork", 8);
  // Only the way from and to user mode leads over it.
  if (const auto trampoline = find_trampoline(*kernel.file))
    entries.push_back({.start = trampoline->alias,
                       .end = trampoline->alias + trampoline->bytes,
                       .below = unwind::TrapFrameLayout::Below::kUser});
  return entries;
}

std::optional<Aarch64OverflowTest> aarch64_overflow_test(const elf::Image& kernel) {
  // Arm ARM, C6.2, ADD and SUB (extended register).
  constexpr std::uint32_t kAddSpX0 = 0x8b2063ff;  // add sp, sp, x0
  constexpr std::uint32_t kSubX0Sp = 0xcb2063e0;  // sub x0, sp, x0
  // The first vector for this exception level.
  constexpr std::uint64_t kOfTheKernel = 4 * kAArch64VectorBytes;
  const auto vectors = kernel.file->symbol_named("vectors");
  if (!vectors) return std::nullopt;
  ByteReader code(kernel.file->bytes_at(vectors->address + kOfTheKernel, kAArch64VectorBytes));
  std::uint32_t last = 0;
  while (const auto word = code.read<std::uint32_t>()) {
    if (last == kAddSpX0 && *word == kSubX0Sp)
      return Aarch64OverflowTest{kernel.to_guest(vectors->address), code.offset() - 8};
    last = *word;
  }
  return std::nullopt;
}

// add sp, sp, x0; sub x0, sp, x0; tbnz x0, …; sub x0, sp, x0; sub sp, sp, x0: behind the second
// and the third x0 has it, behind the first and the fourth sp has the sum of both.
void copy_tested_stack(wire::RecipeBuilder& recipe, const Aarch64OverflowTest& test,
                       std::uint64_t alignment) {
  constexpr std::uint64_t kVectors = 8 * kAArch64VectorBytes;  // of the kernel's exceptions
  constexpr std::uint64_t kInstruction = 4;                    // bytes
  constexpr std::uint64_t kFirstKernelAddress = std::uint64_t{1} << 63;
  const auto at = recipe.slot();
  const auto stack = recipe.slot();
  const auto sum = recipe.slot();
  const auto end = recipe.recipe_end();
  const auto found = recipe.label();
  recipe.read_register(at, kPc, end);
  recipe.subtract(at, at, test.vectors.value);
  recipe.go_if_not_less(at, kVectors, end);
  recipe.mask(at, at, kAArch64VectorBytes - 1);
  recipe.subtract(at, at, test.start + kInstruction);
  recipe.go_if_not_less(at, 4 * kInstruction, end);
  recipe.read_register(stack, kX0, end);
  recipe.subtract(at, at, kInstruction);
  recipe.go_if_less(at, 2 * kInstruction, found);
  recipe.read_register(sum, kSp, end);
  recipe.subtract(stack, sum, stack);
  recipe.bind(found);
  recipe.go_if_less(stack, kFirstKernelAddress, end);
  recipe.copy_stack(stack, wire::PieceKind::kInterruptedStack, alignment);
}

}  // namespace ringside::guestos
