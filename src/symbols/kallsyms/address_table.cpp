#include "symbols/kallsyms/address_table.h"

#include "base/little_endian.h"

namespace ringside::symbols::kallsyms {
namespace {

std::uint64_t load_pointer(Bytes bytes, std::size_t at, unsigned pointer_size) {
  return pointer_size == 8 ? load<std::uint64_t>(bytes, at) : load<std::uint32_t>(bytes, at);
}

// Kernels run in the upper half; 0 is a base that relocations have yet to write.
bool is_kernel_address(std::uint64_t address, unsigned pointer_size) {
  return pointer_size == 8 ? address >> 47 == 0x1ffff : address >= 0x1000;
}

class Search {
 public:
  Search(Bytes bytes, const NameTable& names, const TokenTable& tokens, unsigned pointer_size)
      : bytes_(bytes), names_(names), tokens_(tokens), pointer_size_(pointer_size) {}

  std::optional<AddressTable> run() const {
    const std::size_t a = names_.alignment;
    const std::size_t offsets_size = align_up(std::size_t{4} * names_.count, a);
    // From 6.4 on (404bad70fcf7): behind the tokens, then the base.
    const std::size_t behind = align_up(tokens_.end, a);
    if (auto table = based(behind, behind + offsets_size)) return table;
    // Until 6.3: the base, if there is one, is right in front of the count.
    if (names_.count_at >= a + offsets_size)
      if (auto table = based(names_.count_at - a - offsets_size, names_.count_at - a)) return table;
    // On 32 bits both are 32-bit numbers. Addresses never fall; at a second name of an address,
    // which kernels have thousands of, the distance to a place does.
    if (auto table = absolute(behind, pointer_size_ == 4 ? 0 : names_.count / 100)) return table;
    if (auto table = place_relative(behind)) return table;
    const std::size_t pointers_size = align_up(std::size_t{pointer_size_} * names_.count, a);
    if (names_.count_at >= pointers_size)
      return absolute(names_.count_at - pointers_size, names_.count / 100);
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool has(std::size_t at, std::size_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }

  // Nearly all addresses rise: a few symbols at the ends of sections may not.
  [[nodiscard]] bool rises(const AddressTable& table) const {
    return rises(table, names_.count / 100);
  }
  [[nodiscard]] bool rises(const AddressTable& table, std::size_t max_falls) const {
    // Where base or place are not known, a high one keeps addresses below it from wrapping round.
    const std::uint64_t high = std::uint64_t{1} << (pointer_size_ * 8 - 1);
    const std::uint64_t base = table.relative_base == 0 ? high : table.relative_base;
    std::uint64_t before = table.at(bytes_, 0, base, high);
    const std::uint64_t first = before;
    std::size_t falls = 0;
    for (std::size_t i = 1; i < names_.count; ++i) {
      const std::uint64_t address = table.at(bytes_, i, base, high);
      falls += address < before;
      before = address;
    }
    return before != first && falls <= max_falls;
  }

  [[nodiscard]] std::optional<AddressTable> based(std::size_t begin, std::size_t base_at) const {
    if (!has(begin, std::size_t{4} * names_.count) || !has(base_at, pointer_size_))
      return std::nullopt;
    AddressTable table{.encoding = Encoding::kBaseRelative,
                       .begin = begin,
                       .relative_base_at = base_at,
                       .relative_base = load_pointer(bytes_, base_at, pointer_size_),
                       .pointer_size = pointer_size_};
    if (table.relative_base != 0 && !is_kernel_address(table.relative_base, pointer_size_))
      return std::nullopt;
    // The base is the lowest symbol's address.
    if (load<std::uint32_t>(bytes_, begin) == 0 && rises(table)) return table;
    table.encoding = Encoding::kPercpuAbsolute;
    for (std::size_t i = 0; i < names_.count; ++i) {
      const auto number = load<std::int32_t>(bytes_, begin + 4 * i);
      if (number >= 0) continue;
      if (number == -1 && rises(table)) return table;
      break;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<AddressTable> place_relative(std::size_t begin) const {
    if (!has(begin, std::size_t{4} * names_.count)) return std::nullopt;
    const AddressTable table{
        .encoding = Encoding::kPlaceRelative, .begin = begin, .pointer_size = pointer_size_};
    // _text, which comes first, lies below this table, which is read-only data.
    if (load<std::int32_t>(bytes_, begin) >= 0 || !rises(table)) return std::nullopt;
    return table;
  }

  [[nodiscard]] std::optional<AddressTable> absolute(std::size_t begin,
                                                     std::size_t max_falls) const {
    const std::size_t count = names_.count;
    if (!has(begin, pointer_size_ * count)) return std::nullopt;
    const AddressTable table{
        .encoding = Encoding::kAbsolute, .begin = begin, .pointer_size = pointer_size_};
    if (!is_kernel_address(load_pointer(bytes_, begin + pointer_size_ * (count - 1), pointer_size_),
                           pointer_size_) ||
        !rises(table, max_falls))
      return std::nullopt;
    return table;
  }

  Bytes bytes_;
  const NameTable& names_;
  const TokenTable& tokens_;
  unsigned pointer_size_;
};

}  // namespace

std::uint64_t AddressTable::at(Bytes bytes, std::size_t i, std::uint64_t base,
                               std::uint64_t bytes_address) const {
  const std::uint64_t mask = pointer_size == 8 ? ~std::uint64_t{0} : 0xffffffff;
  switch (encoding) {
    case Encoding::kAbsolute:
      return load_pointer(bytes, begin + pointer_size * i, pointer_size);
    case Encoding::kBaseRelative:
      return (base + load<std::uint32_t>(bytes, begin + 4 * i)) & mask;
    case Encoding::kPercpuAbsolute: {
      const std::int64_t number = load<std::int32_t>(bytes, begin + 4 * i);
      return number >= 0 ? static_cast<std::uint64_t>(number)
                         : (base - 1 - static_cast<std::uint64_t>(number)) & mask;
    }
    case Encoding::kPlaceRelative:
      return (bytes_address + begin + 4 * i +
              static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(bytes, begin + 4 * i)})) &
             mask;
  }
  return 0;
}

std::optional<AddressTable> find_addresses(Bytes bytes, const NameTable& names,
                                           const TokenTable& tokens, unsigned pointer_size) {
  return Search(bytes, names, tokens, pointer_size).run();
}

}  // namespace ringside::symbols::kallsyms
