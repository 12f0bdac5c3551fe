#include "guestos/user_interrupts/formed_addresses.h"

#include <array>
#include <optional>

#include "arch/arch_info.h"
#include "base/little_endian.h"
#include "unwind/aarch64/decoder.h"
#include "unwind/riscv64/decoder.h"

namespace ringside::guestos {
namespace {

using Found = std::function<void(ImageAddr)>;
using unwind::link_register::Instruction;
using unwind::link_register::Operation;

// With and without an extension of the sign, of which a decoder of the prefixes knows one.
void report_immediate(Bytes code, std::size_t at, std::uint64_t mask, const Found& found) {
  if (at + sizeof(std::int32_t) > code.size()) return;
  const auto value = load<std::int32_t>(code, at);
  found(ImageAddr{static_cast<std::uint64_t>(value) & mask});
  if (value < 0 && mask > 0xffffffff) found(ImageAddr{static_cast<std::uint32_t>(value)});
}

// push, mov to a register and to memory, lea (Intel SDM volume 2, appendix A).
void find_on_x86(Arch arch, const elf::CodeRange& code, const Found& found) {
  const std::uint64_t mask = arch::info_of(arch).address_mask();
  const bool is_64 = arch == Arch::kX86_64;
  const Bytes bytes = code.bytes;
  for (std::size_t i = 0; i + 5 <= bytes.size(); ++i) {
    const auto opcode = load<std::uint8_t>(bytes, i);
    if (opcode == 0x68 || opcode >> 3 == 0xb8 >> 3) report_immediate(bytes, i + 1, mask, found);
    if (is_64 && opcode >> 3 == 0xb8 >> 3 && i + 9 <= bytes.size())
      found(ImageAddr{load<std::uint64_t>(bytes, i + 1)});
    if (opcode == 0xc7)  // behind its operand's bytes, of which there are 1 to 6
      for (std::size_t operand = 1; operand <= 6; ++operand)
        report_immediate(bytes, i + 1 + operand, mask, found);
    const bool is_lea = opcode == 0x8d && (load<std::uint8_t>(bytes, i + 1) & 0xc7) == 0x05;
    if (!is_lea || i + 6 > bytes.size()) continue;
    const auto displacement = static_cast<std::uint64_t>(load<std::int32_t>(bytes, i + 2));
    const ImageAddr base = is_64 ? code.address + i + 6 : ImageAddr{0};
    found(ImageAddr{(base.value + displacement) & mask});
  }
}

// The values of registers by the instructions before, in order.
class KnownRegisters {
 public:
  explicit KnownRegisters(bool has_adr) : has_adr_(has_adr) {}

  // The address that the instruction forms. A page's address is only a part of one.
  [[nodiscard]] std::optional<ImageAddr> form(const Instruction& instruction) {
    const auto address = address_of(instruction);
    for (std::size_t i = 0; i < values_.size(); ++i)
      if ((instruction.writes >> i & 1) != 0) values_[i].reset();
    const bool is_known =
        instruction.operation == Operation::kSet || instruction.operation == Operation::kAdd;
    if (is_known && address && instruction.a < values_.size()) values_[instruction.a] = *address;
    const bool is_part =
        instruction.operation == Operation::kSet && !(has_adr_ && (address->value & 0xfff) != 0);
    return is_part ? std::nullopt : address;
  }

 private:
  [[nodiscard]] std::optional<ImageAddr> address_of(const Instruction& instruction) const {
    const auto value = static_cast<std::uint64_t>(instruction.value);
    if (instruction.operation == Operation::kSet) return ImageAddr{value};
    const bool adds = instruction.operation == Operation::kAdd ||
                      instruction.operation == Operation::kJumpIndirect;
    if (!adds || instruction.b >= values_.size() || !values_[instruction.b]) return std::nullopt;
    return *values_[instruction.b] + value;
  }

  bool has_adr_;
  std::array<std::optional<ImageAddr>, 32> values_;
};

void find_by_decoder(const unwind::link_register::Decoder& decoder, bool has_adr,
                     const elf::CodeRange& code, const Found& found) {
  KnownRegisters registers(has_adr);
  for (std::size_t i = 0; i < code.bytes.size();) {
    const Instruction instruction = decoder.decode(code.bytes.subspan(i), code.address + i);
    if (const auto address = registers.form(instruction)) found(*address);
    i += instruction.size;
  }
}

}  // namespace

void find_formed_addresses(Arch arch, const elf::CodeRange& code, const Found& found) {
  if (arch == Arch::kAArch64)
    find_by_decoder(unwind::aarch64::Decoder(), true, code, found);
  else if (arch == Arch::kRiscv64)
    find_by_decoder(unwind::riscv64::Decoder(), false, code, found);
  else
    find_on_x86(arch, code, found);
}

}  // namespace ringside::guestos
