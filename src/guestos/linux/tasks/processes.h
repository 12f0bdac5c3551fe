#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "guestos/guest_memory.h"
#include "guestos/linux/tasks/address_spaces.h"
#include "guestos/linux/tasks/cgroups.h"
#include "guestos/linux/tasks/current_task.h"
#include "guestos/linux/tasks/user_roots.h"
#include "guestos/process_updates.h"

namespace ringside::guestos {

// The processes of a Linux guest, as captures show them.
class LinuxProcesses {
 public:
  // Error kNotFound where the kernel does not say how it keeps its tasks. `kernel` must outlive it.
  [[nodiscard]] static Result<LinuxProcesses> of(const elf::Image& kernel,
                                                 const AdapterOptions& options);

  // Adapter::prepare() of one CPU.
  [[nodiscard]] Result<bool> find_cpu(std::size_t cpu, const PerCpu& per_cpu,
                                      VirtualMemory& memory) {
    return current_.find(cpu, per_cpu, memory);
  }
  // As CurrentTask has it.
  void copy_task(wire::RecipeBuilder& recipe, VcpuId vcpu, bool hooked_returns) const {
    current_.copy(recipe, vcpu, hooked_returns);
  }
  [[nodiscard]] const LinuxTypes& types() const { return current_.types(); }
  // As Adapter has it.
  [[nodiscard]] Result<TaskAttribution> attribute(const wire::Capture& capture, GuestMemory& memory,
                                                  ProcessUpdates& updates);
  // As Adapter has it.
  [[nodiscard]] std::string caveat() const { return spaces_.caveat(); }

 private:
  struct Name {
    std::uint32_t pid = 0;
    std::string comm;
    std::string cgroup;
    bool operator==(const Name&) const = default;
  };
  struct Reported {
    Name name;
    GuestVirt cgroups;                 // struct css_set
    std::uint64_t cgroup_read_ns = 0;  // as capture.host_time_ns; 0: never
  };

  LinuxProcesses(CurrentTask current, LinuxAddressSpaces spaces, std::optional<UserRoots> roots,
                 std::optional<Cgroups> cgroups)
      : current_(std::move(current)),
        spaces_(std::move(spaces)),
        roots_(std::move(roots)),
        cgroups_(cgroups) {}
  // As the capture has it; where it was not copied, as it is now.
  [[nodiscard]] Result<std::optional<TaskView>> task_of(const wire::Capture& capture,
                                                        GuestMemory& memory);
  // The same by the kernel's register, in kernel mode.
  [[nodiscard]] Result<std::optional<TaskView>> task_in(GuestVirt named,
                                                        const wire::Capture& capture,
                                                        GuestMemory& memory);
  // Whose code a sample is that the guest has noted, where its memory does not say so any more: the
  // process has ended since.
  [[nodiscard]] TaskAttribution remembered(const wire::Capture& capture) const;
  void remember(const wire::Capture& capture, std::uint64_t address_space);
  // How the page tables of a task are walked is found out at the first one. True if it is now.
  [[nodiscard]] Result<bool> find_user_tables(const TaskView& task, GuestMemory& memory);
  // Reads a task's user stack now, where it was not copied with the capture, or by page tables that
  // were not the task's (`is_own`). Empty where the task has run since.
  [[nodiscard]] Result<std::vector<std::byte>> user_stack(const TaskView& task, bool is_own,
                                                          const wire::Capture& capture,
                                                          GuestMemory& memory) const;
  [[nodiscard]] Result<bool> uses_tables_of(const TaskView& task, const wire::Capture& capture,
                                            GuestMemory& memory) const;
  [[nodiscard]] Result<void> report_name(const TaskView& task, const wire::Capture& capture,
                                         GuestMemory& memory, ProcessUpdates& updates);
  // Into `reported`; what cannot be read now stays as it was.
  [[nodiscard]] Result<void> read_cgroup(const TaskView& task, const wire::Capture& capture,
                                         GuestMemory& memory, Reported& reported) const;

  CurrentTask current_;
  LinuxAddressSpaces spaces_;
  std::optional<UserRoots> roots_;
  std::optional<Cgroups> cgroups_;
  std::unordered_map<std::uint32_t, Reported> reported_;  // by thread
  // Address spaces by the pid and root that the guest has noted.
  std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> noted_;
};

}  // namespace ringside::guestos
