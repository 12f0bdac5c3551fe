#include "engines/gdb/register_layout.h"

#include <algorithm>
#include <array>

#include "engines/gdb/hex.h"

namespace ringside::engines::gdb {
namespace {

struct NamedRegister {
  std::string_view name;  // as in target descriptions
  std::uint8_t id;
};

namespace x86 = wire::x86_64;

// gdb's features org.gnu.gdb.i386.core and .linux, and QEMU's system registers in
// gdb-xml/i386-64bit.xml (7.2).
constexpr std::array<NamedRegister, 28> kX86Registers{{
    {"rax", x86::kRax},        {"rbx", x86::kRbx}, {"rcx", x86::kRcx},
    {"rdx", x86::kRdx},        {"rsi", x86::kRsi}, {"rdi", x86::kRdi},
    {"rbp", x86::kRbp},        {"rsp", x86::kRsp}, {"r8", x86::kR8},
    {"r9", x86::kR9},          {"r10", x86::kR10}, {"r11", x86::kR11},
    {"r12", x86::kR12},        {"r13", x86::kR13}, {"r14", x86::kR14},
    {"r15", x86::kR15},        {"rip", x86::kRip}, {"eflags", x86::kRflags},
    {"cs", x86::kCs},          {"ss", x86::kSs},   {"fs_base", x86::kFsBase},
    {"gs_base", x86::kGsBase}, {"cr0", x86::kCr0}, {"k_gs_base", x86::kKernelGsBase},
    {"cr2", x86::kCr2},        {"cr3", x86::kCr3}, {"cr4", x86::kCr4},
    {"efer", x86::kEfer},
}};

std::optional<std::uint8_t> id_of(Arch arch, std::string_view name) {
  if (arch != Arch::kX86_64) return std::nullopt;
  const auto found = std::find_if(kX86Registers.begin(), kX86Registers.end(),
                                  [name](const auto& entry) { return entry.name == name; });
  if (found == kX86Registers.end()) return std::nullopt;
  return found->id;
}

// What gdb takes for granted of an x86-64 stub that describes nothing: 16 general registers, rip,
// eflags and six segments, then the floating point and vector registers (gdb,
// features/i386/64bit-core.xml).
constexpr std::size_t kCoreBytes64 = 17 * 8 + 7 * 4;
constexpr std::size_t kPlainBytes32 = 308;  // i386 with SSE, QEMU's and gdb's own

}  // namespace

Result<RegisterLayout> RegisterLayout::from_description(const TargetDescription& description,
                                                        std::size_t g_bytes) {
  RegisterLayout layout;
  layout.arch_ = description.arch;
  if (layout.arch_ != Arch::kX86_64)
    return fail(
        ErrorCode::kUnsupported, "the guest is {}; this version profiles x86_64 guests",
        description.architecture.empty() ? "of an unknown architecture" : description.architecture);
  std::uint32_t offset = 0;
  for (const TargetRegister& reg : description.registers) {
    const std::uint32_t size = (reg.bits + 7) / 8;
    if (const auto id = id_of(layout.arch_, reg.name); id && size <= 8) {
      const Place place{*id, offset, size, reg.number};
      (offset + size <= g_bytes ? layout.in_g_ : layout.by_number_).push_back(place);
    }
    offset += size;
  }
  const auto known = [&layout](std::uint8_t id) {
    return std::any_of(layout.in_g_.begin(), layout.in_g_.end(),
                       [id](const Place& place) { return place.id == id; });
  };
  if (!known(x86::kRip) || !known(x86::kRsp))
    return fail(ErrorCode::kFormat,
                "gdb stub: no rip or rsp in the {} bytes of registers that it sends", g_bytes);
  return layout;
}

Result<RegisterLayout> RegisterLayout::fallback(std::size_t g_bytes) {
  if (g_bytes < kCoreBytes64 || g_bytes == kPlainBytes32)
    return fail(ErrorCode::kUnsupported,
                "the gdb stub describes no registers, and {} bytes of them are not x86_64's",
                g_bytes);
  TargetDescription description{Arch::kX86_64, "i386:x86-64", {}};
  constexpr std::array<const char*, 24> kOrder{
      "rax", "rbx", "rcx", "rdx", "rsi", "rdi",    "rbp", "rsp", "r8", "r9", "r10", "r11",
      "r12", "r13", "r14", "r15", "rip", "eflags", "cs",  "ss",  "ds", "es", "fs",  "gs"};
  for (std::uint32_t i = 0; i < kOrder.size(); ++i)
    description.registers.push_back({kOrder[i], i, i < 17 ? 64u : 32u});
  return from_description(description, g_bytes);
}

std::vector<std::uint32_t> RegisterLayout::numbers_for_p() const {
  std::vector<std::uint32_t> numbers;
  for (const Place& place : by_number_) numbers.push_back(place.number);
  return numbers;
}

bool RegisterLayout::decode(std::string_view hex, const Place& place, wire::Registers& registers) {
  std::array<std::byte, 8> bytes{};
  if (decode_hex(hex, std::span(bytes).first(place.size)) != place.size) return false;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  registers.set(place.id, value);
  return true;
}

void RegisterLayout::decode_g(std::string_view hex, wire::Registers& registers) const {
  for (const Place& place : in_g_) {
    const std::size_t at = std::size_t{2} * place.offset;
    if (at + std::size_t{2} * place.size <= hex.size())
      (void)decode(hex.substr(at), place, registers);
  }
}

void RegisterLayout::decode_p(std::size_t n, std::string_view hex,
                              wire::Registers& registers) const {
  (void)decode(hex, by_number_[n], registers);
}

PrivilegeLevel privilege_level_of(Arch arch, const wire::Registers& registers) {
  if (arch != Arch::kX86_64) return PrivilegeLevel::kUnknown;
  constexpr std::uint64_t kProtectionEnable = 1;
  constexpr std::uint64_t kPaging = std::uint64_t{1} << 31;
  if (registers.has(x86::kCr0)) {
    const std::uint64_t cr0 = registers.get(x86::kCr0);
    if ((cr0 & kProtectionEnable) == 0 || (cr0 & kPaging) == 0) return PrivilegeLevel::kFirmware;
  }
  if (!registers.has(x86::kCs)) return PrivilegeLevel::kUnknown;
  return (registers.get(x86::kCs) & 3u) == 3 ? PrivilegeLevel::kUser : PrivilegeLevel::kKernel;
}

}  // namespace ringside::engines::gdb
