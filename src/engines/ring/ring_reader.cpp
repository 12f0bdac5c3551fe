#include "engines/ring/ring_reader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/clock.h"
#include "engines/ring/plausible.h"

namespace ringside::engines::ring {
namespace {

// Records of one CPU may interrupt each other, so that later sequences come first: by so many.
constexpr std::int64_t kMostNested = 64;

}  // namespace

RingReader::RingReader(AreaMemory& memory, wire::GuestArea area, std::uint32_t cpu)
    : memory_(memory),
      area_(std::move(area)),
      cpu_(cpu),
      growth_(monotonic_ns() - std::min(monotonic_ns(), kGuestsStartNs)) {}

void RingReader::want_all() {
  has_begun_ = true;
  state_ = {};
  head_ = 0;
  before_ = {};
  begin_at({}, 0);
}

Result<void> RingReader::poll(const Visit& visit, std::size_t& budget) {
  RINGSIDE_TRY(read_state());
  RINGSIDE_TRY(read_words(budget));
  return take(visit, false, budget);
}

Result<void> RingReader::finish(const Visit& visit, std::uint64_t deadline_ns) {
  RINGSIDE_TRY(read_state());
  end_ = extended(state_.begun);
  for (std::uint64_t left = behind(); left != 0 && monotonic_ns() < deadline_ns;) {
    const std::uint64_t from = position_;
    std::size_t budget = kMostWords;
    RINGSIDE_TRY(read_words(budget));
    std::size_t checks = kMostWords;
    RINGSIDE_TRY(take(visit, true, checks));
    const std::uint64_t done = position_ - from;
    if (done == 0) break;
    left -= std::min(left, done);
  }
  return {};
}

void RingReader::begin_at(const wire::GuestCpuState& state, std::uint64_t position) {
  first_ = std::int64_t{1} << 32 | state.begun;
  last_ = first_ - 1;
  no_room_before_ = state.lost;
  samples_before_ = state.samples;
  position_ = position;
  read_ = read_samples_ = read_before_ = recent_ = 0;
  end_ = 0;
  waits_ = 0;
  searches_ = false;
}

Result<wire::GuestCpuState> RingReader::state_now() const {
  std::array<std::byte, wire::GuestArea::kCpuBytes> bytes;
  RINGSIDE_TRY(memory_.read({area_.cpu_at(cpu_)}, bytes));
  return wire::read_guest_cpu(bytes);
}

Result<std::uint32_t> RingReader::begun() const {
  RINGSIDE_ASSIGN(const auto now, state_now());
  return now.begun;
}

Result<void> RingReader::read_state() {
  RINGSIDE_ASSIGN(const wire::GuestCpuState now, state_now());
  const std::uint64_t advance = (now.head - head_) & mask();
  const bool is_first = !std::exchange(has_begun_, true);
  if (is_first) {
    begin_at(now, now.head & mask());
    head_ = position_;
  } else if (advance > mask() / 2 || static_cast<std::int32_t>(now.begun - state_.begun) < 0) {
    // A kernel that has begun again: its ring is another one, from its first word on.
    before_ = counts();
    begin_at({}, 0);
    head_ = now.head & mask();
    state_ = {};
  } else {
    head_ += advance;
  }
  if (const bool is_plausible = has_plausible_growth(now); !is_first && !is_plausible) {
    before_ = counts();
    ++before_.damaged;
    begin_at(now, now.head & mask());
    head_ = position_;
  }
  state_ = now;
  return {};
}

bool RingReader::has_plausible_growth(const wire::GuestCpuState& now) {
  const std::uint32_t most =
      std::max({now.begun - state_.begun, now.samples - state_.samples, now.lost - state_.lost});
  return growth_.allows(most, monotonic_ns());
}

// Words that the guest has overwritten until then, or may have while it was read, are left out. So
// are those that somebody in the guest has drained.
Result<void> RingReader::read_words(std::size_t& budget) {
  const auto overwritten = [&] {
    return behind() - std::min<std::uint64_t>(behind(), area_.ring_words);
  };
  if (overwritten() != 0) {
    position_ += overwritten();
    searches_ = true;
  }
  // Nobody drains a ring that overwrites.
  const bool drains = area_.mode == wire::GuestRingMode::kDrop;
  const std::uint64_t drained = drains ? (state_.tail - position_) & mask() : 0;
  if (drained != 0 && drained <= behind()) {
    position_ += drained;
    searches_ = false;
  }
  words_.resize(std::min<std::uint64_t>({behind(), kMostWords, budget}));
  budget -= words_.size();
  if (words_.empty()) return {};
  const std::uint64_t begin = position_ & (area_.ring_words - 1);
  const std::uint64_t until_end = std::min<std::uint64_t>(words_.size(), area_.ring_words - begin);
  const auto bytes = std::as_writable_bytes(std::span(words_));
  RINGSIDE_TRY(memory_.read({area_.ring_at(cpu_) + begin * 8}, bytes.first(until_end * 8)));
  RINGSIDE_TRY(memory_.read({area_.ring_at(cpu_)}, bytes.subspan(until_end * 8)));
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint64_t position = position_;
  RINGSIDE_TRY(read_state());
  if (position_ != position) {
    words_.clear();
    return {};
  }
  if (const std::uint64_t gone = std::min<std::uint64_t>(overwritten(), words_.size()); gone != 0) {
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(gone));
    position_ += gone;
    searches_ = true;
  }
  return {};
}

