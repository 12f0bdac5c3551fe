#include "engines/gdb/stub.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engines/gdb/hex.h"
#include "engines/gdb/packet.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::string_view kInterrupt{"\x03"};
// Stops a guest that runs, and ends a packet that was begun; see last_words.h.
constexpr std::string_view kClearTheLine{"+\x03#00"};
constexpr std::string_view kLeavePhysicalMode = "Qqemu.PhyMemMode:0";
constexpr std::size_t kMaxConsole = 1u << 20;
constexpr std::chrono::milliseconds kDetachTimeout{500};
constexpr std::string_view kContinue = "$c#63";
constexpr std::string_view kCurrentThread = "$qC#b4";
constexpr std::string_view kCurrentThreadTwice = "$qC#b4$qC#b4";
// The '+' is for a reply that is not acknowledged: until then QEMU drops all bytes but '$'.
constexpr std::string_view kTellIfItRuns{"+\x03"};
// While the guest stands still its host processors are free, and a sleep costs a wake-up of 10 to
// 100 µs. While it runs, receive() sleeps: a burning processor would be taken from the guest.
constexpr std::chrono::microseconds kSpin{1000};

bool is_console_output(std::string_view reply) {
  return reply.size() > 1 && reply.front() == 'O' && reply != "OK";
}

tl::unexpected<Error> guest_ended(std::string_view reply) {
  return fail(ErrorCode::kClosed, "the guest has ended (the gdb stub says '{}')",
              excerpt_of(reply));
}

}  // namespace

void Batch::add(std::string_view payload) {
  append_packet(bytes_, payload);
  ends_.push_back(bytes_.size());
}

void Batch::clear() {
  bytes_.clear();
  ends_.clear();
}

std::string_view Batch::packet(std::size_t n) const {
  const std::size_t begin = n == 0 ? 0 : ends_[n - 1];
  return std::string_view(bytes_).substr(begin, ends_[n] - begin);
}

std::size_t Batch::packets_within(std::size_t bytes) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), bytes) -
                                  ends_.begin());
}

bool is_stop_reply(std::string_view reply) {
  return !reply.empty() && (reply.front() == 'T' || reply.front() == 'S');
}

bool is_exit_reply(std::string_view reply) {
  return !reply.empty() && (reply.front() == 'W' || reply.front() == 'X');
}

Stub::Stub(Connection connection, StubTraits traits, std::unique_ptr<Guardian> guardian,
           Patience patience)
    : connection_(std::move(connection)),
      traits_(traits),
      guardian_(std::move(guardian)),
      patience_(std::move(patience)) {
  connection_.set_acknowledging(traits_.acknowledges && !traits_.qemu);
}

Stub::~Stub() {
  if (!closed_) let_go();
  if (guardian_) guardian_->set_state(GuestState::kPaused);
}

tl::unexpected<Error> Stub::ended() const {
  if (!broken_off_)
    return fail(ErrorCode::kClosed, "the gdb stub closed the connection: the guest has ended");
  return fail(ErrorCode::kProtocol,
              "the gdb stub took only a part of a request in time, and was detached: is QEMU "
              "overloaded?");
}

Result<void> Stub::send(std::string_view bytes, Clock::time_point deadline) {
  if (broken_off_ || closed_) return ended();
  auto sent = connection_.send(bytes, deadline);
  if (sent) return sent;
  if (sent.error().code == ErrorCode::kClosed)
    closed_ = true;
  else
    broken_off_ = true;
  return sent;
}

void Stub::become(Owner owner) {
  stopped_by_ = owner;
  connection_.set_spin(std::chrono::microseconds(0));
  if (!guardian_) return;
  switch (owner) {
    case Owner::kNobody:
      guardian_->set_state(GuestState::kRunning);
      break;
    case Owner::kUs:
      guardian_->set_state(GuestState::kOurs);
      break;
    case Owner::kUser:
      guardian_->set_state(GuestState::kPaused);
      break;
  }
}

// Ends the conversation; where the stub does not confirm it, the guardian sees to the guest.
void Stub::let_go() {
  const bool detached = detach();
  closed_ = true;
  if (detached || !guardian_) {
    become(Owner::kUser);
    return;
  }
  guardian_->abandon();
  guardian_.reset();
}

std::string Stub::farewell() const {
  std::string bytes(kClearTheLine);
  if (used_physical_mode_) append_packet(bytes, kLeavePhysicalMode);
  append_packet(bytes, traits_.multiprocess ? "D;1" : "D");
  return bytes;
}

void Stub::begin_physical_mode() {
  in_physical_mode_ = true;
  if (std::exchange(used_physical_mode_, true)) return;
  if (guardian_) guardian_->set_farewell(farewell());
}

