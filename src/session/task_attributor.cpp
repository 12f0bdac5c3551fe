#include "session/task_attributor.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kLongestRestNs = 4'000'000'000;

// Whether a read that failed now may succeed at the next tick.
bool may_pass(const Error& error) {
  return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kDisturbed ||
         error.code == ErrorCode::kUnsupported;
}

void add_user_stack(const guestos::TaskAttribution& attribution, wire::Capture& capture) {
  if (attribution.user_stack_is_others)
    std::erase_if(capture.pieces, [](const wire::MemoryPiece& piece) {
      return piece.why == wire::PieceKind::kUserStack;
    });
  if (attribution.user_stack.empty() || !attribution.user) return;
  const auto size = static_cast<std::uint32_t>(attribution.user_stack.size());
  capture.pieces.push_back({.address = {attribution.user->get(arch::roles_of(capture.arch).sp)},
                            .why = wire::PieceKind::kUserStack,
                            .requested = size,
                            .offset = static_cast<std::uint32_t>(capture.bytes.size()),
                            .size = size});
  capture.bytes.insert(capture.bytes.end(), attribution.user_stack.begin(),
                       attribution.user_stack.end());
}

}  // namespace

// On aarch64 the kernel's tables are asked of a vCPU, which does not answer while all are idle, or
// while the host runs none; and a kernel that starts has others at first.
Result<void> TaskAttributor::probe_kernel(const engines::Tick& tick, const KernelWatch& watch) {
  const FoundKernel* const kernel = watch.kernel();
  if (kernel == nullptr || is_settled_) return {};
  for (const wire::Capture& capture : tick.captures) {
    if (capture.level != PrivilegeLevel::kKernel || capture.host_time_ns < next_try_ns_) continue;
    const GuestVirt pc{capture.registers.get(arch::roles_of(capture.arch).pc)};
    if (!kernel->image.file->is_code(kernel->image.to_image(pc))) continue;
    next_try_ns_ = capture.host_time_ns + patience_ns_;
    patience_ns_ = std::min(2 * patience_ns_, kLongestRestNs);
    RINGSIDE_ASSIGN(is_settled_, view_.adopt(capture, watch.adapter().page_table_root()));
    break;
  }
  return {};
}

void TaskAttributor::count(const wire::Capture& capture,
                           const guestos::TaskAttribution& attribution) {
  const bool is_nobodys = !attribution.pid && attribution.address_space == 0;
  if (capture.level == PrivilegeLevel::kUser && is_nobodys) ++nobodys_user_code_;
  if (capture.level == PrivilegeLevel::kKernel && attribution.pid) has_processes_ = true;
}

std::string TaskAttributor::explain() const {
  const bool is_well = view_.knows_page_tables() || nobodys_user_code_ == 0 || !has_processes_;
  if (is_well || !has_kernel_) return {};
  const std::string why = view_.why_not_physical().empty()
                              ? "no vCPU gave its page tables in time; record for longer"
                              : view_.why_not_physical();
  return fmt::format("{} samples of user code have no process: {}", nobodys_user_code_, why);
}

Result<TaskAttributions> TaskAttributor::poll(engines::Tick& tick, KernelWatch& watch) {
  TaskAttributions attributions;
  has_kernel_ |= watch.kernel() != nullptr;
  attributions.by_capture.resize(tick.captures.size());
  if (auto found = probe_kernel(tick, watch); !found && !may_pass(found.error()))
    return tl::unexpected(found.error());
  view_.forget();
  for (std::size_t i = 0; i < tick.captures.size(); ++i) {
    if (tick.captures[i].disposition != wire::Disposition::kSampled) continue;
    auto attribution = watch.adapter().attribute(tick.captures[i], view_, attributions.updates);
    if (attribution) {
      count(tick.captures[i], *attribution);
      add_user_stack(*attribution, tick.captures[i]);
      attributions.by_capture[i] = std::move(*attribution);
    } else if (!may_pass(attribution.error())) {
      return tl::unexpected(attribution.error());
    }
  }
  return attributions;
}

}  // namespace ringside::session
