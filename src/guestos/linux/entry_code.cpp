#include "guestos/linux/entry_code.h"

#include <algorithm>
#include <cstring>

#include "arch/arch_info.h"
#include "guestos/linux/aarch64_entry_code.h"
#include "guestos/linux/riscv64_entry_code.h"

namespace ringside::guestos {
namespace {

// From the start to behind the first call of `callee`; 0 where there is none.
std::uint64_t bytes_to_call(Bytes code, ImageAddr start, ImageAddr callee) {
  constexpr std::byte kCall{0xe8};
  constexpr std::size_t kCallSize = 5;
  for (std::size_t at = 0; at + kCallSize <= code.size(); ++at) {
    std::uint32_t distance = 0;
    std::memcpy(&distance, &code[at + 1], sizeof(distance));
    const std::uint64_t next = start.value + at + kCallSize;
    if (code[at] == kCall && std::uint32_t(next + distance) == std::uint32_t(callee.value))
      return at + kCallSize;
  }
  return 0;
}

}  // namespace

EntryFunction x86_entry_function(const elf::Image& kernel, std::string_view name,
                                 std::span<const std::string_view> labels, std::string_view calls) {
  constexpr std::uint64_t kMaxBytes = 4096;  // more than any assembly that is looked at
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
  const std::uint64_t way_in = bytes_to_call(code, begin->address, callee->address);
  if (way_in == 0) return {};
  return {kernel.to_guest(begin->address), size, way_in};
}

std::optional<std::uint32_t> x86_landing_pad(const elf::ElfFile& kernel, const TypeSource& types) {
  const auto image = kernel.symbol_named("vdso_image_32");
  const auto field = types.member("vdso_image", "sym_int80_landing_pad");
  if (!image || !field) return std::nullopt;
  const Bytes bytes = kernel.bytes_at(image->address + field->offset, sizeof(std::uint32_t));
  std::uint32_t offset = 0;
  if (bytes.size() < sizeof(offset)) return std::nullopt;
  std::memcpy(&offset, bytes.data(), sizeof(offset));
  return offset;
}

arch::Registers with_saved(arch::Registers registers, const wire::Capture& capture,
                           const unwind::RegisterFrame& pt_regs, GuestVirt frame, GuestVirt from) {
  const bool is_wide = arch::roles_of(capture.arch).pointer_size == 8;
  for (std::size_t reg = 0; reg < arch::kRegisterCount; ++reg) {
    if (!pt_regs.saves(reg)) continue;
    const GuestVirt slot = frame + static_cast<std::uint64_t>(pt_regs.offsets[reg]);
    if (slot < from) continue;
    const auto value = is_wide ? capture.read<std::uint64_t>(slot)
                               : std::optional<std::uint64_t>(capture.read<std::uint32_t>(slot));
    if (value)
      registers.set(reg, *value);
    else
      registers.forget(reg);
  }
  return registers;
}

std::unique_ptr<EntryCode> EntryCode::of(const elf::Image& kernel, const UserRegisters& pt_regs,
                                         const TypeSource& types) {
  switch (kernel.file->arch()) {
    case Arch::kX86_64:
      return x86_64_entry_code(kernel, pt_regs, types);
    case Arch::kI386:
      return i386_entry_code(kernel, pt_regs, types);
    case Arch::kAArch64:
      return aarch64_entry_code(kernel, pt_regs);
    case Arch::kRiscv64:
      return riscv64_entry_code(kernel, pt_regs);
    case Arch::kUnknown:
      break;
  }
  return nullptr;
}

}  // namespace ringside::guestos
