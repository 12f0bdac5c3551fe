#include "engines/qmp/guest_hold.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace ringside::engines::qmp {

GuestHold::~GuestHold() {
  if (!holds_ || !monitor_->let_run()) return;
  set_state(GuestState::kRunning);
}

void GuestHold::set_state(GuestState state) {
  if (guardian_ != nullptr) guardian_->set_state(state);
}

void GuestHold::stay_if_tested() const {
  if (test_ == gdb::HoldPoint::kHalfPacket) monitor_->send_half_a_request();
  if (test_ == gdb::HoldPoint::kHalfPacket || test_ == gdb::HoldPoint::kStopped)
    gdb::hold_for_ever(test_);
}

Result<std::vector<nlohmann::json>> GuestHold::begin(const Requests& requests) {
  if (test_ == gdb::HoldPoint::kRunning) gdb::hold_for_ever(test_);
  if (!stops_) return monitor_->exchange(requests, &began_ns_);
  Requests all;
  all.add("query-status");
  all.add("stop");
  all.append(requests);
  holds_ = true;  // from the first byte on
  set_state(GuestState::kOurs);
  RINGSIDE_ASSIGN(auto answers, monitor_->exchange(all, &began_ns_, 1));
  found_paused_ = answers[0].is_object() && answers[0].value("status", "") != "running";
  if (found_paused_) {
    holds_ = false;
    set_state(GuestState::kPaused);
  }
  answers.erase(answers.begin(), answers.begin() + 2);
  stay_if_tested();
  return answers;
}

Result<std::vector<nlohmann::json>> GuestHold::end(const Requests& requests) {
  if (!stops_ || found_paused_) return monitor_->exchange(requests);
  Requests all;
  all.append(requests);
  all.add("cont");
  RINGSIDE_ASSIGN(auto answers, monitor_->exchange(all));
  pause_ns_ = monotonic_ns() - began_ns_;
  holds_ = false;
  set_state(GuestState::kRunning);
  answers.pop_back();
  return answers;
}

}  // namespace ringside::engines::qmp
