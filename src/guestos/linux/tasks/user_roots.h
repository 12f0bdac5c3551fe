#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "guestos/guest_memory.h"
#include "guestos/linux/tasks/current_task.h"
#include "guestos/linux/tasks/process_table.h"
#include "wire/guest_record.h"

namespace ringside::guestos {

// Whether a root that user_root() gives is that of the process whose pgd lies there in physical
// memory: with page-table isolation user code has a table of its own beside the pgd.
[[nodiscard]] bool is_root_of(Arch arch, std::uint64_t root, std::uint64_t pgd);

// Which process runs user code, or comes from it or goes to it, by the root of its page tables: for
// captures that could not copy the task, because with page-table isolation the kernel is not mapped
// then. The process of a root is read from the kernel's memory after the capture, and read again
// each time.
class UserRoots {
 public:
  UserRoots(const LinuxTypes& types, const ProcessFields& fields)
      : types_(types), fields_(fields) {}

  // A task that is alive, to find the others from.
  void remember(GuestVirt task) { any_task_ = task; }
  // The same where none is known yet.
  void remember_first(GuestVirt task) {
    if (any_task_.value == 0) any_task_ = task;
  }
  // In kernel mode only the page tables of user code alone count, unless `is_at_user_code`: a
  // kernel thread runs with those of any process. Nothing where no process has these page tables,
  // or only others than the guest has noted with the capture, or the kernel's memory cannot be read
  // now. Where several threads have them it is the one that was noted, or is `running`: else
  // nothing shows it, and TaskView::tid is 0. Errors: those of `kernel`.
  [[nodiscard]] Result<std::optional<TaskView>> find(const wire::Capture& capture,
                                                     bool is_at_user_code,
                                                     std::optional<GuestVirt> running,
                                                     GuestSpace& kernel);
  // Whether a thread is proved to have begun before that time of the host (monotonic_ns()), by the
  // processes that find() has read last. A proof may be missing for one that has. Errors: those of
  // `kernel`.
  [[nodiscard]] Result<bool> began_before(GuestVirt task, std::uint64_t host_time_ns,
                                          GuestSpace& kernel) const;

 private:
  struct Thread {
    GuestVirt task;  // struct task_struct
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
  };
  // Those of one mm, as they were when they were searched for: a process, and children of vfork().
  struct Process {
    std::vector<Thread> threads;
    GuestVirt mm;
  };
  // Who ran, as far as it shows.
  struct Who {
    std::optional<GuestVirt> running;
    std::optional<wire::GuestTask> noted;
  };

  using ByRoot = std::unordered_map<std::uint64_t, Process>;  // by pgd, physical

  static constexpr std::size_t kMaxMisses = 4096;

  [[nodiscard]] bool is_due(std::uint64_t root, const wire::Capture& capture);
  [[nodiscard]] Result<void> probe_processes(GuestSpace& kernel);
  [[nodiscard]] ByRoot::const_iterator process_of(std::uint64_t root, bool is_at_user_code) const;
  [[nodiscard]] static std::optional<Thread> choose(const Process& process, const Who& who);
  [[nodiscard]] Result<std::optional<TaskView>> view(const Process& process, std::uint64_t pgd,
                                                     const Who& who, GuestSpace& kernel) const;

  LinuxTypes types_;
  ProcessFields fields_;
  GuestVirt any_task_;
  ByRoot by_root_;
  // No process has its pgd where one with a table for user code beside it could not be.
  bool has_user_tables_ = false;
  // When the processes were read, by the host's clock; and what the guest's had reached by then.
  std::uint64_t read_at_ns_ = 0;
  std::uint64_t guest_ns_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> misses_;  // by root, and who has noted it
};

}  // namespace ringside::guestos
