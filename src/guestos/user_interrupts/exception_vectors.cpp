#include "guestos/user_interrupts/exception_vectors.h"

namespace ringside::guestos {

std::vector<KernelEntry> entries_of_vectors(const elf::Image& kernel, GuestVirt base) {
  constexpr std::uint64_t kEntrySize = 0x80;
  constexpr unsigned kEntries = 16;
  constexpr unsigned kKinds = 4;  // synchronous, IRQ, FIQ, SError
  std::vector<KernelEntry> entries;
  for (unsigned i = 0; i < kEntries; ++i) {
    const GuestVirt at = base + i * kEntrySize;
    if (!kernel.file->is_code(kernel.to_image(at))) return {};
    const unsigned kind = i % kKinds;
    entries.push_back({.address = at, .is_interrupts = kind == 1 || kind == 2});
  }
  return entries;
}

}  // namespace ringside::guestos
