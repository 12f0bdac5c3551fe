#include "importers/redox/ring_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace ringside::importers::redox {
namespace {

// A ring has a power of two of words. Parts of what was taken out of one rarely have.
constexpr std::size_t kLeastRing = 256;

bool is_size_of_ring(std::size_t words) {
  return words >= kLeastRing && std::has_single_bit(words);
}

// Calls `visit` with the counter of each sample, and the word behind the sample.
template <class Visit>
void for_each_counter(const RingWords& words, FindPiece find, PageRelease release, Visit visit) {
  RingSample sample;
  for (std::size_t at = 0; at < words.size();) {
    const Found found = find(words, at, sample);
    at += found.words;
    release.reach(at);
    if (found.piece == Piece::kSample) visit(sample.counter, at);
  }
}

// The first sample at `at` or behind it; the end where there is none.
std::size_t find_sample(const RingWords& words, FindPiece find, std::size_t at) {
  RingSample sample;
  while (at < words.size()) {
    const Found found = find(words, at, sample);
    if (found.piece == Piece::kSample) break;
    at += found.words;
  }
  return at;
}

// Where the newest sample ends in a ring's memory whose first and last samples have those counters,
// and the last is older. Up to there counters are not below `first`, and behind it not above
// `last`. Where some are damaged, it is the place where the fewest are otherwise. Nothing where
// more time is between the last and the first than between all the others: one of these two is
// damaged.
std::optional<std::size_t> find_seam(const RingWords& words, FindPiece find, PageRelease release,
                                     std::uint64_t first, std::uint64_t last) {
  std::int64_t balance = 0;
  std::int64_t best = 0;
  std::size_t seam = 0;
  std::uint64_t newest = first;
  std::uint64_t oldest = first;
  bool is_behind_seam = true;
  for_each_counter(words, find, release, [&](std::uint64_t counter, std::size_t end) {
    if (std::exchange(is_behind_seam, false)) oldest = counter;
    balance += (counter < first ? 1 : 0) - (counter > last ? 1 : 0);
    if (balance >= best) return;
    best = balance;
    seam = end;
    newest = counter;
    is_behind_seam = true;
  });
  if (is_behind_seam || newest < first || oldest > last) return std::nullopt;
  const std::uint64_t others = std::max(newest - first, last - oldest);
  return first - last <= others ? std::optional(seam) : std::nullopt;
}

}  // namespace

RingReader::RingReader(const Input& input, const RingFormat& format)
    : input_(input), format_(format), words_(input.bytes), release_(input) {
  find_order();
  has_ahead_ = read(ahead_);
  const std::size_t whole = words_.size() * RingWords::kBytes;
  if (whole != input.bytes.size()) faults_.add(whole, "it is no whole word of 8 bytes");
}

void RingReader::find_order() {
  const auto begin_at = [this](std::size_t word) {
    words_.begin_at(word);
    is_memory_ = true;
  };
  // A sample may lie at both ends of the ring's memory.
  if (is_size_of_ring(words_.size())) {
    const std::size_t begin = find_sample(words_, format_.find, 0);
    begin_at(begin < words_.size() ? begin : 0);
  }
  std::uint64_t samples = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  for_each_counter(words_, format_.find, PageRelease(input_),
                   [&](std::uint64_t counter, std::size_t) {
                     if (samples++ == 0) first = counter;
                     last = counter;
                   });
  if (last >= first) return;
  // The oldest sample's beginning may be overwritten.
  if (const auto seam = find_seam(words_, format_.find, PageRelease(input_), first, last))
    begin_at(find_sample(words_, format_.find, *seam));
}

const RingSample* RingReader::next() {
  if (!has_ahead_) return nullptr;
  std::swap(current_, ahead_);
  current_at_ = ahead_at_;
  has_ahead_ = read(ahead_);
  if (!has_ahead_ && is_memory_ && !format_.has_lengths) mend_newest(current_);
  mend_counter();
  return &current_;
}

bool RingReader::read(RingSample& sample) {
  while (at_ < words_.size()) {
    const std::size_t begin = at_;
    const Found found = format_.find(words_, begin, sample);
    at_ += found.words;
    release_.reach(at_);
    if (found.fault != nullptr) faults_.add(words_.offset_of(found.fault_at), found.fault);
    if (found.piece == Piece::kSample) {
      ahead_at_ = begin;
      behind_sample_ = at_;
      return true;
    }
    pass_over(found);
  }
  return false;
}

// at_ is behind the piece, which is no sample.
void RingReader::pass_over(const Found& found) {
  const std::size_t begin = at_ - found.words;
  const bool is_at_end = at_ == words_.size();
  if (found.piece == Piece::kUnused) {
    if (!is_at_end) faults_.add(words_.offset_of(begin), "words that are 0 between samples");
    return;
  }
  ++lost_;
  if (found.piece == Piece::kDamaged) return;
  // The end of one sample, and of one that it has overwritten.
  if ((begin == 0 || is_at_end) && found.words < 2 * kMostWords) return;
  faults_.add(words_.offset_of(begin), "words that are of no sample");
}

void RingReader::mend_newest(RingSample& sample) {
  // A time stamp is of the sample that was overwritten, and all before it is of this one. Where the
  // ring was not full yet, 0 follows.
  const bool is_end_known =
      behind_sample_ < words_.size() && is_user_address(words_[behind_sample_]);
  if (is_end_known || sample.callers.empty()) return;
  sample.callers.clear();
  sample.stop = StopReason::kTruncated;
  sample.stopped_at = {};
}

// One that is below the last is wrong, and so is one that is above the next, where that is not
// below the last.
void RingReader::mend_counter() {
  const bool is_below = !is_first_ && current_.counter < last_counter_;
  const bool is_above = has_ahead_ && current_.counter > ahead_.counter &&
                        (is_first_ || ahead_.counter >= last_counter_);
  if (is_below || is_above) {
    if (backwards_++ == 0) first_backwards_ = words_.offset_of(current_at_);
    current_.counter = is_first_ ? ahead_.counter : last_counter_;
  }
  is_first_ = false;
  last_counter_ = current_.counter;
}

std::vector<std::string> RingReader::warnings() const {
  std::vector<std::string> warnings;
  if (faults_.count() != 0) warnings.push_back(faults_.sentence(input_.name, "pieces"));
  if (backwards_ != 0)
    warnings.push_back(fmt::format(
        "{}: {} of the samples have the time of the one before, because their own is not between "
        "those beside them; the first is at offset {:#x}",
        input_.name, backwards_, first_backwards_));
  return warnings;
}

std::string RingReader::reason() const {
  if (faults_.count() != 0) return faults_.first();
  return input_.bytes.size() < RingWords::kBytes ? "it is shorter than a word"
                                                 : "offset 0x0: no word begins a sample";
}

}  // namespace ringside::importers::redox
