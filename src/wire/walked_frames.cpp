#include "wire/walked_frames.h"

#include <algorithm>

namespace ringside::wire {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// Words of a piece, one after the other; nothing behind its end.
class Words {
 public:
  explicit Words(Bytes bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> next() {
    if (bytes_.size() < kWord) return std::nullopt;
    const auto word = load<std::uint64_t>(bytes_);
    bytes_ = bytes_.subspan(kWord);
    return word;
  }
  [[nodiscard]] Bytes rest() const { return bytes_; }

 private:
  Bytes bytes_;
};

std::optional<WalkedFrames::Interruption> read_interruption(Words& words) {
  constexpr std::uint64_t kMostWords = 16;
  const auto head = words.next();
  const auto sp = words.next();
  const auto fp = words.next();
  if (!fp || *head >> 32 > kMostWords) return std::nullopt;
  WalkedFrames::Interruption read{.frame = *head & 0xffffffff, .sp = *sp, .fp = *fp, .words = {}};
  for (std::uint64_t left = *head >> 32; left != 0; --left) {
    const auto word = words.next();
    if (!word) return std::nullopt;
    read.words.push_back(*word);
  }
  return read;
}

}  // namespace

std::optional<WalkedFrames> WalkedFrames::find(const Capture& capture, PieceKind kind) {
  const auto piece = std::find_if(capture.pieces.begin(), capture.pieces.end(),
                                  [kind](const MemoryPiece& one) { return one.why == kind; });
  if (piece == capture.pieces.end() || piece->size % kWord != 0) return std::nullopt;
  Words words(capture.bytes_of(*piece));
  const auto stop = words.next();
  const auto count = words.next();
  if (!count || *stop >= kStopReasonCount) return std::nullopt;
  WalkedFrames found;
  found.stop_ = static_cast<StopReason>(*stop);
  for (std::uint64_t n = 0; n < *count; ++n) {
    auto interruption = read_interruption(words);
    if (!interruption) return std::nullopt;
    found.interruptions_.push_back(std::move(*interruption));
  }
  found.addresses_ = words.rest();
  if (found.addresses_.empty()) return std::nullopt;
  return found;
}

bool is_walked(const Capture& capture) {
  return std::any_of(capture.pieces.begin(), capture.pieces.end(), [](const MemoryPiece& piece) {
    return piece.why == PieceKind::kKernelFrames || piece.why == PieceKind::kUserFrames;
  });
}

GuestVirt WalkedFrames::at(std::size_t n) const {
  return GuestVirt{load<std::uint64_t>(addresses_, n * kWord)};
}

void add_walked_frames(PieceKind kind, const GuestFrames& frames, Capture& capture) {
  const auto offset = static_cast<std::uint32_t>(capture.bytes.size());
  append(static_cast<std::uint64_t>(frames.stop), kWord, capture.bytes);
  append(frames.interruption_count, kWord, capture.bytes);
  for (const std::uint64_t word : frames.interruptions) append(word, kWord, capture.bytes);
  for (const std::uint64_t address : frames.addresses) append(address, kWord, capture.bytes);
  const auto size = static_cast<std::uint32_t>(capture.bytes.size()) - offset;
  capture.pieces.push_back(
      {.address = {}, .why = kind, .requested = size, .offset = offset, .size = size});
}

}  // namespace ringside::wire
