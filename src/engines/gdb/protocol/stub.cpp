#include "engines/gdb/protocol/stub.h"

#include <cassert>
#include <utility>

#include "base/clock.h"
#include "engines/gdb/protocol/packet.h"
#include "wire/host_wait.h"

namespace ringside::engines::gdb {
namespace {

// Stops a guest that runs, and ends a packet that was begun; see detach_sequence.h.
constexpr std::string_view kClearTheLine{"+\x03#00"};
constexpr std::string_view kLeavePhysicalMode = "Qqemu.PhyMemMode:0";
constexpr std::chrono::milliseconds kDetachTimeout{500};
constexpr std::string_view kContinue = "$c#63";
constexpr std::string_view kCurrentThread = "$qC#b4";
constexpr std::string_view kCurrentThreadTwice = "$qC#b4$qC#b4";
// The '+' is for a reply that is not acknowledged: until then QEMU drops all bytes but '$'.
constexpr std::string_view kReportIfItRuns{"+\x03"};

}  // namespace

bool is_stop_reply(std::string_view reply) {
  return !reply.empty() && (reply.front() == 'T' || reply.front() == 'S');
}

bool is_exit_reply(std::string_view reply) {
  return !reply.empty() && (reply.front() == 'W' || reply.front() == 'X');
}

Stub::Stub(Connection connection, StubTraits traits, std::unique_ptr<Guardian> guardian,
           Patience patience, bool guest_ran, MigrationWatch watch)
    : connection_(std::move(connection)),
      traits_(traits),
      guardian_(std::move(guardian)),
      patience_(std::move(patience)),
      state_(guest_ran ? StopState::kHeld : StopState::kPaused),
      watch_(std::move(watch)) {
  connection_.set_acknowledging(traits_.acknowledges && !traits_.qemu);
  if (guardian_) guardian_->set_state(guest_state_in(state_));
  if (guest_ran) held_time_.begin(monotonic_ns());
}

Stub::~Stub() {
  if (!has_ended()) let_go();
}

// The guardian has the socket, too.
void Stub::end() {
  if (!has_ended()) let_go();
  guardian_.reset();
  connection_.close();
}

tl::unexpected<Error> Stub::ended() const {
  if (state_ == StopState::kGone)
    return fail(ErrorCode::kClosed, "the gdb stub closed the connection: the guest has ended");
  return fail(ErrorCode::kProtocol,
              "the gdb stub took only a part of a request in time, and was detached: is QEMU "
              "overloaded?");
}

void Stub::take(StopEvent event) {
  const auto next = after(state_, event);
  assert(next);
  if (!next) return;
  state_ = *next;
  const bool goes_on = event == StopEvent::kContinueSent;
  if (state_ != StopState::kHeld && !goes_on) held_time_.end(monotonic_ns());
  connection_.set_spin(std::chrono::microseconds(0));
  if (guardian_) guardian_->set_state(guest_state_in(state_));
}

// QEMU acknowledges `c` right before it lets the guest go on; on a busy host that may be some
// milliseconds after it was sent. Waits of our own thread from then on are no time of the guest's.
void Stub::take_continue(std::uint64_t waited_before_ns) {
  constexpr std::chrono::milliseconds kLongest{20};
  take(StopEvent::kContinueSent);
  if (traits_.qemu && traits_.acknowledges) {
    (void)connection_.receive_acknowledgement(Clock::now() + kLongest);
    held_time_.end(monotonic_ns() - (wire::own_wait_ns() - waited_before_ns));
  } else {
    held_time_.end(monotonic_ns());
  }
}

Result<void> Stub::send(std::string_view bytes, Clock::time_point deadline) {
  if (has_ended()) return ended();
  auto sent = connection_.send(bytes, deadline);
  if (sent) return sent;
  const bool is_closed = sent.error().code == ErrorCode::kClosed;
  take(is_closed ? StopEvent::kEnded : StopEvent::kWriteFailed);
  return sent;
}

// Ends the conversation; where the stub does not confirm it, the guardian sees to the guest.
void Stub::let_go() {
  if (!detach() && guardian_) {
    guardian_->abandon();
    guardian_.reset();
  }
  take(state_ == StopState::kGone ? StopEvent::kEnded : StopEvent::kLetGo);
}

std::string Stub::detach_text() const {
  std::string bytes(kClearTheLine);
  if (physical_mode_ != PhysicalMode::kNeverEntered) append_packet(bytes, kLeavePhysicalMode);
  append_packet(bytes, traits_.multiprocess ? "D;1" : "D");
  return bytes;
}

void Stub::begin_physical_mode() {
  const bool is_first = physical_mode_ == PhysicalMode::kNeverEntered;
  physical_mode_ = PhysicalMode::kEntered;
  if (is_first && guardian_) guardian_->set_detach_text(detach_text());
}

// True if the guest runs, or its user stopped it, or it has ended. Closing the socket of a stopped
// guest leaves it stopped (QEMU 7.2), which is what its user wants where he stopped it. A running
// guest has to be stopped for the detach to be heard. It must not be sent twice: after the second
// interrupt QEMU 7.2 does not answer any more. So the guardian's detach sequence becomes what is
// left of ours.
bool Stub::detach() {
  const auto soon = Clock::now() + kDetachTimeout;
  if (state_ != StopState::kBrokenOff) {
    if (state_ == StopState::kPaused && watch_.left_standing()) settle_at_end(kDetachTimeout);
    if (outstanding_ == 0) (void)notice_stops();
    // It runs, and goes on running when the connection is closed.
    if (state_ == StopState::kRunning && watch_.has_answer() && asks_before_continue())
      take(StopEvent::kMigrates);
    if (state_ == StopState::kPaused || has_ended()) return true;
    take(StopEvent::kStopSent);
  }
  const std::string bytes = detach_text();
  if (physical_mode_ != PhysicalMode::kNeverEntered) ++outstanding_;  // the first OK
  const auto sent = connection_.send(bytes, soon);
  if (guardian_) guardian_->set_detach_text(std::string_view(bytes).substr(connection_.sent()));
  if (!sent) return sent.error().code == ErrorCode::kClosed;
  while (true) {
    auto reply = connection_.receive(soon);
    if (!reply && reply.error().code == ErrorCode::kClosed) return true;
    if (!reply && reply.error().code != ErrorCode::kProtocol) return false;
    if (!reply || is_stop_reply(*reply) || reply->starts_with("QC")) continue;
    if (is_exit_reply(*reply) || (*reply == "OK" && outstanding_ == 0)) return true;
    if (outstanding_ > 0) --outstanding_;
  }
}

Result<void> Stub::go_on() const {
  if (!patience_.over()) return {};
  return fail(ErrorCode::kDisturbed, "interrupted between requests to the gdb stub");
}

// Passes a result on; an error, after letting the guest run again where we had stopped it.
template <class T>
Result<T> Stub::or_resume(Result<T> result) {
  if (result) return result;
  if (state_ == StopState::kBrokenOff)
    let_go();
  else if (state_ == StopState::kHeld)
    (void)resume();
  return result;
}

Result<Stub::Stopped> Stub::stop(const Batch& batch, const std::function<void()>& on_stop) {
  RINGSIDE_TRY(go_on());
  RINGSIDE_TRY(notice_stops());
  if (state_ == StopState::kHeld)
    return fail(ErrorCode::kUsage, "the guest is held already: its stop is not asked for twice");
  RINGSIDE_TRY(may_be_stopped());
  Stopped stopped;
  const bool asks = asks_at_stop();
  Batch with_questions;
  if (asks) {
    with_questions = migration_questions();
    with_questions.append(batch);
    console_.clear();
  }
  const Batch& requests = asks ? with_questions : batch;
  const bool was_paused = state_ == StopState::kPaused;
  if (!was_paused) take(StopEvent::kStopSent);
  stopped.asked_ns = monotonic_ns();
  stopped.waited_before_ns = wire::own_wait_ns();
  held_time_.begin(stopped.asked_ns);
  const std::string_view stops = traits_.silent_stops ? kCurrentThreadTwice : kCurrentThread;
  const Stopping stopping{stopped, on_stop};
  auto replies = traits_.qemu ? ask(requests, stops, {}, &stopping) : stop_plain(batch, stopping);
  if (stopped.ours && stopped.stopped_ns != 0) held_time_.begin(stopped.stopped_ns);
  if (!stopped.ours && (replies || was_paused)) held_time_.cancel();
  // Where the outcome is not known, a guest that its user had stopped stays so.
  if (replies && !stopped.ours) take(StopEvent::kFoundPaused);
  if (replies && stopped.ours && was_paused) take(StopEvent::kFoundRunning);
  if (!replies) connection_.set_spin(std::chrono::microseconds(0));
  RINGSIDE_ASSIGN(stopped.replies, or_resume(std::move(replies)));
  last_stop_ns_ = stopped.stopped_ns;
  if (asks) RINGSIDE_TRY(settle(stopped));
  return stopped;
}

std::string_view Stub::before_batch() const {
  return traits_.silent_stops ? kReportIfItRuns : std::string_view();
}

// A request would stop a guest that runs, and `c` would let one run that its user has stopped.
Result<void> Stub::must_be_held() const {
  if (state_ == StopState::kHeld) return {};
  if (has_ended()) return ended();
  return fail(ErrorCode::kUsage,
              "the guest is not held: nothing is asked of it, nor is it resumed");
}

Result<std::vector<std::string>> Stub::exchange(const Batch& batch) {
  if (state_ != StopState::kPaused) RINGSIDE_TRY(must_be_held());
  return or_resume(traits_.pipelines ? ask(batch, before_batch(), {}, nullptr)
                                     : ask_one_by_one(batch));
}

Result<std::vector<std::string>> Stub::exchange_and_resume(const Batch& batch) {
  RINGSIDE_TRY(must_be_held());
  if (!traits_.pipelines || asks_before_continue()) {
    RINGSIDE_ASSIGN(auto replies, exchange(batch));
    RINGSIDE_TRY(resume());
    return replies;
  }
  const std::uint64_t waited_before_ns = wire::own_wait_ns();
  auto replies = ask(batch, before_batch(), kContinue, nullptr);
  // `c` has gone out with the batch, whatever came back, except where it did not.
  if (state_ == StopState::kBrokenOff) return or_resume(std::move(replies));
  if (state_ == StopState::kHeld) take_continue(waited_before_ns);
  return replies;
}

Result<std::string> Stub::ask_monitor(std::string_view command) {
  Batch batch;
  batch.add(monitor_request(command));
  const bool stops = state_ != StopState::kHeld;
  if (stops) {
    Batch nothing;
    nothing.add("qAttached");
    RINGSIDE_TRY(stop(nothing));
  }
  console_.clear();
  RINGSIDE_TRY(exchange(batch));
  std::string text = std::exchange(console_, {});
  if (stops && state_ == StopState::kHeld) RINGSIDE_TRY(resume());
  return text;
}

Result<void> Stub::resume() {
  RINGSIDE_TRY(must_be_held());
  if (asks_before_continue()) {
    RINGSIDE_ASSIGN(const bool continues, may_continue());
    if (!continues) return {};
  }
  std::string bytes;
  if (physical_mode_ == PhysicalMode::kEntered) {
    append_packet(bytes, kLeavePhysicalMode);
    end_physical_mode();
    ++outstanding_;
  }
  bytes += kContinue;
  const std::uint64_t waited_before_ns = wire::own_wait_ns();
  auto sent = send(bytes, deadline());
  if (sent)
    take_continue(waited_before_ns);
  else if (state_ == StopState::kBrokenOff)
    let_go();
  return sent;
}

}  // namespace ringside::engines::gdb
