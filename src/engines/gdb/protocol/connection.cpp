#include "engines/gdb/protocol/connection.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/socket.h"
#include "engines/gdb/protocol/packet.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::size_t kReadSize = 64 * 1024;
// Limit on packets that nobody has asked for yet, while a request is being sent: a stub sends far
// less before it reads on.
constexpr std::size_t kMostUnread = 4 * kMaxBody;

tl::unexpected<Error> closed() {
  return fail(ErrorCode::kClosed, "the gdb stub closed the connection: the guest has ended");
}

bool is_peer_gone(int error) { return error == EPIPE || error == ECONNRESET; }

}  // namespace

Connection::Connection(UniqueFd socket) : socket_(std::move(socket)) { buffer_.resize(kReadSize); }

Result<bool> Connection::wait_for(short events, Clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd poll_fd{socket_.get(), events, 0};
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return fail_errno("poll of the gdb socket");
  }
}

Result<void> Connection::send(std::string_view bytes, Clock::time_point deadline) {
  sent_ = 0;
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      sent_ += static_cast<std::size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    if (is_peer_gone(errno)) return closed();
    if (errno != EAGAIN) return fail_errno("send to the gdb stub");
    RINGSIDE_ASSIGN(const bool ready, wait_for(POLLIN | POLLOUT, deadline));
    if (!ready)
      return fail(ErrorCode::kTimeout, "the gdb stub takes no more requests: is QEMU overloaded?");
    RINGSIDE_ASSIGN([[maybe_unused]] const bool filled, fill(Wait::kNo, deadline));
  }
  return {};
}

// Reads what is there behind the unread bytes. False: nothing came (in time).
Result<bool> Connection::fill(Wait wait, Clock::time_point deadline) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ - begin_ > kMostUnread)
    return fail(ErrorCode::kProtocol, "the gdb stub sends on and on and reads no request");
  if (buffer_.size() - end_ < kReadSize / 2) {
    buffer_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
    buffer_.resize(end_ + kReadSize);
  }
  const auto spin_end = std::min(deadline, Clock::now() + spin_);
  for (;;) {
    const ssize_t got =
        ::recv(socket_.get(), buffer_.data() + end_, buffer_.size() - end_, MSG_DONTWAIT);
    if (got > 0) {
      end_ += static_cast<std::size_t>(got);
      acknowledge_at_once(socket_.get());
      return true;
    }
    if (got == 0 || is_peer_gone(errno)) return closed();
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return fail_errno("receive from the gdb stub");
    if (wait == Wait::kNo) return false;
    if (Clock::now() < spin_end) {
      ::sched_yield();
      continue;
    }
    RINGSIDE_ASSIGN(const bool ready, wait_for(POLLIN, deadline));
    if (!ready) return false;
  }
}

Result<bool> Connection::receive_acknowledgement(Clock::time_point deadline) {
  if (begin_ == end_) {
    RINGSIDE_ASSIGN(const bool came, fill(Wait::kYes, deadline));
    if (!came) return false;
  }
  if (unread().front() != '+') return false;
  ++begin_;
  return true;
}

std::string_view Connection::unread() const {
  return std::string_view(buffer_).substr(begin_, end_ - begin_);
}

Result<std::optional<std::string>> Connection::take_packet() {
  for (;;) {
    const Scan scan = scan_packet(unread());
    switch (scan.kind) {
      case ScanKind::kIncomplete:
        return std::nullopt;
      case ScanKind::kNoise: {
        auto error =
            fail(ErrorCode::kProtocol, "gdb stub: not a packet: '{}'", excerpt_of(unread()));
        begin_ = end_;
        return error;
      }
      case ScanKind::kNak:
      case ScanKind::kBadChecksum: {
        auto error = fail(ErrorCode::kProtocol, "gdb stub: {}: '{}'",
                          scan.kind == ScanKind::kNak ? "it did not understand a request"
                                                      : "a packet's checksum is wrong",
                          excerpt_of(unread().substr(0, scan.consumed)));
        begin_ += scan.consumed;
        return error;
      }
      case ScanKind::kPacket: {
        auto body = decode_body(scan.body);
        begin_ += scan.consumed;
        if (acknowledging_) RINGSIDE_TRY(send("+", Clock::now() + std::chrono::milliseconds(100)));
        if (!body) return tl::unexpected<Error>(std::move(body).error());
        return std::optional<std::string>(std::move(*body));
      }
      case ScanKind::kAck:
      case ScanKind::kNotice:
        begin_ += scan.consumed;
        break;
    }
  }
}

// Gives a server that greets its clients a moment to say all of its greeting, for the message.
Result<std::string> Connection::not_a_packet(Clock::time_point deadline) {
  const auto soon = std::min(deadline, Clock::now() + std::chrono::milliseconds(50));
  while (Clock::now() < soon && unread().size() < 80) {
    auto more = fill(Wait::kYes, soon);
    if (!more || !*more) break;
  }
  const std::string said = excerpt_of(unread());
  const bool is_qmp = unread().find("\"QMP\"") != std::string_view::npos;
  begin_ = end_;
  return fail(ErrorCode::kProtocol, "this is not a gdb stub: it said '{}'{}", said,
              is_qmp ? "; that is a QMP monitor: sample through it with --qmp" : "");
}

Result<std::string> Connection::receive(Clock::time_point deadline) {
  for (;;) {
    if (scan_packet(unread()).kind == ScanKind::kNoise) return not_a_packet(deadline);
    RINGSIDE_ASSIGN(auto packet, take_packet());
    if (packet) return std::move(*packet);
    RINGSIDE_ASSIGN(const bool more, fill(Wait::kYes, deadline));
    if (!more || Clock::now() >= deadline) {
      const std::string said = excerpt_of(unread());
      return fail(ErrorCode::kTimeout, "the gdb stub did not answer in time{}",
                  said.empty() ? "" : fmt::format(" (half an answer: '{}')", said));
    }
  }
}

// An end that comes while the stub has been silent for long already is reported as its silence.
Result<std::string> Connection::receive(Clock::time_point deadline,
                                        const std::function<bool()>& is_over) {
  constexpr std::chrono::milliseconds kStep{100};
  constexpr std::chrono::milliseconds kLong{1000};
  const auto start = Clock::now();
  for (;;) {
    const auto step = std::min(deadline, Clock::now() + kStep);
    auto reply = receive(step);
    const bool waits = !reply && reply.error().code == ErrorCode::kTimeout && step < deadline;
    if (!waits) return reply;
    if (!is_over || !is_over()) continue;
    if (Clock::now() - start >= kLong) return reply;
    return fail(ErrorCode::kDisturbed, "interrupted while the gdb stub was waited for");
  }
}

Result<std::optional<std::string>> Connection::receive_pending() {
  for (;;) {
    RINGSIDE_ASSIGN(auto packet, take_packet());
    if (packet) return packet;
    RINGSIDE_ASSIGN(const bool more, fill(Wait::kNo, Clock::now()));
    if (!more) return std::nullopt;
  }
}

}  // namespace ringside::engines::gdb
