#include "guestos/linux/x86/common.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/little_endian.h"
#include "guestos/linux/linux_arch.h"

namespace ringside::guestos {
namespace {

// From the start to behind the first call of `callee`; 0 where there is none.
std::uint64_t bytes_to_call(Bytes code, ImageAddr start, ImageAddr callee) {
  constexpr std::byte kCall{0xe8};
  constexpr std::size_t kCallSize = 5;
  for (std::size_t at = 0; at + kCallSize <= code.size(); ++at) {
    const auto distance = load<std::uint32_t>(code, at + 1);
    const std::uint64_t next = start.value + at + kCallSize;
    if (code[at] == kCall && std::uint32_t(next + distance) == std::uint32_t(callee.value))
      return at + kCallSize;
  }
  return 0;
}

}  // namespace

bool is_x86_interrupt(std::string_view symbol) {
  constexpr std::array<std::string_view, 8> kNames = {
      "asm_common_interrupt", "common_interrupt",      "asm_spurious_interrupt",
      "spurious_interrupt",   "asm_exc_nmi",           "exc_nmi",
      "irq_entries_start",    "spurious_entries_start"};
  return symbol.starts_with("asm_sysvec_") || symbol.starts_with("sysvec_") ||
         std::find(kNames.begin(), kNames.end(), symbol) != kNames.end();
}

std::optional<ImageAddr> x86_current_task(const elf::ElfFile& kernel, const TypeSource& types) {
  if (const auto found = member_of_variable(kernel, types, "pcpu_hot", "pcpu_hot", "current_task"))
    return found;
  const auto variable = kernel.symbol_named("current_task");
  return variable ? std::optional(variable->address) : std::nullopt;
}

EntryFunction x86_entry_function(const elf::Image& kernel, std::string_view name,
                                 std::span<const std::string_view> labels, std::string_view calls) {
  constexpr std::uint64_t kMaxBytes = 4096;  // more than any assembly that is examined
  const auto& symbols = kernel.file->symbols();
  const auto begin = std::find_if(symbols.begin(), symbols.end(),
                                  [&](const auto& symbol) { return symbol.name == name; });
  const auto callee = kernel.file->symbol_named(calls);
  if (begin == symbols.end() || !callee) return {};
  const auto end = std::find_if(begin, symbols.end(), [&](const auto& symbol) {
    return symbol.address != begin->address &&
           std::none_of(labels.begin(), labels.end(),
                        [&](std::string_view label) { return symbol.name.starts_with(label); });
  });
  if (end == symbols.end()) return {};
  const std::uint64_t size = std::min(end->address - begin->address, kMaxBytes);
  const Bytes code = kernel.file->bytes_at(begin->address, size);
  const std::uint64_t entry_path = bytes_to_call(code, begin->address, callee->address);
  if (entry_path == 0) return {};
  return {kernel.to_guest(begin->address), size, entry_path};
}

std::optional<std::uint32_t> x86_landing_pad(const elf::ElfFile& kernel, const TypeSource& types) {
  const auto image = kernel.symbol_named("vdso_image_32");
  const auto field = types.member("vdso_image", "sym_int80_landing_pad");
  if (!image || !field) return std::nullopt;
  const Bytes bytes = kernel.bytes_at(image->address + field->offset, sizeof(std::uint32_t));
  if (bytes.size() < sizeof(std::uint32_t)) return std::nullopt;
  return load<std::uint32_t>(bytes);
}

}  // namespace ringside::guestos
