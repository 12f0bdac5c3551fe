#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/result.h"
#include "engines/guardian.h"
#include "engines/held_time.h"
#include "engines/qmp/monitor.h"

namespace ringside::engines::qmp {

// The guest stands still while this lives, from begin() to end(). It runs again at the end of its
// life, whatever has failed, and at the end of ours, by the guardian. Without `stops` the guest
// runs on all the time. A guest that QEMU is sending elsewhere when it is to run again is left
// standing; `watch` knows that then. `held_time` counts how long the guest stood still, by QEMU's
// own STOP and RESUME events where both have come.
class GuestHold {
 public:
  GuestHold(Monitor& monitor, Guardian* guardian, bool stops, MigrationWatch& watch,
            HeldTime& held_time)
      : monitor_(&monitor),
        guardian_(guardian),
        watch_(&watch),
        held_time_(&held_time),
        stops_(stops) {}
  ~GuestHold();
  GuestHold(const GuestHold&) = delete;
  GuestHold& operator=(const GuestHold&) = delete;

  // Each returns the answers to `requests`. begin(): a stop goes before them, in the same write,
  // and before that, twice, the question whether the guest runs. end(): a continue goes behind
  // them, except where the guest's user had paused it. Error kMigrating: QEMU refuses that.
  [[nodiscard]] Result<std::vector<nlohmann::json>> begin(const Requests& requests);
  [[nodiscard]] Result<std::vector<nlohmann::json>> exchange(const Requests& requests) {
    return monitor_->exchange(requests);
  }
  [[nodiscard]] Result<std::vector<nlohmann::json>> end(const Requests& requests);

  // Whether the guest's user had paused it when it was to be stopped.
  [[nodiscard]] bool found_paused() const { return found_paused_; }
  // When the guest had stopped, or where it runs on, when the first answer had come.
  [[nodiscard]] std::uint64_t began_ns() const { return began_ns_; }
  // How long the guest stood still, by QEMU's events where they have come. 0 where it ran.
  [[nodiscard]] std::uint64_t pause_ns() const { return pause_ns_; }

 private:
  void set_state(GuestState state);
  [[nodiscard]] Result<void> let_run_if_here();
  [[nodiscard]] Result<bool> is_being_sent();
  // After the error of requests with a continue: the error to return, kMigrating where the guest is
  // being sent.
  [[nodiscard]] Error settle_refusal(const Error& error);
  void leave_standing();
  void has_gone_on();

  Monitor* monitor_;
  Guardian* guardian_;
  MigrationWatch* watch_;
  HeldTime* held_time_;
  bool stops_;
  bool holds_ = false;
  bool found_paused_ = false;
  std::uint64_t resumes_before_ = 0;
  std::uint64_t asked_ns_ = 0;
  std::uint64_t began_ns_ = 0;
  std::uint64_t pause_ns_ = 0;
};

}  // namespace ringside::engines::qmp
