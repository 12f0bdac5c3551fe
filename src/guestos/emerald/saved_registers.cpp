#include "guestos/emerald/saved_registers.h"

#include <array>

#include "guestos/emerald/metadata.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos::emerald {
namespace {

using namespace arch::x86_64;

constexpr std::array<std::uint8_t, kSavedRegistersSize / 8> kOrder = {
    kR15, kR14, kR13, kR12, kRbp, kRbx, kR11, kR10,    kR9,  kR8,
    kRax, kRcx, kRdx, kRsi, kRdi, kRip, kCs,  kRflags, kRsp, kSs};
constexpr std::uint64_t kRspOffset = 18 * 8;
constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 47;
constexpr std::uint64_t kUserLevel = 3;  // of cs

}  // namespace

void copy_process(wire::RecipeBuilder& recipe) {
  using enum wire::PieceKind;
  const auto page = recipe.slot();
  const auto saved = recipe.slot();
  const auto user_sp = recipe.slot();
  const auto end = recipe.recipe_end();
  recipe.set(page, kMetadataPage.value);
  recipe.copy({page}, kMetadataSize, kSystem, kMetadataTag);
  go_if_user(recipe, Arch::kX86_64, end);
  recipe.load(saved, {page, kUserRegistersField}, 8, end);
  recipe.go_if_less(saved, kUpperHalf, end);
  recipe.copy({saved}, kSavedRegistersSize, kSystem);
  recipe.load(user_sp, {saved, kRspOffset}, 8, end);
  recipe.go_if_not_less(user_sp, kUpperHalf, end);
  recipe.go_if_equal(user_sp, 0, end);
  recipe.copy_stack(user_sp, kUserStack);
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
