#include "importers/parts/json_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "importers/parts/gzip_reader.h"

namespace ringside::importers {
namespace {

constexpr std::size_t kPiece = 64 << 10;         // of text
constexpr std::size_t kReleaseAfter = 64 << 20;  // bytes of the file

}  // namespace

struct JsonInput::Unpacked {
  explicit Unpacked(Bytes packed) : reader(packed) {}

  GzipReader reader;
  std::array<std::byte, kPiece> text;
};

JsonInput::JsonInput(const Input& input)
    : input_(input),
      longest_(std::clamp(kLongestByFile * input.bytes.size(), kAlwaysLong, kLongestValue)) {
  if (is_gzip(input.bytes)) unpacked_ = std::make_unique<Unpacked>(input.bytes);
}

JsonInput::~JsonInput() = default;

std::string JsonInput::place(std::uint64_t offset) const {
  return fmt::format("offset {:#x}{}", offset, unpacked_ ? " of the unpacked text" : "");
}

bool JsonInput::refill() {
  if (!failure_.empty()) return false;
  before_ = offset();
  begin_ = at_ = end_ = nullptr;
  if (before_ - last_value_ > longest_) {
    failure_ =
        fmt::format("the value at {} is longer than {} MiB", place(last_value_), longest_ >> 20);
    return false;
  }
  release_now_and_then();
  return unpacked_ ? next_unpacked() : next_plain();
}

void JsonInput::release_now_and_then() {
  if (!input_.release || read_ - released_ < kReleaseAfter) return;
  input_.release();
  released_ = read_;
}

bool JsonInput::next_plain() {
  const std::string_view piece = input_.text().substr(read_, kPiece);
  begin_ = at_ = piece.data();
  end_ = begin_ + piece.size();
  read_ += piece.size();
  return !piece.empty();
}

bool JsonInput::next_unpacked() {
  GzipReader& reader = unpacked_->reader;
  const std::size_t size = reader.read(unpacked_->text);
  read_ = reader.offset();
  failure_ = reader.fault();
  begin_ = at_ = reinterpret_cast<const char*>(unpacked_->text.data());
  end_ = begin_ + size;
  if (before_ > kAlwaysUnpacked && (before_ - kAlwaysUnpacked) / kMostRatio > read_) {
    failure_ = fmt::format("{} bytes unpack to more than {} MiB", read_, before_ >> 20);
    end_ = begin_;
  }
  return at_ != end_;
}

std::string json_beginning(const Input& input, std::size_t bytes) {
  JsonInput text(input);
  std::string beginning;
  while (beginning.size() < bytes && !text.at_end()) {
    beginning += text.current();
    text.advance();
  }
  return beginning;
}

}  // namespace ringside::importers
