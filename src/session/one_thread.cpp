#include "session/one_thread.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::session {
namespace {

bool is_kernel_stack(const wire::MemoryPiece& piece) {
  return piece.size != 0 && (piece.why == wire::PieceKind::kCurrentStack ||
                             piece.why == wire::PieceKind::kInterruptedStack);
}

}  // namespace

bool is_of_one_thread(const wire::Capture& capture, const guestos::TaskAttribution& attribution,
                      const std::function<arch::Registers()>& find_entered) {
  if (!attribution.user || !attribution.kernel_stack) return true;
  const auto& stack = *attribution.kernel_stack;
  const bool uses_own =
      std::any_of(capture.pieces.begin(), capture.pieces.end(), [&](const auto& piece) {
        return is_kernel_stack(piece) && piece.address < stack.start + stack.size &&
               stack.start < piece.address + piece.size;
      });
  if (uses_own) return true;
  // Stacks that only entry code uses are elsewhere, too.
  const arch::RegisterRoles roles = arch::roles_of(capture.arch);
  const arch::Registers entered = find_entered();
  const auto differs = [&](std::uint8_t reg) {
    return entered.has(reg) && attribution.user->has(reg) &&
           entered.get(reg) != attribution.user->get(reg);
  };
  return !differs(roles.pc) && !differs(roles.sp);
}

}  // namespace ringside::session
