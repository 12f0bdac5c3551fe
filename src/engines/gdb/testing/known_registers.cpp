#include "engines/gdb/testing/known_registers.h"

#include <fmt/core.h>

#include <algorithm>

#include "engines/gdb/protocol/hex.h"

namespace ringside::engines::gdb::testing {

std::vector<MonitorName> monitor_names(Arch arch) {
  std::vector<MonitorName> names;
  const auto add = [&names](int id, std::string label) {
    names.push_back({static_cast<std::uint8_t>(id), std::move(label)});
  };
  if (arch == Arch::kI386) {
    using namespace arch::i386;
    names = {{kEax, "EAX"}, {kEcx, "ECX"},    {kEdx, "EDX"}, {kEbx, "EBX"},
             {kEsp, "ESP"}, {kEbp, "EBP"},    {kEsi, "ESI"}, {kEdi, "EDI"},
             {kEip, "EIP"}, {kEflags, "EFL"}, {kCs, "CS "},  {kSs, "SS "},
             {kCr0, "CR0"}, {kCr2, "CR2"},    {kCr3, "CR3"}, {kCr4, "CR4"}};
  } else if (arch == Arch::kAArch64) {
    for (int n = 0; n <= 30; ++n) add(n, fmt::format("X{:02}", n));
    add(arch::aarch64::kSp, " SP");
    add(arch::aarch64::kPc, "PC");
    add(arch::aarch64::kCpsr, "PSTATE");
  } else if (arch == Arch::kRiscv64) {
    for (int n = 0; n < 32; ++n) add(n, fmt::format(" x{}/", n));
    using namespace arch::riscv64;
    for (const auto& [id, label] :
         {std::pair{kPc, " pc "}, std::pair{kSatp, "satp"}, std::pair{kSepc, " sepc"},
          std::pair{kStvec, "stvec"}, std::pair{kSscratch, "sscratch"},
          std::pair{kScause, "scause"}, std::pair{kStval, " stval"}})
      add(id, label);
  }
  return names;
}

std::optional<std::uint64_t> monitor_value(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return std::nullopt;
  text.remove_prefix(at + label.size());
  // "x1/ra    0000": the second name of the register.
  if (label.back() == '/') text.remove_prefix(std::min(text.size(), text.find(' ')));
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" =")));
  return parse_hex_number(text.substr(0, text.find_first_not_of("0123456789abcdef")));
}

std::vector<Constant> loop_constants(Arch arch) {
  if (arch == Arch::kAArch64) {
    using namespace arch::aarch64;
    return {{kTtbr0El1, 0x40a01000}, {kTtbr1El1, 0x40b02000},
            {kSpEl0, 0x40c03040},    {kElrEl1, 0xffff800008045678},
            {kSpsrEl1, 0x3c5},       {kVbarEl1, 0x40d08800},
            {kTcrEl1, 0x19351935},   {arch::aarch64::kFp, 0xffff00000000111d}};
  }
  if (arch == Arch::kRiscv64) {
    using namespace arch::riscv64;
    return {{kPriv, 1},
            {kSatp, 0x12345},
            {kSepc, 0x80001234},
            {kStvec, 0x80003450},
            {arch::riscv64::kFp, 0x11008}};
  }
  using namespace arch::i386;
  return {{kEax, 0x11aa0000}, {kEsp, 0x80004440}, {kEip, 0x800ffe80}, {kCr3, 0x1000}};
}

}  // namespace ringside::engines::gdb::testing