Result<void> RingReader::take(const Visit& visit, bool is_last, std::size_t& budget) {
  std::size_t at = 0;
  while (at < words_.size()) {
    std::size_t words = 0;
    if (const auto record = record_at(at, words)) {
      searches_ = false;
      note(*record);
      RINGSIDE_TRY(visit(*record, std::span(words_).subspan(at, words)));
      at += words;
      continue;
    }
    if (may_go_on(at)) break;
    if (!searches_ && is_patient(at, is_last)) break;
    searches_ = true;
    ++at;
    // The check of words that look like a record costs as much as reading them.
    budget -= std::min(budget, words);
    if (words != 0 && budget == 0) break;
  }
  if (at != 0) waits_ = 0;
  if (at == 0 && !words_.empty() && waited_at_ != head_) ++waits_;
  waited_at_ = head_;
  position_ += at;
  return {};
}

bool RingReader::may_go_on(std::size_t at) const {
  return words_.size() < behind() && at != 0 && words_.size() - at < wire::kMostGuestRecordWords;
}

bool RingReader::is_patient(std::size_t at, bool is_last) const {
  return !is_last && (at != 0 || waits_ < kPatience) && behind() - at < area_.ring_words / 2;
}

std::optional<wire::GuestRecord> RingReader::record_at(std::size_t at, std::size_t& words) const {
  words = wire::guest_record_words(words_[at]);
  if (words == 0 || words > words_.size() - at) return std::nullopt;
  auto record = wire::read_guest_record(std::span(words_).subspan(at, words));
  if (!record || record->cpu != cpu_ || !is_new(record->sequence)) return std::nullopt;
  return record;
}

// A record that the round before has left there was begun long ago, or was read already.
bool RingReader::is_new(std::uint32_t sequence) const {
  const std::int64_t whole = extended(sequence);
  if (whole >= extended(state_.begun)) return false;
  if (whole > last_) return true;
  const std::int64_t ago = last_ - whole;
  return ago < kMostNested && (recent_ >> ago & 1) == 0;
}

std::int64_t RingReader::extended(std::uint32_t sequence) const {
  const auto low = static_cast<std::uint32_t>(last_);
  return last_ + static_cast<std::int32_t>(sequence - low);
}

void RingReader::note(const wire::GuestRecord& record) {
  const std::int64_t whole = extended(record.sequence);
  ++read_;
  if (record.kind == wire::GuestRecordKind::kSample) ++read_samples_;
  if (whole < first_) ++read_before_;
  if (whole > last_) {
    const std::int64_t on = whole - last_;
    recent_ = on < kMostNested ? recent_ << on : 0;
    last_ = whole;
  }
  recent_ |= std::uint64_t{1} << (last_ - whole);
}

RingCounts RingReader::counts() const {
  RingCounts counts{.read = read_, .no_room = state_.lost - no_room_before_};
  std::int64_t end = std::max(last_ + 1, end_);
  if (area_.mode == wire::GuestRingMode::kDrop) end = std::max(end, extended(state_.begun));
  const std::uint64_t begun = static_cast<std::uint64_t>(end - first_) + read_before_;
  counts.missed = begun - std::min(begun, read_ + counts.no_room);
  const std::uint64_t samples = state_.samples - samples_before_;
  counts.lost_samples = std::min(samples - std::min(samples, read_samples_), counts.lost());
  counts += before_;
  return counts;
}

}  // namespace ringside::engines::ring
