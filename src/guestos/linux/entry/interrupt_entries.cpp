#include "guestos/linux/entry/interrupt_entries.h"

#include <string_view>

#include "elf/symbol_extent.h"
#include "guestos/linux/linux_arch.h"

namespace ringside::guestos {
namespace {

bool is_shared_entry(std::string_view name) {
  return name == "handle_exception" || name == "ret_from_exception";
}

}  // namespace

InterruptCode linux_interrupt_code(const elf::Image& kernel) {
  std::vector<InterruptCode::Range> own;
  std::vector<InterruptCode::Range> shared;
  const auto& symbols = kernel.file->symbols();
  const LinuxArch* const linux_arch = find_linux_arch(kernel.file->arch());
  if (linux_arch == nullptr) return {};
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool is_own = linux_arch->is_interrupt(symbols[i].name);
    if (!is_own && !is_shared_entry(symbols[i].name)) continue;
    const GuestVirt start = kernel.to_guest(symbols[i].address);
    (is_own ? own : shared).push_back({start, start + elf::extent_of(symbols, i)});
  }
  return {std::move(own), std::move(shared)};
}

}  // namespace ringside::guestos
