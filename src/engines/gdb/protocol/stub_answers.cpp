#include <algorithm>

#include "base/clock.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/protocol/packet.h"
#include "engines/gdb/protocol/stub.h"
#include "wire/host_wait.h"

// How Stub sends requests and takes what comes back.
namespace ringside::engines::gdb {
namespace {

constexpr std::string_view kInterrupt{"\x03"};
constexpr std::size_t kMaxConsole = 1u << 20;
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

Result<std::string> Stub::receive_answer(Clock::time_point deadline) {
  for (;;) {
    auto reply = connection_.receive(deadline, patience_.is_over);
    if (!reply) {
      if (reply.error().code == ErrorCode::kClosed) take(StopEvent::kEnded);
      return reply;
    }
    if (is_exit_reply(*reply)) {
      take(StopEvent::kEnded);
      return guest_ended(*reply);
    }
    if (!is_console_output(*reply)) return reply;
    if (Clock::now() >= deadline)
      return fail(ErrorCode::kTimeout, "gdb stub: what its monitor prints does not end");
    if (console_.size() < kMaxConsole)
      console_ += decode_hex_text(std::string_view(*reply).substr(1));
  }
}

Result<void> Stub::notice_stops() {
  if (has_ended()) return ended();
  RINGSIDE_TRY(catch_up());
  for (const auto end = deadline(); Clock::now() < end;) {
    auto reply = connection_.receive_pending();
    if (!reply) {
      if (reply.error().code == ErrorCode::kClosed) take(StopEvent::kEnded);
      return tl::unexpected<Error>(std::move(reply).error());
    }
    if (!*reply) return {};
    if (is_exit_reply(**reply)) {
      take(StopEvent::kEnded);
      return guest_ended(**reply);
    }
    if (is_stop_reply(**reply)) take(StopEvent::kUnaskedStop);
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

// The answer was there when our thread began to wait for a processor.
void Stub::Stopping::has_stopped() const {
  constexpr std::uint64_t kPromptNs = 400'000;
  outcome.stopped_ns = monotonic_ns();
  const std::uint64_t took = outcome.stopped_ns - outcome.asked_ns;
  if (took > kPromptNs)
    outcome.stopped_ns -= std::min(took, wire::own_wait_ns() - outcome.waited_before_ns);
  if (on_stop) on_stop();
}

// Sends `before`, the batch and `after`, and reads the answers. With `stopping`, `before` is what
// stops the guest.
Result<std::vector<std::string>> Stub::ask(const Batch& batch, std::string_view before,
                                           std::string_view after, const Stopping* stopping) {
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
    connection_.set_spin(kSpin);
    stopping->has_stopped();
  };
  while (outstanding_ > 0) {
    auto reply = receive_answer(end);
    if (!reply) {
      if (reply.error().code != ErrorCode::kProtocol)
        return tl::unexpected<Error>(std::move(reply).error());
      --outstanding_;
      if (broken) broken = tl::unexpected<Error>(std::move(reply).error());
    } else if (is_stop_reply(*reply)) {
      if (stopping != nullptr && !saw_stop) {
        has_stopped();
      } else {
        // Somebody resumed the guest while we held it. Our next byte stopped it again and was
        // swallowed, with its request where that was a request's.
        if (!traits_.silent_stops) --outstanding_;
        if (broken)
          broken = fail(ErrorCode::kDisturbed, "the guest was resumed during a sample, not by us");
      }
      saw_stop = true;
    } else if (stopping != nullptr && replies.empty() && reply->starts_with("QC")) {
      if (++qc_answers == 1 && !saw_stop) has_stopped();
    } else {
      --outstanding_;
      replies.push_back(std::move(*reply));
    }
  }
  if (!broken) return tl::unexpected<Error>(std::move(broken).error());
  if (stopping != nullptr) {
    stopping->outcome.ours = traits_.silent_stops ? qc_answers == 1 : saw_stop && qc_answers == 0;
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
Result<std::vector<std::string>> Stub::stop_plain(const Batch& batch, const Stopping& stopping) {
  stopping.outcome.ours = state_ == StopState::kHeld;
  if (stopping.outcome.ours) {
    const auto end = deadline();
    RINGSIDE_TRY(send(kInterrupt, end));
    std::string reply;
    while (!is_stop_reply(reply)) {
      RINGSIDE_ASSIGN(reply, receive_answer(end));
    }
  }
  stopping.has_stopped();
  return ask_one_by_one(batch);
}

}  // namespace ringside::engines::gdb
