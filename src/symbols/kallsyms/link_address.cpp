#include <elf.h>

#include <algorithm>
#include <limits>

#include "base/little_endian.h"
#include "symbols/kallsyms/kallsyms.h"

namespace ringside::symbols::kallsyms {
namespace {

constexpr std::uint64_t kAlignment = std::uint64_t{2} << 20;

bool is_kernel_address(std::uint64_t address) { return address >> 47 == 0x1ffff; }

// Calls visit(place, value) for everything that looks like an Elf64_Rela of a relative relocation.
template <class Visit>
void for_each_relocation(Bytes image, Visit visit) {
  for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= image.size(); at += 8) {
    const auto relocation = load<Elf64_Rela>(image, at);
    const bool relative =
        relocation.r_info == R_AARCH64_RELATIVE || relocation.r_info == R_RISCV_RELATIVE;
    const auto value = static_cast<std::uint64_t>(relocation.r_addend);
    if (relative && is_kernel_address(relocation.r_offset) && is_kernel_address(value))
      visit(relocation.r_offset, value);
  }
}

}  // namespace

std::optional<LinkAddress> link_address(Bytes image, const Tables& tables,
                                        std::uint64_t text_offset) {
  const AddressTable& addresses = tables.addresses;
  text_offset %= kAlignment;
  // The first symbol, if it is not the image's first byte, lies less than 2 MiB behind it.
  const auto image_of = [text_offset](std::uint64_t first) {
    return (first - text_offset) / kAlignment * kAlignment + text_offset;
  };
  if (addresses.encoding == Encoding::kAbsolute) {
    const std::uint64_t first = addresses.at(image, 0, 0, 0);
    return LinkAddress{image_of(first), first};
  }
  if (addresses.relative_base != 0)
    return LinkAddress{image_of(addresses.relative_base), addresses.relative_base};
  if (addresses.encoding != Encoding::kBaseRelative) return std::nullopt;

  // All relocations lie in the image, which shows its place to a few times 2 MiB; and the one of
  // the base shows the rest.
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t highest = 0;
  for_each_relocation(image, [&](std::uint64_t place, std::uint64_t) {
    lowest = std::min(lowest, place);
    highest = std::max(highest, place);
  });
  std::optional<LinkAddress> found;
  std::size_t candidates = 0;
  for_each_relocation(image, [&](std::uint64_t place, std::uint64_t value) {
    const std::uint64_t start = place - addresses.relative_base_at;
    if ((start - text_offset) % kAlignment != 0 || value - start >= kAlignment || start > lowest ||
        highest - start >= image.size())
      return;
    found = LinkAddress{start, value};
    ++candidates;
  });
  return candidates == 1 ? found : std::nullopt;
}

}  // namespace ringside::symbols::kallsyms
