#include "guestos/linux/modules/module_list.h"

#include <algorithm>
#include <array>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "base/little_endian.h"

namespace ringside::guestos {
namespace {

constexpr std::size_t kCodeBytes = 256;  // the list comes early in both functions

std::int64_t sign_extended(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

// The addresses that `adrp` begins and `add` and the offsets of `ldr` complete (Arm ARM, C6.2): a
// structure's, and those of what is in it.
std::vector<ImageAddr> addresses_in_aarch64(Bytes code, ImageAddr at) {
  std::array<std::uint64_t, 32> registers{};  // 0: not known
  std::vector<ImageAddr> addresses;
  for (std::size_t i = 0; i + 4 <= code.size(); i += 4) {
    const auto word = load<std::uint32_t>(code, i);
    const std::size_t target = word & 31;
    const std::size_t base = word >> 5 & 31;
    if ((word & 0x9f000000) == 0x90000000) {  // adrp
      const std::uint64_t pages = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
      registers[target] = ((at.value + i) & ~std::uint64_t{0xfff}) +
                          static_cast<std::uint64_t>(sign_extended(pages, 21)) * 4096;
    } else if (registers[base] == 0) {
      continue;
    } else if ((word & 0xffc00000) == 0x91000000) {  // add, immediate without a shift
      registers[target] = registers[base] + (word >> 10 & 0xfff);
      addresses.push_back({registers[target]});
    } else if ((word & 0xffe00c00) == 0xf8400c00) {  // ldr, pre-indexed
      registers[base] += static_cast<std::uint64_t>(sign_extended(word >> 12 & 0x1ff, 9));
      addresses.push_back({registers[base]});
    } else if ((word & 0xffc00000) == 0xf9400000) {  // ldr, unsigned offset
      addresses.push_back({registers[base] + (word >> 10 & 0xfff) * 8});
    }
  }
  return addresses;
}

// Absolute ones of 32 bits, wherever instructions may have them.
std::vector<ImageAddr> addresses_in_x86(Bytes code, bool is_64) {
  std::vector<ImageAddr> addresses;
  for (std::size_t i = 0; i + 4 <= code.size(); ++i) {
    const auto word = load<std::uint32_t>(code, i);
    addresses.push_back({is_64 ? static_cast<std::uint64_t>(sign_extended(word, 32)) : word});
  }
  return addresses;
}

bool is_in(const elf::ElfFile& kernel, ImageAddr address) {
  const auto& segments = kernel.segments();
  return std::any_of(segments.begin(), segments.end(), [address](const elf::Segment& segment) {
    return address >= segment.address && address - segment.address < segment.memory_size;
  });
}

// By the name of the variable, or all that functions which walk the list may have for it.
std::vector<ImageAddr> find_lists(const elf::ElfFile& kernel, const char* variable,
                                  const std::array<const char*, 2>& functions) {
  if (const auto list = kernel.symbol_named(variable)) return {list->address};
  const std::size_t alignment = arch::roles_of(kernel.arch()).pointer_size;
  std::vector<ImageAddr> lists;
  for (const char* function : functions) {
    const auto symbol = kernel.symbol_named(function);
    if (!symbol) continue;
    const Bytes code = kernel.bytes_at(symbol->address, kCodeBytes);
    std::vector<ImageAddr> found;
    if (kernel.arch() == Arch::kAArch64) found = addresses_in_aarch64(code, symbol->address);
    if (arch::info_of(kernel.arch()).is_x86) found = addresses_in_x86(code, kernel.is_64());
    for (const ImageAddr address : found)
      if (address.value % alignment == 0 && is_in(kernel, address) && !kernel.is_code(address) &&
          std::find(lists.begin(), lists.end(), address) == lists.end())
        lists.push_back(address);
  }
  return lists;
}

}  // namespace

std::vector<ImageAddr> find_module_lists(const elf::ElfFile& kernel) {
  return find_lists(kernel, "modules", {"find_module_all", "print_modules"});
}

std::vector<ImageAddr> find_bpf_lists(const elf::ElfFile& kernel) {
  return find_lists(kernel, "bpf_kallsyms", {"bpf_get_kallsym", "bpf_ksym_add"});
}

}  // namespace ringside::guestos
