#include "wire/redox/ring_sample.h"

#include <algorithm>

namespace ringside::wire::redox {
namespace {

constexpr std::uint64_t kBit63 = std::uint64_t{1} << 63;

// Words that begin no sample, up to one that does. More zeros at their end than a sample may have
// are a piece of their own.
template <class Begins>
Found find_others(const RingWords& words, std::size_t at, Begins begins) {
  std::size_t end = at;
  std::size_t used = at;  // behind the last word that is not 0
  for (; end < words.size() && !begins(words[end]); ++end)
    if (words[end] != 0) used = end + 1;
  if (used == at) return {.piece = Piece::kUnused, .words = end - at};
  return {.piece = Piece::kLoose, .words = (end - used < kMostWords ? end : used) - at};
}

bool begins_a(std::uint64_t word) { return word < kBit63 && is_kernel_address(word | kBit63); }

bool is_frame_a(std::uint64_t word) { return (word & kBit63) != 0; }

// The words of the sample that begins with `word`; 0 if none does.
std::size_t length_b(std::uint64_t word) {
  constexpr std::uint64_t kMark = 0xfedfac00;
  const std::uint64_t count = word ^ kMark;
  return count >= 4 && count <= kMostWords ? static_cast<std::size_t>(count) : 0;
}

// Behind the words of the sample at `at` that are there: where the next one begins, a full ring had
// no room for the rest of this one.
std::size_t end_of_b(const RingWords& words, std::size_t at) {
  const std::size_t most = std::min(at + length_b(words[at]), words.size());
  std::size_t end = at + 1;
  while (end < most && !begins_sample_b(words[end])) ++end;
  return end;
}

void take_context(const RingWords& words, std::size_t at, RingSample& sample, Found& found) {
  constexpr std::uint64_t kNone = 0xffffffff;
  sample.context.reset();
  if (words[at] < kNone) {
    sample.context = static_cast<std::uint32_t>(words[at]);
  } else if (words[at] != kNone && words[at] != ~std::uint64_t{0}) {
    found.fault = "it is no context's id";
    found.fault_at = at;
  }
}

// Ends at a word that is no address, or is one of the kernel behind those of user code.
void take_callers_b(const RingWords& words, std::size_t at, std::size_t end, RingSample& sample,
                    Found& found) {
  bool in_user = sample.is_user();
  for (; at < end; ++at) {
    const std::uint64_t word = words[at];
    in_user = in_user || is_user_address(word);
    if (!(in_user ? is_user_address(word) : is_kernel_address(word))) {
      sample.stop = StopReason::kBadAddress;
      sample.stopped_at = {word};
      found.fault = "it is no return address";
      found.fault_at = at;
      return;
    }
    sample.callers.push_back({word});
  }
}

}  // namespace

bool begins_sample_b(std::uint64_t word) { return length_b(word) != 0; }

Found find_piece_a(const RingWords& words, std::size_t at, RingSample& sample) {
  if (!begins_a(words[at])) return find_others(words, at, begins_a);
  // A counter that does not count, or the address of a frame or of another sample.
  const bool has_counter = at + 1 < words.size() && words[at + 1] != 0 &&
                           !begins_a(words[at + 1]) && !is_frame_a(words[at + 1]);
  if (!has_counter)
    return {Piece::kDamaged, 1, "a time stamp should follow the address of the code that ran", at};
  sample.pc = {words[at] | kBit63};
  sample.counter = words[at + 1];
  sample.context.reset();
  sample.callers.clear();
  sample.stop = StopReason::kEndOfStack;
  Found found{.piece = Piece::kSample};
  const std::size_t most = std::min(at + kMostWords, words.size());
  std::size_t end = at + 2;
  for (; end < most && is_frame_a(words[end]); ++end) {
    if (found.fault != nullptr) continue;
    if (is_kernel_address(words[end])) {
      sample.callers.push_back({words[end]});
      continue;
    }
    sample.stop = StopReason::kBadAddress;
    sample.stopped_at = {words[end]};
    found.fault = "it is no return address";
    found.fault_at = end;
  }
  found.words = end - at;
  if (found.fault == nullptr && found.words == kMostWords) sample.stop = StopReason::kTooDeep;
  return found;
}

Found find_piece_b(const RingWords& words, std::size_t at, RingSample& sample) {
  if (!begins_sample_b(words[at])) return find_others(words, at, begins_sample_b);
  constexpr std::size_t kHead = 4;
  const std::size_t length = length_b(words[at]);
  const std::size_t end = end_of_b(words, at);
  Found found{.piece = Piece::kSample, .words = end - at};
  if (found.words < kHead) return {Piece::kDamaged, found.words, "a sample is cut", at};
  sample.pc = {words[at + 1]};
  if (!is_kernel_address(sample.pc.value) && !is_user_address(sample.pc.value))
    return {Piece::kDamaged, found.words, "it is no address of code", at + 1};
  sample.counter = words[at + 2];
  take_context(words, at + 3, sample, found);
  sample.callers.clear();
  sample.stop = found.words < length   ? StopReason::kTruncated
                : length == kMostWords ? StopReason::kTooDeep
                                       : StopReason::kEndOfStack;
  sample.stopped_at = {};
  take_callers_b(words, at + kHead, end, sample, found);
  // The return address of a program's first function is 0. More of them are words that were not
  // written yet.
  std::size_t zeros = 0;
  for (; !sample.callers.empty() && sample.callers.back().value == 0; ++zeros)
    sample.callers.pop_back();
  if (zeros > 1) sample.stop = StopReason::kTruncated;
  return found;
}

}  // namespace ringside::wire::redox
