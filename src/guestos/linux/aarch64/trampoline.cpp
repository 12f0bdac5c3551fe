#include "guestos/linux/aarch64/trampoline.h"

#include <elf.h>

#include <array>
#include <vector>

#include "base/little_endian.h"
#include "elf/elf_writer.h"
#include "unwind/aarch64/decoder.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMostBytes = 16 * kPage;

// The 64-bit constants that `movn` or `movz` with two `movk` behind it put into a register (Arm
// ARM, C6.2: "Move wide").
struct Constant {
  std::uint64_t value;
  std::uint32_t next;    // the instruction behind
  std::uint64_t offset;  // of that
};
std::vector<Constant> constants_in(Bytes code) {
  constexpr std::uint32_t kMoveWide = 0x1f800000;
  constexpr std::uint32_t kOpcode = 0xff800000;
  constexpr std::uint32_t kMovn = 0x92800000;
  constexpr std::uint32_t kMovk = 0xf2800000;
  std::vector<Constant> constants;
  std::uint64_t value = 0;
  std::uint32_t reg = 0;
  unsigned kept = 3;  // movk so far; 3: no register is being filled
  for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
    const auto word = load<std::uint32_t>(code, at);
    const std::uint64_t part = word >> 5 & 0xffff;
    const unsigned shift = 16 * (word >> 21 & 3);
    if ((word & kMoveWide) != (kMovn & kMoveWide) || word >> 31 == 0) {
      kept = 3;
    } else if ((word & kOpcode) == kMovk) {
      if (kept >= 2 || (word & 31) != reg) continue;
      value = (value & ~(std::uint64_t{0xffff} << shift)) | part << shift;
      if (++kept < 2) continue;
      const std::uint32_t next = at + 8 <= code.size() ? load<std::uint32_t>(code, at + 4) : 0;
      constants.push_back({value, next, at + 4});
    } else {
      value = (word & kOpcode) == kMovn ? ~(part << shift) : part << shift;
      reg = word & 31;
      kept = 0;
    }
  }
  return constants;
}

bool is_kernel_page(std::uint64_t address) {
  return address >> 52 == 0xfff && address % kPage == 0;
}

// `adrp x29, tramp_exit_native; add x29, x29, #…; add x30, x30, x29`, and the same with
// __entry_tramp_text_start and `sub`. Behind the exits there is no other page.
std::optional<Trampoline> trampoline_by_code(Bytes code, ImageAddr at) {
  const unwind::aarch64::Decoder decoder;
  using unwind::link_register::Operation;
  std::array<std::uint64_t, 2> addresses{};
  std::size_t found = 0;
  for (std::size_t i = 0; i + 8 <= code.size() && found < addresses.size(); i += 4) {
    const auto page = decoder.decode(code.subspan(i), at + i);
    const auto rest = decoder.decode(code.subspan(i + 4), at + i + 4);
    if (page.operation == Operation::kRet || page.operation == Operation::kJumpIndirect) break;
    if (page.operation != Operation::kSet || rest.operation != Operation::kAdd || rest.b != page.a)
      continue;
    addresses[found++] =
        static_cast<std::uint64_t>(page.value) + static_cast<std::uint64_t>(rest.value);
  }
  const auto [exit, start] = addresses;
  if (found < addresses.size() || start % kPage != 0 || exit < start) return std::nullopt;
  const std::uint64_t offset = exit - start;
  return Trampoline{.code = {start}, .bytes = (offset / kPage + 1) * kPage, .exit = offset};
}

}  // namespace

std::optional<Trampoline> find_trampoline(const elf::ElfFile& kernel) {
  constexpr std::size_t kExitPathBytes = 1024;
  const auto start = kernel.symbol_named("__entry_tramp_text_start");
  const auto end = kernel.symbol_named("__entry_tramp_text_end");
  auto exit = kernel.symbol_named("tramp_exit_native");
  if (!exit) exit = kernel.symbol_named("tramp_exit");  // of 6.5 and later
  const auto exit_path = kernel.symbol_named("ret_to_user");
  if (!exit_path) return std::nullopt;
  const Bytes code = kernel.bytes_at(exit_path->address, kExitPathBytes);
  for (const Constant& constant : constants_in(code)) {
    // Up to 6.4 the offset of tramp_exit_native is added by instructions that begin with an adrp.
    const bool is_alias = (constant.next & 0x9f000000) == 0x90000000;
    std::optional<Trampoline> found;
    if (start && end && exit)
      found = Trampoline{.code = start->address,
                         .bytes = end->address - start->address,
                         .exit = exit->address - start->address};
    else if (is_alias)
      found =
          trampoline_by_code(code.subspan(constant.offset), exit_path->address + constant.offset);
    if (!found || found->bytes == 0 || found->bytes > kMostBytes || found->exit >= found->bytes)
      continue;
    found->alias = GuestVirt{constant.value - (is_alias ? 0 : found->exit)};
    if (is_kernel_page(found->alias.value)) return found;
  }
  return std::nullopt;
}

std::optional<elf::Image> trampoline_image(const elf::ElfFile& kernel) {
  const auto trampoline = find_trampoline(kernel);
  if (!trampoline) return std::nullopt;
  const Bytes code = kernel.bytes_at(trampoline->code, trampoline->bytes);
  if (code.size() < trampoline->bytes) return std::nullopt;
  std::vector<elf::ElfWriter::Symbol> symbols;
  if (!kernel.symbol_named("tramp_exit_native") && !kernel.symbol_named("tramp_exit")) {
    const std::uint8_t info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    symbols.push_back(
        {.name = "tramp_vectors", .address = {trampoline->alias.value}, .info = info});
    symbols.push_back({.name = "tramp_exit_native",
                       .address = {trampoline->alias.value + trampoline->exit},
                       .info = info});
  }
  for (const char* name : {"tramp_vectors", "tramp_exit", "tramp_exit_native", "tramp_exit_compat",
                           "__sdei_asm_entry_trampoline", "__sdei_asm_exit_trampoline"})
    if (const auto symbol = kernel.symbol_named(name);
        symbol && symbol->address - trampoline->code < trampoline->bytes)
      symbols.push_back(
          {.name = name,
           .address = {trampoline->alias.value + (symbol->address - trampoline->code)},
           .info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)});
  elf::ElfWriter writer(Arch::kAArch64, true, ET_EXEC);
  writer.add_segment({trampoline->alias.value}, trampoline->bytes, true, false, code);
  writer.set_symbols(std::move(symbols));
  auto file = elf::ElfFile::from_bytes(writer.write(), "entry trampoline");
  if (!file) return std::nullopt;
  return elf::Image{.name = "trampoline", .file = std::move(*file), .from_guest = true};
}

}  // namespace ringside::guestos
