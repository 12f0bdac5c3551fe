#include "engines/qmp/guest_hold.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"

namespace ringside::engines::qmp {
namespace {

// QEMU carries out one request of each monitor in turn. A stop by the guest's user that waits
// beside ours runs after our first request; so the second answer has it.
constexpr std::ptrdiff_t kQuestions = 2;

}  // namespace

GuestHold::~GuestHold() {
  if (!holds_) return;
  const auto is_sent = [this] { return is_being_sent().value_or(false); };
  if (watch_->asks_before_continue() && is_sent()) {
    leave_standing();
  } else if (monitor_->let_run()) {
    if (watch_->is_under_way() && is_sent())
      leave_standing();
    else
      has_gone_on();
  }
}

// By QEMU's events the guest stood still for longer: an answer waits until we get a processor.
void GuestHold::has_gone_on() {
  const bool by_events = monitor_->resumes() != resumes_before_ && monitor_->last_stop_ns() != 0;
  const std::uint64_t now = monotonic_ns();
  // Real time may be set meanwhile.
  pause_ns_ = by_events ? std::min(monitor_->last_stop_ns(), now - asked_ns_) : now - began_ns_;
  held_time_->end_after(pause_ns_);
  holds_ = false;
  set_state(GuestState::kRunning);
}

// QEMU has stopped the guest itself meanwhile, or would have.
Result<bool> GuestHold::is_being_sent() {
  RINGSIDE_ASSIGN(const Migration migration, monitor_->migration());
  watch_->answered(migration, monotonic_ns());
  return migration == Migration::kFinishing || migration == Migration::kMoved;
}

void GuestHold::leave_standing() {
  holds_ = false;
  held_time_->end(monotonic_ns());
  watch_->set_left_standing(true);
  set_state(GuestState::kPaused);
}

Result<void> GuestHold::let_run_if_here() {
  RINGSIDE_ASSIGN(const bool is_sent, is_being_sent());
  if (is_sent) {
    leave_standing();
    return {};
  }
  const auto went_on = monitor_->execute("cont", {});
  if (!went_on) return tl::unexpected<Error>(settle_refusal(went_on.error()));
  has_gone_on();
  return {};
}

// QEMU refuses `cont` while it sends what is left.
Error GuestHold::settle_refusal(const Error& error) {
  if (error.code != ErrorCode::kUnsupported) return error;
  const auto is_sent = is_being_sent();
  if (!is_sent) return is_sent.error();
  if (!*is_sent) return error;
  leave_standing();
  return fail_for(Migration::kFinishing, true).value();
}

void GuestHold::set_state(GuestState state) {
  if (guardian_ != nullptr) guardian_->set_state(state);
}

Result<std::vector<nlohmann::json>> GuestHold::begin(const Requests& requests) {
  if (!stops_) {
    Monitor::Moment first;
    auto answers = monitor_->exchange(requests, &first);
    began_ns_ = first.answered_ns;
    return answers;
  }
  Requests all;
  for (std::size_t i = 0; i < kQuestions; ++i) all.add("query-status");
  all.add("stop");
  all.append(requests);
  holds_ = true;  // from the first byte on
  set_state(GuestState::kOurs);
  resumes_before_ = monitor_->resumes();
  asked_ns_ = began_ns_ = monotonic_ns();
  held_time_->begin(began_ns_);
  Monitor::Moment stop{.of = kQuestions};
  RINGSIDE_ASSIGN(auto answers, monitor_->exchange(all, &stop));
  began_ns_ = stop.answered_ns;
  held_time_->begin(began_ns_);
  const nlohmann::json& status = answers[kQuestions - 1];
  const bool was_paused = status.is_object() && status.value("status", "") != "running";
  found_paused_ = was_paused && !stop.resumed_before;
  if (found_paused_) {
    holds_ = false;
    held_time_->cancel();
    set_state(GuestState::kPaused);
  }
  answers.erase(answers.begin(), answers.begin() + kQuestions + 1);
  return answers;
}

Result<std::vector<nlohmann::json>> GuestHold::end(const Requests& requests) {
  if (!stops_ || found_paused_) return monitor_->exchange(requests);
  if (watch_->asks_before_continue()) {
    RINGSIDE_ASSIGN(auto answers, monitor_->exchange(requests));
    RINGSIDE_TRY(let_run_if_here());
    return answers;
  }
  Requests all;
  all.append(requests);
  all.add("cont");
  auto answers = monitor_->exchange(all);
  if (!answers) return tl::unexpected<Error>(settle_refusal(answers.error()));
  has_gone_on();
  answers->pop_back();
  return answers;
}

}  // namespace ringside::engines::qmp
