#include "guestos/linux/interrupt_entries.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ringside::guestos {
namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// arch/x86/include/asm/idtentry.h (5.8 and later): asm_NAME is the assembly that calls NAME; on
// i386 handle_exception does that for it (entry_32.S). irq_entries_start are the vectors' stubs.
bool is_x86_interrupt(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {
      "asm_common_interrupt", "common_interrupt",      "asm_spurious_interrupt",
      "spurious_interrupt",   "asm_exc_nmi",           "exc_nmi",
      "irq_entries_start",    "spurious_entries_start"};
  return name.starts_with("asm_sysvec_") || name.starts_with("sysvec_") || is_one_of(kNames, name);
}

// arch/arm64/kernel/entry.S: el1h_64_irq and its like from 5.14 on, the others before.
bool is_aarch64_interrupt(std::string_view name) {
  constexpr std::array<std::string_view, 11> kNames = {
      "el1t_64_irq", "el1t_64_fiq", "el1h_64_irq", "el1h_64_fiq", "el0t_64_irq",   "el0t_64_fiq",
      "el0t_32_irq", "el0t_32_fiq", "el1_irq",     "el0_irq",     "el0_irq_compat"};
  return is_one_of(kNames, name);
}

// What handle_exception calls for an interrupt: do_irq (arch/riscv/kernel/traps.c, 6.5 and later),
// before that generic_handle_arch_irq (kernel/irq/handle.c, 5.18) or the controller's handler.
bool is_riscv64_interrupt(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"do_irq", "handle_riscv_irq",
                                                      "generic_handle_arch_irq", "riscv_intc_irq"};
  return is_one_of(kNames, name);
}

bool is_interrupt(Arch arch, std::string_view name) {
  switch (arch) {
    case Arch::kX86_64:
    case Arch::kI386:
      return is_x86_interrupt(name);
    case Arch::kAArch64:
      return is_aarch64_interrupt(name);
    case Arch::kRiscv64:
      return is_riscv64_interrupt(name);
    default:
      return false;
  }
}

bool is_shared_entry(std::string_view name) {
  return name == "handle_exception" || name == "ret_from_exception";
}

}  // namespace

InterruptCode linux_interrupt_code(const elf::Image& kernel) {
  std::vector<InterruptCode::Range> own;
  std::vector<InterruptCode::Range> shared;
  const auto& symbols = kernel.file->symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool is_own = is_interrupt(kernel.file->arch(), symbols[i].name);
    if (!is_own && !is_shared_entry(symbols[i].name)) continue;
    // Labels without a size reach to the next symbol.
    std::uint64_t size = symbols[i].size;
    for (std::size_t next = i + 1; size == 0 && next < symbols.size(); ++next)
      size = symbols[next].address - symbols[i].address;
    const GuestVirt start = kernel.to_guest(symbols[i].address);
    (is_own ? own : shared).push_back({start, start + size});
  }
  return {std::move(own), std::move(shared)};
}

}  // namespace ringside::guestos
