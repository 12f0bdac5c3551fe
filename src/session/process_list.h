#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "guestos/linux/files/path_lookup.h"
#include "guestos/linux/tasks/clock.h"
#include "guestos/linux/tasks/process_table.h"
#include "guestos/linux/tasks/user_names.h"
#include "session/guest_view.h"
#include "session/kernel/kernel_watch.h"

namespace ringside::session {

// The processes of a Linux guest at one moment.
struct ProcessList {
  std::vector<guestos::LinuxThread> threads;  // by process and thread id
  std::optional<guestos::LinuxClock> clock;
  std::optional<std::uint64_t> memory_bytes;  // of the guest
};

// Reads the list of processes from a guest that runs. Belongs to the thread that owns the engine.
class ProcessLister {
 public:
  ProcessLister(engines::Engine& engine, KernelRequest request)
      : engine_(&engine),
        debug_files_(request.system.debug_files),
        watch_(std::move(request), engine.arch()),
        view_(engine) {}
  ~ProcessLister();

  // One try. Nothing if the kernel has not been found yet, no vCPU ran it, or what was read did not
  // fit together; explain() says which. Errors: those of the engine that will not pass, and
  // kUnsupported or kNotFound for a kernel that does not say how it keeps its processes.
  [[nodiscard]] Result<std::optional<ProcessList>> poll();
  [[nodiscard]] std::string explain() const { return why_; }

  // The command line of a thread that poll() has found, its arguments separated by blanks; at most
  // 4 KiB. Empty where it has none, or it is not in memory. Errors: those of the engine.
  [[nodiscard]] Result<std::string> arguments(const guestos::LinuxThread& thread);

  // The users of the /etc/passwd that process 1 of the list sees. Empty unless all of the file is
  // in the guest's page cache. Errors: those of the engine.
  [[nodiscard]] Result<guestos::UserNames> user_names(const ProcessList& list);

 private:
  struct Layout {
    guestos::LinuxTypes types;
    guestos::ProcessFields fields;
    std::optional<guestos::ClockFields> clock;
    std::optional<guestos::PathLookupFields> paths;
  };
  [[nodiscard]] Result<const wire::Capture*> find_kernel(engines::Tick& tick);
  [[nodiscard]] Result<engines::Tick> tick();
  [[nodiscard]] Result<std::optional<ProcessList>> read(const wire::Capture& running);
  [[nodiscard]] Result<guestos::UserNames> read_passwd(GuestVirt task);

  engines::Engine* engine_;
  symbols::DebugFileOptions debug_files_;
  KernelWatch watch_;
  GuestView view_;
  std::optional<Layout> layout_;
  bool started_ = false;  // an engine that paces itself
  std::string why_ = "no vCPU was seen in the kernel";
};

}  // namespace ringside::session
