#include "session/task_attributor.h"

#include <algorithm>
#include <limits>

#include "arch/arch_info.h"
#include "engines/migration_watch.h"
#include "wire/guest_capture.h"
#include "wire/walked_frames.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kLongestRestNs = 4'000'000'000;

// Whether a read that failed now may succeed at the next tick.
bool may_pass(const Error& error) {
  return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kDisturbed ||
         error.code == ErrorCode::kUnsupported || engines::is_of_migration(error);
}

// The kernel's page tables are in use, or can be found from those in use: on aarch64 wherever the
// pc is in the upper half, in the trampoline too.
bool has_kernel_tables(const wire::Capture& capture, const elf::Image& kernel) {
  if (capture.level != PrivilegeLevel::kKernel) return false;
  const GuestVirt pc{capture.registers.get(arch::roles_of(capture.arch).pc)};
  const bool is_upper_half = capture.arch == Arch::kAArch64 && pc.value >> 63 != 0;
  return is_upper_half || kernel.file->is_code(kernel.to_image(pc));
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

void TaskAttributor::start_over() {
  view_ = GuestView(*engine_);
  is_settled_ = false;
  next_try_ns_ = 0;
  patience_ns_ = kTryAgainAfterNs;
  names_.clear();
}

// On aarch64 the kernel's tables are asked of a vCPU, which does not answer while all are idle, or
// while the host runs none; and a kernel that starts has others at first.
Result<void> TaskAttributor::probe_kernel(const engines::Tick& tick, const KernelWatch& watch) {
  const FoundKernel* const kernel = watch.kernel();
  if (kernel == nullptr || is_settled_) return {};
  for (const wire::Capture& capture : tick.captures) {
    if (capture.host_time_ns < next_try_ns_ || !has_kernel_tables(capture, kernel->image)) continue;
    next_try_ns_ = capture.host_time_ns + patience_ns_;
    patience_ns_ = std::min(2 * patience_ns_, kLongestRestNs);
    RINGSIDE_ASSIGN(is_settled_, view_.adopt(capture, watch.adapter().page_table_root()));
    break;
  }
  return {};
}

// The guest has noted the task at the moment of the sample; its memory says who runs now. Names
// that the adapter has found on the way are the task's, too, except where it has one.
void TaskAttributor::adopt_task(const wire::GuestTask& task, std::size_t names_before,
                                guestos::TaskAttribution& attribution,
                                guestos::ProcessUpdates& updates) {
  std::vector<guestos::ThreadNameUpdate>& names = updates.names;
  std::string cgroup;
  for (std::size_t n = names_before; n < names.size(); ++n) {
    names[n].pid = task.pid;
    names[n].tid = task.tid;
    if (!names[n].cgroup.empty()) cgroup = names[n].cgroup;
  }
  attribution.pid = task.pid;
  attribution.tid = task.tid;
  if (!task.name.empty())
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(names_before), names.end());
  name_task(task, attribution.address_space, std::move(cgroup), updates);
}

// Writes a name down where it is new, with the control group where that was found.
void TaskAttributor::name_task(const wire::GuestTask& task, std::uint64_t address_space,
                               std::string cgroup, guestos::ProcessUpdates& updates) {
  if (task.name.empty()) return;
  if (names_.size() >= kMostNames) names_.clear();
  Name& known = names_[std::uint64_t{task.pid} << 32 | task.tid];
  const bool is_idle = task.pid == 0 && task.tid == 0;  // each CPU has one of its own name
  if (is_idle && !known.name.empty()) return;
  if (known.name == task.name && (cgroup.empty() || known.cgroup == cgroup)) return;
  known.name = task.name;
  if (!cgroup.empty()) known.cgroup = std::move(cgroup);
  updates.names.push_back({task.pid, task.tid, address_space, known.name, known.cgroup});
}

// A guest that walks its stacks itself says which address space was in use: where it says none, the
// capture's registers are of some other moment.
Result<guestos::TaskAttribution> TaskAttributor::attribute(const wire::Capture& capture,
                                                           guestos::Adapter& adapter,
                                                           guestos::ProcessUpdates& updates) {
  const auto task = wire::task_of(capture);
  const bool is_walked = wire::is_walked(capture);
  const std::size_t names_before = updates.names.size();
  guestos::TaskAttribution attribution;
  if (!is_walked || (task && task->address_space != 0)) {
    RINGSIDE_ASSIGN(attribution, adapter.attribute(capture, view_, updates));
  }
  if (task) adopt_task(*task, names_before, attribution, updates);
  return attribution;
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
  // Names of events come before those of samples that are later.
  auto event = tick.events.begin();
  const auto name_until = [&](std::uint64_t time_ns) {
    for (; event != tick.events.end() && event->host_time_ns <= time_ns; ++event)
      if (const auto record = wire::read_guest_record(event->words))
        name_task(record->task, 0, {}, attributions.updates);
  };
  for (std::size_t i = 0; i < tick.captures.size(); ++i) {
    name_until(tick.captures[i].host_time_ns);
    if (tick.captures[i].disposition != wire::Disposition::kSampled) continue;
    auto attribution = attribute(tick.captures[i], watch.adapter(), attributions.updates);
    if (attribution) {
      count(tick.captures[i], *attribution);
      add_user_stack(*attribution, tick.captures[i]);
      attributions.by_capture[i] = std::move(*attribution);
    } else if (!may_pass(attribution.error())) {
      return tl::unexpected(attribution.error());
    }
  }
  name_until(std::numeric_limits<std::uint64_t>::max());
  return attributions;
}

}  // namespace ringside::session
