#include "engines/ring/stream_engine.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/socket.h"

namespace ringside::engines::ring {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr int kPollMs = 5;
// A kernel drains its CPUs one after another, some times a second.
constexpr std::uint64_t kPatienceNs = 1'000'000'000;

// A terminal's driver would change bytes, and react to some.
Result<void> pass_bytes(int device, const std::string& place) {
  termios settings{};
  if (::tcgetattr(device, &settings) != 0) return {};  // no terminal
  ::cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  if (::tcsetattr(device, TCSANOW, &settings) != 0) return fail_errno("cannot set up " + place);
  return {};
}

Result<UniqueFd> open_line(const std::string& place, const Patience& patience) {
  struct stat file {};
  const bool is_file = ::stat(place.c_str(), &file) == 0 && !S_ISSOCK(file.st_mode);
  if (!is_file) {
    RINGSIDE_ASSIGN(const auto address, SocketAddress::parse(place));
    return connect_to(address, patience.timeout);
  }
  UniqueFd line(::open(place.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!line.valid()) return fail_errno("cannot open " + place);
  RINGSIDE_TRY(pass_bytes(line.get(), place));
  return line;
}

}  // namespace

Result<std::unique_ptr<StreamEngine>> StreamEngine::open(const std::string& place,
                                                         const Patience& patience,
                                                         double counter_hz) {
  RINGSIDE_ASSIGN(auto line, open_line(place, patience));
  std::unique_ptr<StreamEngine> engine(new StreamEngine(std::move(line), place));
  RINGSIDE_TRY(engine->wait_for_facts(patience));
  const double hz = counter_hz > 0 ? counter_hz : static_cast<double>(engine->facts_.clock_hz);
  engine->records_.emplace(engine->facts_.arch, hz, kPatienceNs);
  return engine;
}

Result<void> StreamEngine::wait_for_facts(const Patience& patience) {
  const std::uint64_t end =
      monotonic_ns() +
      static_cast<std::uint64_t>(std::chrono::nanoseconds(patience.timeout).count());
  while (facts_.arch == Arch::kUnknown) {
    if (patience.over()) return fail(ErrorCode::kDisturbed, "{}: not waited for", place_);
    if (monotonic_ns() > end)
      return fail(ErrorCode::kTimeout,
                  "{}: no record of ringside's guest library came in {:.3g} s; the kernel there "
                  "calls ringside_drain() and writes what it gets to this line",
                  place_, static_cast<double>(patience.timeout.count()) / 1e3);
    RINGSIDE_ASSIGN(const bool goes_on, read_line(50));
    if (!goes_on && facts_.arch == Arch::kUnknown)
      return fail(ErrorCode::kClosed,
                  "{}: the line ends before a record of ringside's guest library came", place_);
  }
  return {};
}

Result<bool> StreamEngine::read_line(int timeout_ms) {
  pollfd ready{line_.get(), POLLIN, 0};
  if (::poll(&ready, 1, timeout_ms) <= 0) return true;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  const ssize_t got = ::read(line_.get(), buffer_.data() + before, kReadBytes);
  buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const bool is_later = got < 0 && (errno == EAGAIN || errno == EINTR);
  if (is_later) return true;
  // A pseudo-terminal whose other end is closed gives EIO.
  if (got < 0 && errno != EIO) return fail_errno("cannot read " + place_);
  const bool has_ended = got <= 0;
  std::uint64_t at = 0;
  const Bytes bytes(buffer_);
  const std::uint64_t base = consumed_;
  RINGSIDE_ASSIGN(
      at, stream_.read(bytes, has_ended,
                       [&](const wire::GuestRecord& record, std::uint64_t offset) -> Result<void> {
                         take(record, bytes.subspan(offset - base));
                         return {};
                       }));
  consumed_ += at;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at));
  return !has_ended;
}

void StreamEngine::take(const wire::GuestRecord& record, Bytes bytes) {
  if (record.kind == wire::GuestRecordKind::kInfo) {
    if (facts_.arch == Arch::kUnknown) facts_ = wire::facts_of(record.info);
    return;
  }
  if (!is_started_) return;
  words_.resize(wire::guest_record_words(load<std::uint64_t>(bytes)));
  std::memcpy(words_.data(), bytes.data(), words_.size() * sizeof(words_[0]));
  records_->take(record, words_);
}

Result<Tick> StreamEngine::tick(const TickPlan& plan) {
  records_->set_plan(plan);
  if (!is_started_) return Tick();
  RINGSIDE_ASSIGN(const bool goes_on, read_line(is_stopped_ ? 0 : kPollMs));
  Tick tick = records_->take_out(monotonic_ns(), is_stopped_ || !goes_on);
  if (!goes_on && tick.empty()) {
    if (std::exchange(has_ended_, true) || !is_stopped_)
      return fail(ErrorCode::kClosed, "{}: the line has ended", place_);
  }
  return tick;
}

Result<void> StreamEngine::start(const Pace&) {
  is_started_ = true;
  lost_before_ = lost(false);
  skipped_before_ = stream_.skipped();
  return {};
}

StreamEngine::Lost StreamEngine::lost(bool at_end) const {
  Lost lost;
  for (const auto& [cpu, sequences] : stream_.cpus()) {
    lost.all += sequences.lost(at_end);
    lost.samples += sequences.lost_samples(at_end);
    lost.without_room += sequences.without_room();
  }
  return lost;
}

PaceCounts StreamEngine::counts() const {
  const auto since = [](std::uint64_t before, std::uint64_t now) {
    return now - std::min(before, now);
  };
  const Lost now = lost(is_stopped_);
  const std::uint64_t samples = since(lost_before_.samples, now.samples);
  PaceCounts counts;
  counts.no_room = std::min(samples, since(lost_before_.without_room, now.without_room));
  counts.overwritten = samples - counts.no_room;
  counts.due = records_->captures() + samples;
  counts.lost_events = since(lost_before_.all, now.all);
  counts.lost_events -= std::min(counts.lost_events, samples);
  counts.foreign_bytes = stream_.skipped() - skipped_before_;
  return counts;
}

std::string StreamEngine::explain_silence() const {
  return fmt::format(
      "nothing but what the guest is came from {}: it may have switched sampling off", place_);
}

Result<arch::Registers> StreamEngine::read_registers(VcpuId) {
  return fail(ErrorCode::kUnsupported, "a serial line shows no registers of the guest");
}

Result<PhysicalMemory*> StreamEngine::physical_memory() {
  return fail(ErrorCode::kUnsupported, "a serial line shows no memory of the guest");
}

}  // namespace ringside::engines::ring
