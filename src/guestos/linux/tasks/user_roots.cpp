#include "guestos/linux/tasks/user_roots.h"

#include <algorithm>
#include <bit>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "base/clock.h"
#include "wire/guest_capture.h"

namespace ringside::guestos {
namespace {

// With page-table isolation x86 keeps the table that user code uses a page behind the kernel's,
// which then lies at an even page (PTI_USER_PGTABLE_BIT, arch/x86/include/asm/pgtable.h). Without
// it roots are at any page, on i386 with PAE at any 32 bytes.
constexpr std::uint64_t kUserTable = 0x1000;

// A root, and who has it where the guest has noted that: page tables are used again and again where
// processes are short. A pid has 22 bits (PID_MAX_LIMIT, include/linux/threads.h).
std::uint64_t asked_for(std::uint64_t root, const wire::Capture& capture) {
  const auto noted = wire::task_of(capture);
  return noted ? root ^ std::uint64_t{noted->pid} << 42 : root;
}

bool is_x86(Arch arch) { return arch::info_of(arch).is_x86; }
bool may_have_user_table(std::uint64_t pgd) { return pgd % (2 * kUserTable) == 0; }

}  // namespace

bool is_root_of(Arch arch, std::uint64_t root, std::uint64_t pgd) {
  return root == pgd || (is_x86(arch) && may_have_user_table(pgd) && root == pgd + kUserTable);
}

Result<std::optional<TaskView>> UserRoots::find(const wire::Capture& capture, bool is_at_user_code,
                                                std::optional<GuestVirt> running,
                                                GuestSpace& kernel) {
  const auto captured = arch::user_root(capture.arch, capture.registers);
  if (!captured || any_task_.value == 0) return std::nullopt;
  // Where addresses cannot be determined yet, that a root was not found says nothing of it.
  RINGSIDE_ASSIGN(const auto any_place, kernel.physical_address(any_task_));
  if (!any_place) return std::nullopt;
  const Who who{running, wire::task_of(capture)};
  for (const bool again : {false, true}) {
    if (again && !is_due(*captured, capture)) break;
    if (again) RINGSIDE_TRY(probe_processes(kernel));
    const auto process = process_of(*captured, is_at_user_code);
    if (process == by_root_.end()) continue;
    RINGSIDE_ASSIGN(auto task, view(process->second, process->first, who, kernel));
    if (!task) continue;
    misses_.erase(asked_for(*captured, capture));
    return task;
  }
  return std::nullopt;
}

UserRoots::ByRoot::const_iterator UserRoots::process_of(std::uint64_t root,
                                                        bool is_at_user_code) const {
  const auto found = is_at_user_code ? by_root_.find(root) : by_root_.end();
  if (found != by_root_.end() || !has_user_tables_) return found;
  return by_root_.find(root - kUserTable);
}

// A root that belonged to nobody is polled more and more seldom.
bool UserRoots::is_due(std::uint64_t root, const wire::Capture& capture) {
  if (misses_.size() >= kMaxMisses) misses_.clear();
  return std::has_single_bit(++misses_[asked_for(root, capture)]);
}

Result<void> UserRoots::probe_processes(GuestSpace& kernel) {
  by_root_.clear();
  has_user_tables_ = is_x86(types_.arch);
  guest_ns_ = 0;
  const KernelReader read(kernel, types_.arch);
  const auto threads = read_threads(types_, fields_, read, any_task_);
  if (!threads && is_of_memory(threads.error().code)) return {};
  if (!threads) return tl::unexpected(threads.error());
  read_at_ns_ = monotonic_ns();
  std::unordered_map<std::uint64_t, std::uint64_t> roots;  // by mm
  for (const GuestThread& thread : *threads) {
    guest_ns_ = std::max(guest_ns_, thread.started_ns + thread.cpu_time_ns);
    if (thread.space.value == 0) continue;
    const auto [root, added] = roots.try_emplace(thread.space.value, 0);
    if (added) {
      const auto pgd = read.pointer(thread.space + types_.mm.pgd.offset);
      if (!pgd && !is_of_memory(pgd.error().code)) return tl::unexpected(pgd.error());
      if (!pgd) continue;
      RINGSIDE_ASSIGN(const auto place, kernel.physical_address(*pgd));
      if (place) root->second = place->value;
      has_user_tables_ = has_user_tables_ && may_have_user_table(root->second);
    }
    if (root->second == 0) continue;
    Process& process = by_root_[root->second];
    process.mm = thread.space;
    process.threads.push_back({thread.task, thread.pid, thread.tid});
  }
  return {};
}

// No thread has used more time than has passed since it began, and the guest's clock is not faster
// than the host's: a thousandth is for their drift.
Result<bool> UserRoots::began_before(GuestVirt task, std::uint64_t host_time_ns,
                                     GuestSpace& kernel) const {
  const std::uint64_t passed = read_at_ns_ > host_time_ns ? read_at_ns_ - host_time_ns : 0;
  const std::uint64_t most_passed = passed + passed / 1000;
  if (guest_ns_ <= most_passed) return false;
  const Field& start = fields_.start;
  const auto object = KernelReader(kernel, types_.arch)
                          .object(task + start.offset, start.size, "struct task_struct");
  if (!object && is_of_memory(object.error().code)) return false;
  if (!object) return tl::unexpected<Error>(object.error());
  return object->number_at(0, start.size) <= guest_ns_ - most_passed;
}

// Its tid is 0 where it may be another one of its process. Page tables may be used again, so none
// is chosen where the guest has noted another process.
std::optional<UserRoots::Thread> UserRoots::choose(const Process& process, const Who& who) {
  const bool has_noted_thread = who.noted && who.noted->tid != 0;
  const auto is_it = [&](const Thread& thread) {
    return has_noted_thread ? thread.tid == who.noted->tid : thread.task == who.running;
  };
  std::optional<Thread> chosen;
  std::size_t count = 0;
  for (const Thread& thread : process.threads) {
    if (who.noted && thread.pid != who.noted->pid) continue;
    if (is_it(thread)) return thread;
    if (count++ == 0) chosen = thread;
  }
  if (chosen && (has_noted_thread || count > 1)) chosen->tid = 0;
  return chosen;
}

Result<std::optional<TaskView>> UserRoots::view(const Process& process, std::uint64_t pgd,
                                                const Who& who, GuestSpace& kernel) const {
  const auto thread = choose(process, who);
  if (!thread) return std::nullopt;
  const KernelReader read(kernel, types_.arch);
  const auto found = read_task(types_, read, thread->task);
  if (!found && is_of_memory(found.error().code)) return std::nullopt;
  if (!found) return tl::unexpected<Error>(found.error());
  TaskView view = *found;
  if (view.space[0] != process.mm.value || view.pid != thread->pid) return std::nullopt;
  RINGSIDE_ASSIGN(const auto place, kernel.physical_address({view.space[1]}));
  if (!place || place->value != pgd) return std::nullopt;
  if (view.tid != thread->tid) view.tid = 0;
  return view;
}

}  // namespace ringside::guestos
