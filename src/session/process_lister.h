#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "guestos/process_source.h"
#include "session/guest_view.h"
#include "session/kernel/kernel_watch.h"

namespace ringside::session {

// Reads the list of processes from a guest that runs. Belongs to the thread that owns the engine.
class ProcessLister {
 public:
  ProcessLister(engines::Engine& engine, KernelRequest request)
      : engine_(&engine), watch_(std::move(request), engine.arch()), view_(engine) {}
  ~ProcessLister();

  // One try. Nothing if the kernel has not been found yet, no vCPU ran it, or what was read did not
  // fit together; explain() says which. Errors: those of the engine that will not pass, and
  // kUnsupported or kNotFound for a kernel that does not say how it keeps its processes.
  [[nodiscard]] Result<std::optional<guestos::ProcessList>> poll();
  [[nodiscard]] std::string explain() const { return why_; }

  // guestos::ProcessSource's, of what poll() has found. Errors: those of the engine.
  [[nodiscard]] Result<std::string> arguments(const guestos::GuestThread& thread);
  [[nodiscard]] Result<guestos::UserNames> user_names(const guestos::ProcessList& list);

 private:
  [[nodiscard]] Result<const wire::Capture*> find_kernel(engines::Tick& tick);
  [[nodiscard]] Result<engines::Tick> tick();
  [[nodiscard]] Result<guestos::ProcessList> read(const wire::Capture& running);

  engines::Engine* engine_;
  KernelWatch watch_;
  GuestView view_;
  std::unique_ptr<guestos::ProcessSource> source_;  // once the kernel was found
  bool started_ = false;                            // an engine that paces itself
  static constexpr const char* kNotSeen = "no vCPU was seen in the kernel";
  std::string why_ = kNotSeen;
};

}  // namespace ringside::session
