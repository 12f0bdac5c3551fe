#include "guestos/emerald/saved_registers.h"

#include <array>

#include "guestos/emerald/metadata.h"

namespace ringside::guestos::emerald {
namespace {

using namespace arch::x86_64;

constexpr std::array<std::uint8_t, kSavedRegistersSize / 8> kOrder = {
    kR15, kR14, kR13, kR12, kRbp, kRbx, kR11, kR10,    kR9,  kR8,
    kRax, kRcx, kRdx, kRsi, kRdi, kRip, kCs,  kRflags, kRsp, kSs};
constexpr std::uint64_t kRspOffset = 18 * 8;
constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 47;
constexpr std::uint64_t kUserLevel = 3;  // of cs

constexpr std::uint8_t kind(wire::PieceKind piece) { return static_cast<std::uint8_t>(piece); }

}  // namespace

std::vector<wire::RecipeOp> process_recipe() {
  using enum wire::RecipeOpcode;
  enum Slot : std::uint8_t { kPage, kSaved, kLevel, kUserSp };
  // The jumps are over what is left.
  return {
      {kSet, kPage, 0, 0, 0, kMetadataPage.value},
      {kCopy, 0, kPage, kind(wire::PieceKind::kSystem), 0, kMetadataSize},
      {kRegister, kLevel, kCs, 0, 9, 0},
      {kMask, kLevel, kLevel, 0, 0, kUserLevel},
      {kSkipIfNotEqual, 0, kLevel, 0, 7, 0},
      {kLoad, kSaved, kPage, 8, 6, kUserRegistersField},
      {kSkipIfLess, 0, kSaved, 0, 5, kUpperHalf},
      {kCopy, 0, kSaved, kind(wire::PieceKind::kSystem), 0, kSavedRegistersSize},
      {kLoad, kUserSp, kSaved, 8, 3, kRspOffset},
      {kSkipIfNotLess, 0, kUserSp, 0, 2, kUpperHalf},
      {kSkipIfEqual, 0, kUserSp, 0, 1, 0},
      {kCopyStack, 0, kUserSp, kind(wire::PieceKind::kUserStack), 0, 0},
  };
}

std::optional<arch::Registers> saved_registers(const wire::Capture& capture, GuestVirt at) {
  if (at.value < kUpperHalf || !capture.registers.has(kRsp)) return std::nullopt;
  const std::uint64_t sp = capture.registers.get(kRsp);
  const bool on_user_stack = sp < kUpperHalf;
  const bool half_way = sp - at.value - 1 < kSavedRegistersSize;
  if (on_user_stack || half_way) return std::nullopt;
  arch::Registers user;
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    const auto value = capture.read<std::uint64_t>(at + 8 * i);
    if (!value) return std::nullopt;
    user.set(kOrder[i], *value);
  }
  const bool is_users = (user.get(kCs) & kUserLevel) == kUserLevel && user.get(kRip) < kUpperHalf &&
                        user.get(kRsp) < kUpperHalf;
  if (!is_users) return std::nullopt;
  return user;
}

}  // namespace ringside::guestos::emerald
