#include "engines/gdb/register_layout.h"

#include <algorithm>
#include <array>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "base/little_endian.h"
#include "engines/gdb/protocol/hex.h"

namespace ringside::engines::gdb {
namespace {

// Registers that gdb assumes of an x86-64 stub that describes nothing: 16 general registers, rip,
// eflags and six segments, then the floating point and vector registers (gdb,
// features/i386/64bit-core.xml).
constexpr std::size_t kCoreBytes64 = 17 * 8 + 7 * 4;
constexpr std::size_t kPlainBytes32 = 308;  // i386 with SSE, QEMU's and gdb's own

// The register whose bits say that the tables of EL1 or of the supervisor are not all there is.
struct OtherTranslation {
  std::string_view name;
  std::uint64_t mask = 0;
};

OtherTranslation other_translation_of(Arch arch) {
  // HCR_EL2 (Arm ARM, D19.2.48): VM and DC, a second stage; TGE, by which EL0 belongs to EL2 and
  // has its tables. hgatp.MODE, a second stage (The RISC-V Instruction Set Manual, volume
  // II, 18.2.10). On x86 neither the stub nor a walk sees nested paging.
  if (arch == Arch::kAArch64) return {"HCR_EL2", 0x08001001};
  if (arch == Arch::kRiscv64) return {"hgatp", std::uint64_t{0xf} << 60};
  return {};
}

}  // namespace

Result<RegisterLayout> RegisterLayout::from_description(const TargetDescription& description,
                                                        std::size_t g_bytes) {
  RegisterLayout layout;
  layout.arch_ = description.arch;
  const arch::RegisterRoles roles = arch::roles_of(layout.arch_);
  if (!roles.known())
    return fail(
        ErrorCode::kUnsupported,
        "the guest is {}; ringside profiles x86_64, i386, aarch64 and riscv64 guests",
        description.architecture.empty() ? "of an unknown architecture" : description.architecture);
  std::uint32_t offset = 0;
  for (const TargetRegister& reg : description.registers) {
    const std::uint32_t size = (reg.bits + 7) / 8;
    const auto known = arch::known_register(layout.arch_, reg.name);
    if (known && size <= 8 && !layout.holds(*known)) {
      const Place place{*known, offset, size};
      if (offset + size <= g_bytes) {
        layout.in_g_.push_back(place);
      } else {
        Group& group = layout.by_number_[static_cast<std::size_t>(known->asked_for)];
        group.places.push_back(place);
        group.numbers.push_back(reg.number);
      }
    }
    if (reg.name == other_translation_of(layout.arch_).name)
      layout.other_translation_number_ = reg.number;
    offset += size;
  }
  if (!holds(layout.in_g_, roles.pc, arch::kAnyLevel) ||
      !holds(layout.in_g_, roles.sp, arch::kAnyLevel))
    return fail(ErrorCode::kFormat,
                "gdb stub: no program counter or stack pointer in the {} bytes of registers that "
                "it sends",
                g_bytes);
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

bool RegisterLayout::holds(const std::vector<Place>& places, std::uint8_t id, std::uint8_t level) {
  return std::any_of(places.begin(), places.end(), [=](const Place& place) {
    return place.known.id == id && place.known.level == level;
  });
}

bool RegisterLayout::holds(const arch::RegisterName& known) const {
  return holds(in_g_, known.id, known.level) ||
         std::any_of(by_number_.begin(), by_number_.end(), [&](const Group& group) {
           return holds(group.places, known.id, known.level);
         });
}

bool RegisterLayout::decode(std::string_view hex, const Place& place, arch::Registers& registers) {
  std::array<std::byte, 8> bytes{};
  if (decode_hex(hex, std::span(bytes).first(place.size)) != place.size) return false;
  const auto value = load<std::uint64_t>(bytes);
  registers.set(place.known.id, value);
  return true;
}

void RegisterLayout::decode_g(std::string_view hex, arch::Registers& registers) const {
  for (const Place& place : in_g_) {
    const std::size_t at = std::size_t{2} * place.offset;
    if (at + std::size_t{2} * place.size <= hex.size())
      (void)decode(hex.substr(at), place, registers);
  }
}

bool RegisterLayout::translates_otherwise(std::string_view hex) const {
  std::array<std::byte, 8> bytes{};
  if (decode_hex(hex, bytes) != bytes.size()) return true;
  const auto value = load<std::uint64_t>(bytes);
  return (value & other_translation_of(arch_).mask) != 0;
}

bool RegisterLayout::is_wanted(AskedFor when, std::size_t n,
                               const arch::Registers& registers) const {
  return group(when).places[n].known.is_of(arch::running_level(arch_, registers));
}

void RegisterLayout::decode_p(AskedFor when, std::size_t n, std::string_view hex,
                              arch::Registers& registers) const {
  if (is_wanted(when, n, registers)) (void)decode(hex, group(when).places[n], registers);
}

}  // namespace ringside::engines::gdb