// True if the guest runs, or its user stopped it, or it has ended. Closing the socket of a stopped
// guest leaves it stopped (QEMU 7.2), which is what its user wants where he stopped it. A running
// guest has to be stopped for the detach to be heard. It must not be sent twice: after the second
// interrupt QEMU 7.2 does not answer any more. So the guardian's farewell becomes what is left of
// ours.
bool Stub::detach() {
  const auto soon = Clock::now() + kDetachTimeout;
  if (outstanding_ == 0 && !broken_off_) (void)notice_stops();
  if (closed_ || stopped_by_ == Owner::kUser) return true;
  become(Owner::kUs);
  const std::string bytes = farewell();
  if (used_physical_mode_) ++outstanding_;  // the first OK
  const auto sent = connection_.send(bytes, soon);
  if (guardian_) guardian_->set_farewell(std::string_view(bytes).substr(connection_.sent()));
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

Result<std::string> Stub::receive_answer(Clock::time_point deadline) {
  for (;;) {
    auto reply = connection_.receive(deadline, patience_.is_over);
    if (!reply) {
      if (reply.error().code == ErrorCode::kClosed) closed_ = true;
      return reply;
    }
    if (is_exit_reply(*reply)) {
      closed_ = true;
      return guest_ended(*reply);
    }
    if (!is_console_output(*reply)) return reply;
    if (Clock::now() >= deadline)
      return fail(ErrorCode::kTimeout, "gdb stub: what its monitor prints does not end");
    if (console_.size() < kMaxConsole)
      console_ += decode_hex_text(std::string_view(*reply).substr(1));
  }
}

Result<void> Stub::go_on() const {
  if (!patience_.over()) return {};
  return fail(ErrorCode::kDisturbed, "interrupted between requests to the gdb stub");
}

Result<void> Stub::notice_stops() {
  if (closed_) return ended();
  RINGSIDE_TRY(catch_up());
  for (const auto end = deadline(); Clock::now() < end;) {
    auto reply = connection_.receive_pending();
    if (!reply) {
      if (reply.error().code == ErrorCode::kClosed) closed_ = true;
      return tl::unexpected<Error>(std::move(reply).error());
    }
    if (!*reply) return {};
    if (is_exit_reply(**reply)) {
      closed_ = true;
      return guest_ended(**reply);
    }
    if (is_stop_reply(**reply)) become(Owner::kUser);
  }
  return fail(ErrorCode::kProtocol, "gdb stub: it talks without an end, and nobody asked");
}

// Reads the answers that a failed batch left behind. Stop replies and answers to qC are not
// counted.
Result<void> Stub::catch_up() {
  const auto end = deadline();
  while (outstanding_ > 0) {
    auto reply = receive_answer(end);
    if (!reply && reply.error().code != ErrorCode::kProtocol)
      return tl::unexpected<Error>(std::move(reply).error());
    if (reply && (is_stop_reply(*reply) || reply->starts_with("QC"))) continue;
    --outstanding_;
  }
  return {};
}

// Sends `before`, the batch and `after`, and reads the answers. With `stopped`, `before` is what
// stops the guest, and its outcome is stored there.
Result<std::vector<std::string>> Stub::ask(const Batch& batch, std::string_view before,
                                           std::string_view after, Stopped* stopped) {
  const auto end = deadline();
  std::string bytes;
  bytes.reserve(before.size() + batch.bytes().size() + after.size());
  bytes.append(before).append(batch.bytes()).append(after);
  auto sent = send(bytes, end);
  outstanding_ =
      batch.packets_within(connection_.sent() - std::min(connection_.sent(), before.size()));
  if (!sent) return tl::unexpected<Error>(std::move(sent).error());
  std::vector<std::string> replies;
  replies.reserve(batch.size());
  Result<void> broken;
  unsigned qc_answers = 0;
  bool saw_stop = false;
  const auto has_stopped = [&] {
    stopped->stopped_ns = monotonic_ns();
    connection_.set_spin(kSpin);
  };
  while (outstanding_ > 0) {
    auto reply = receive_answer(end);
    if (!reply) {
      if (reply.error().code != ErrorCode::kProtocol)
        return tl::unexpected<Error>(std::move(reply).error());
      --outstanding_;
      if (broken) broken = tl::unexpected<Error>(std::move(reply).error());
    } else if (is_stop_reply(*reply)) {
      if (stopped != nullptr && !saw_stop) {
        has_stopped();
      } else {
        // Somebody resumed the guest while we held it. Our next byte stopped it again and was
        // swallowed, with its request where that was a request's.
        if (!traits_.silent_stops) --outstanding_;
        if (broken)
          broken = fail(ErrorCode::kDisturbed, "the guest was resumed during a sample, not by us");
      }
      saw_stop = true;
    } else if (stopped != nullptr && replies.empty() && reply->starts_with("QC")) {
      if (++qc_answers == 1 && !saw_stop) has_stopped();
    } else {
      --outstanding_;
      replies.push_back(std::move(*reply));
    }
  }
  if (!broken) return tl::unexpected<Error>(std::move(broken).error());
  if (stopped != nullptr) {
    stopped->ours = traits_.silent_stops ? qc_answers == 1 : saw_stop && qc_answers == 0;
    if (qc_answers == 0 && (traits_.silent_stops || !saw_stop))
      return fail(ErrorCode::kProtocol,
                  "gdb stub: the guest was asked to stop, and nothing said "
                  "that it did");
  }
  return replies;
}

Result<std::vector<std::string>> Stub::ask_one_by_one(const Batch& batch) {
  std::vector<std::string> replies;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    RINGSIDE_TRY(go_on());
    const auto end = deadline();
    RINGSIDE_TRY(send(batch.packet(i), end));
    outstanding_ = 1;
    std::string reply;
    do {
      RINGSIDE_ASSIGN(reply, receive_answer(end));
    } while (is_stop_reply(reply) && Clock::now() < end);
    outstanding_ = 0;
    replies.push_back(std::move(reply));
  }
  return replies;
}

