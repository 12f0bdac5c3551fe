#pragma once

#include <vector>

#include "engines/engine.h"
#include "guestos/adapter.h"
#include "session/guest_view.h"
#include "session/kernel_watch.h"

namespace ringside::session {

// Whose time the captures of a tick are, and what was found out about processes on the way.
struct Owners {
  std::vector<guestos::Owner> by_capture;  // in the order of the tick's
  guestos::ProcessNews news;
};

// Asks the guest-OS adapter whose time each capture is. Belongs to the thread that samples, which
// owns the engine.
class OwnerWatch {
 public:
  explicit OwnerWatch(engines::Engine& engine) : view_(engine) {}

  // Adds user stacks that were read later to the captures. Errors: those of the engine that will
  // not pass.
  [[nodiscard]] Result<Owners> look(engines::Tick& tick, KernelWatch& watch);

 private:
  [[nodiscard]] Result<void> look_for_kernel(const engines::Tick& tick, const KernelWatch& watch);

  GuestView view_;
  const guestos::Adapter* adapter_ = nullptr;  // that view_ knows the kernel of
};

}  // namespace ringside::session
