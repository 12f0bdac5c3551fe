#include <utility>

#include "base/clock.h"
#include "engines/gdb/protocol/packet.h"
#include "engines/gdb/protocol/stub.h"

// How Stub leaves a guest alone that is being migrated.
namespace ringside::engines::gdb {

Batch migration_questions() {
  Batch batch;
  batch.add(monitor_request("info status"));
  batch.add(monitor_request("info migrate"));
  return batch;
}

bool Stub::leaves_guest_alone() const {
  return watch_.left_standing() || watch_.is_under_way() || watch_.migration() == Migration::kMoved;
}

// Where the guest stands already, a question disturbs nothing.
bool Stub::asks_at_stop() {
  const bool has_reason = watch_.asks_at_stop();
  return traits_.qemu && (has_reason || state_ == StopState::kPaused);
}

bool Stub::asks_before_continue() { return traits_.qemu && watch_.asks_before_continue(); }

Result<void> Stub::may_be_stopped() {
  const bool runs_alone = watch_.is_under_way() && !watch_.left_standing();
  if (!runs_alone || watch_.may_have_ended(monotonic_ns())) return {};
  return fail_for(watch_.migration(), false);
}

// After a stop that has asked: takes the answers out of its replies. An error where the guest ran,
// or stood for us.
Result<void> Stub::settle(Stopped& stopped) {
  const auto questions = static_cast<std::ptrdiff_t>(migration_questions().size());
  stopped.replies.erase(stopped.replies.begin(), stopped.replies.begin() + questions);
  note_migration(migration_in(std::exchange(console_, {})));
  const bool was_left = watch_.left_standing();
  watch_.set_left_standing(false);
  if (!stopped.ours && !was_left) return {};  // its user has stopped it, or the migration
  const Migration migration = watch_.migration();
  if (migration == Migration::kUnderWay) {
    continue_by_monitor();
  } else if (leaves_guest_alone()) {
    leave_standing();
  } else {
    if (!stopped.ours) take(StopEvent::kFoundRunning);
    stopped.ours = true;
    held_time_.begin(stopped.stopped_ns);
    return {};
  }
  return fail_for(migration, watch_.left_standing());
}

void Stub::note_migration(Migration migration) {
  watch_.answered(migration, monotonic_ns());
  if (watch_.is_under_way() && state_ == StopState::kRunning) take(StopEvent::kMigrates);
}

// False: the guest is left to its migration. Where answers are outstanding, which may come after
// its end, nothing is sent, except at the first time: there is no sign of a migration then.
Result<bool> Stub::may_continue() {
  if (outstanding_ > 0) {
    if (!watch_.has_answer()) return true;
    leave_standing();
    return false;
  }
  console_.clear();
  const auto replies = ask(migration_questions(), before_batch(), {}, nullptr);
  if (!replies) {
    if (!watch_.has_answer() && state_ == StopState::kHeld) return true;
    leave_standing();
    return tl::unexpected<Error>(replies.error());
  }
  note_migration(migration_in(std::exchange(console_, {})));
  if (!leaves_guest_alone()) return true;
  if (watch_.migration() == Migration::kUnderWay)
    continue_by_monitor();
  else
    leave_standing();
  return false;
}

// By `cont`, which QEMU refuses once it has stopped the guest to send what is left; after a `c` it
// would end itself.
void Stub::continue_by_monitor() {
  Batch batch;
  batch.add(monitor_request("cont"));
  console_.clear();
  const auto replies = ask(batch, before_batch(), {}, nullptr);
  if (!replies || !console_.empty()) return leave_standing();
  if (state_ == StopState::kHeld) take(StopEvent::kContinueSent);
  take(StopEvent::kMigrates);
}

// A new thread was the only reason to leave the guest standing, perhaps. Where QEMU does not answer
// either, the guest is held as before.
void Stub::settle_at_end(std::chrono::milliseconds timeout) {
  patience_ = Patience{timeout};
  Batch nothing;
  nothing.add("qAttached");
  const auto stopped = stop(nothing);
  if (stopped && stopped->ours) (void)resume();
  if (!stopped && !is_of_migration(stopped.error()) && state_ == StopState::kPaused)
    take(StopEvent::kFoundRunning);
}

void Stub::leave_standing() {
  if (state_ == StopState::kBrokenOff) let_go();
  if (has_ended()) return;
  watch_.set_left_standing(true);
  take(StopEvent::kMigrates);
}

}  // namespace ringside::engines::gdb