// The manual's way, for stubs other than QEMU's: one byte, and a stop reply.
Result<std::vector<std::string>> Stub::stop_plain(const Batch& batch, Owner before,
                                                  Stopped& stopped) {
  stopped.ours = before != Owner::kUser;
  if (stopped.ours) {
    const auto end = deadline();
    RINGSIDE_TRY(send(kInterrupt, end));
    std::string reply;
    while (!is_stop_reply(reply)) {
      RINGSIDE_ASSIGN(reply, receive_answer(end));
    }
  }
  stopped.stopped_ns = monotonic_ns();
  return ask_one_by_one(batch);
}

// Passes a result on; an error, after telling the guest to run again where it can be told.
template <class T>
Result<T> Stub::or_resume(Result<T> result) {
  if (result || closed_) return result;
  if (broken_off_)
    let_go();
  else if (stopped_by_ == Owner::kUs)
    (void)resume();
  return result;
}

Result<Stub::Stopped> Stub::stop(const Batch& batch, HoldPoint hold) {
  RINGSIDE_TRY(go_on());
  RINGSIDE_TRY(notice_stops());
  if (hold == HoldPoint::kRunning) hold_for_ever(hold);
  Stopped stopped;
  const Owner before = stopped_by_;
  become(Owner::kUs);
  stopped.asked_ns = monotonic_ns();
  const std::string_view stops = traits_.silent_stops ? kCurrentThreadTwice : kCurrentThread;
  auto replies =
      traits_.qemu ? ask(batch, stops, {}, &stopped) : stop_plain(batch, before, stopped);
  // Where the outcome is not known, a guest that its user had stopped stays so.
  if (replies ? !stopped.ours : before == Owner::kUser) become(Owner::kUser);
  RINGSIDE_ASSIGN(stopped.replies, or_resume(std::move(replies)));
  last_stop_ns_ = stopped.stopped_ns;
  if (hold == HoldPoint::kHalfPacket) (void)connection_.send("$g", deadline());
  if (hold != HoldPoint::kNone) hold_for_ever(hold);
  return stopped;
}

std::string_view Stub::before_batch() const {
  return traits_.silent_stops ? kTellIfItRuns : std::string_view();
}

Result<std::vector<std::string>> Stub::exchange(const Batch& batch) {
  return or_resume(traits_.pipelines ? ask(batch, before_batch(), {}, nullptr)
                                     : ask_one_by_one(batch));
}

Result<std::vector<std::string>> Stub::exchange_and_resume(const Batch& batch) {
  if (!traits_.pipelines) {
    RINGSIDE_ASSIGN(auto replies, or_resume(ask_one_by_one(batch)));
    RINGSIDE_TRY(resume());
    return replies;
  }
  auto replies = ask(batch, before_batch(), kContinue, nullptr);
  // `c` has gone out with the batch, whatever came back, except where it did not.
  if (broken_off_) return or_resume(std::move(replies));
  if (!closed_) become(Owner::kNobody);
  return replies;
}

Result<std::string> Stub::ask_monitor(std::string_view command) {
  Batch batch;
  batch.add("qRcmd," + encode_hex_text(command));
  console_.clear();
  if (stopped_by_ == Owner::kUs) {
    RINGSIDE_ASSIGN(const auto replies, exchange(batch));
  } else {
    RINGSIDE_ASSIGN(const auto stopped, stop(batch));
    if (stopped.ours) RINGSIDE_TRY(resume());
  }
  return std::exchange(console_, {});
}

Result<void> Stub::resume() {
  std::string bytes;
  if (std::exchange(in_physical_mode_, false)) {
    append_packet(bytes, kLeavePhysicalMode);
    ++outstanding_;
  }
  bytes += kContinue;
  auto sent = send(bytes, deadline());
  if (sent)
    become(Owner::kNobody);
  else if (broken_off_ && !closed_)
    let_go();
  return sent;
}

}  // namespace ringside::engines::gdb
