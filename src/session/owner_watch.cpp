#include "session/owner_watch.h"

namespace ringside::session {
namespace {

// What could not be read now may be read at the next tick.
bool may_pass(const Error& error) {
  return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kDisturbed ||
         error.code == ErrorCode::kUnsupported;
}

void add_user_stack(const guestos::Owner& owner, wire::Capture& capture) {
  if (owner.user_stack_is_others)
    std::erase_if(capture.pieces, [](const wire::MemoryPiece& piece) {
      return piece.why == wire::PieceKind::kUserStack;
    });
  if (owner.user_stack.empty() || !owner.user) return;
  const auto size = static_cast<std::uint32_t>(owner.user_stack.size());
  capture.pieces.push_back({.address = {owner.user->get(wire::roles_of(capture.arch).sp)},
                            .why = wire::PieceKind::kUserStack,
                            .requested = size,
                            .offset = static_cast<std::uint32_t>(capture.bytes.size()),
                            .size = size});
  capture.bytes.insert(capture.bytes.end(), owner.user_stack.begin(), owner.user_stack.end());
}

}  // namespace

Result<void> OwnerWatch::look_for_kernel(const engines::Tick& tick, const KernelWatch& watch) {
  const FoundKernel* const kernel = watch.kernel();
  if (kernel == nullptr || adapter_ == &watch.adapter()) return {};
  for (const wire::Capture& capture : tick.captures) {
    if (capture.level != PrivilegeLevel::kKernel) continue;
    const GuestVirt pc{capture.registers.get(wire::roles_of(capture.arch).pc)};
    if (!kernel->image.file->is_code(kernel->image.to_image(pc))) continue;
    RINGSIDE_TRY(view_.adopt(capture, watch.adapter().page_table_root()));
    adapter_ = &watch.adapter();
    break;
  }
  return {};
}

Result<Owners> OwnerWatch::look(engines::Tick& tick, KernelWatch& watch) {
  Owners owners;
  owners.by_capture.resize(tick.captures.size());
  if (auto found = look_for_kernel(tick, watch); !found && !may_pass(found.error()))
    return tl::unexpected(found.error());
  view_.forget();
  for (std::size_t i = 0; i < tick.captures.size(); ++i) {
    if (tick.captures[i].disposition != wire::Disposition::kSampled) continue;
    auto owner = watch.adapter().owner_of(tick.captures[i], view_, owners.news);
    if (owner) {
      add_user_stack(*owner, tick.captures[i]);
      owners.by_capture[i] = std::move(*owner);
    } else if (!may_pass(owner.error())) {
      return tl::unexpected(owner.error());
    }
  }
  return owners;
}

}  // namespace ringside::session
