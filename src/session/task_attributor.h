#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "engines/engine.h"
#include "guestos/adapter.h"
#include "session/guest_view.h"
#include "session/kernel/kernel_watch.h"
#include "wire/guest_record.h"

namespace ringside::session {

// The attributions of a tick, and what was found out about processes on the way.
struct TaskAttributions {
  std::vector<guestos::TaskAttribution> by_capture;  // in the order of the tick's
  guestos::ProcessUpdates updates;
};

// Has the guest-OS adapter attribute each capture to a task. Belongs to the thread that samples,
// which owns the engine.
class TaskAttributor {
 public:
  explicit TaskAttributor(engines::Engine& engine) : engine_(&engine), view_(engine) {}

  // The guest has booted again: page tables and names are others'.
  void start_over();

  // Adds user stacks that were read later to the captures. Errors: those of the engine that will
  // not pass.
  [[nodiscard]] Result<TaskAttributions> poll(engines::Tick& tick, KernelWatch& watch);
  // One sentence for people where user code has no process although the kernel's code has; empty
  // where all is well.
  [[nodiscard]] std::string explain() const;

 private:
  [[nodiscard]] Result<void> probe_kernel(const engines::Tick& tick, const KernelWatch& watch);
  [[nodiscard]] Result<guestos::TaskAttribution> attribute(const wire::Capture& capture,
                                                           guestos::Adapter& adapter,
                                                           guestos::ProcessUpdates& updates);
  void adopt_task(const wire::GuestTask& task, std::size_t names_before,
                  guestos::TaskAttribution& attribution, guestos::ProcessUpdates& updates);
  void name_task(const wire::GuestTask& task, std::uint64_t address_space, std::string cgroup,
                 guestos::ProcessUpdates& updates);
  void count(const wire::Capture& capture, const guestos::TaskAttribution& attribution);

  engines::Engine* engine_;
  GuestView view_;
  bool is_settled_ = false;  // view_ knows the kernel's page tables
  // Before that; by the time of captures.
  std::uint64_t next_try_ns_ = 0;
  std::uint64_t patience_ns_ = kTryAgainAfterNs;
  std::uint64_t nobodys_user_code_ = 0;  // captures
  bool has_processes_ = false;           // some capture in kernel mode has
  bool has_kernel_ = false;              // whose page tables could be known

  static constexpr std::uint64_t kTryAgainAfterNs = 20'000'000;

  struct Name {
    std::string name;
    std::string cgroup;  // as the adapter has found it
  };
  // Names that the guest has given to tasks itself, by pid and tid.
  static constexpr std::size_t kMostNames = 1 << 16;
  std::unordered_map<std::uint64_t, Name> names_;
};

}  // namespace ringside::session
