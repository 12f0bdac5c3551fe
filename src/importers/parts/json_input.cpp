#include "importers/parts/json_input.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>

namespace ringside::importers {
namespace {

constexpr std::size_t kPiece = 64 << 10;         // of text
constexpr std::size_t kReleaseAfter = 64 << 20;  // bytes of the file
constexpr int kGzipOnly = 16 + MAX_WBITS;

bool is_gzip(Bytes bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

}  // namespace

struct JsonInput::Inflater {
  Inflater() { is_open = inflateInit2(&stream, kGzipOnly) == Z_OK; }
  ~Inflater() {
    if (is_open) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  bool is_open = false;
  bool is_done = false;
  std::array<char, kPiece> text;
};

JsonInput::JsonInput(const Input& input) : input_(input) {
  if (is_gzip(input.bytes)) inflater_ = std::make_unique<Inflater>();
}

JsonInput::~JsonInput() = default;

std::string JsonInput::place(std::uint64_t offset) const {
  return fmt::format("offset {:#x}{}", offset, inflater_ ? " of the unpacked text" : "");
}

bool JsonInput::refill() {
  if (!failure_.empty()) return false;
  before_ = offset();
  begin_ = at_ = end_ = nullptr;
  if (before_ - last_value_ > kLongestValue) {
    failure_ = fmt::format("the value at {} is longer than {} MiB", place(last_value_),
                           kLongestValue >> 20);
    return false;
  }
  release_now_and_then();
  return inflater_ ? next_unpacked() : next_plain();
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
  Inflater& inflater = *inflater_;
  z_stream& stream = inflater.stream;
  if (!inflater.is_open) failure_ = "zlib cannot start";
  stream.next_out = reinterpret_cast<Bytef*>(inflater.text.data());
  stream.avail_out = kPiece;
  while (failure_.empty() && stream.avail_out == kPiece && !inflater.is_done) {
    const Bytes rest = input_.bytes.subspan(read_);
    const auto given = static_cast<uInt>(std::min(rest.size(), kPiece));
    // zlib does not write there.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest.data()));
    stream.avail_in = given;
    const int status = inflate(&stream, Z_NO_FLUSH);
    read_ += given - stream.avail_in;
    if (status == Z_STREAM_END) {  // another member may follow
      inflater.is_done = !is_gzip(input_.bytes.subspan(read_));
      if (!inflater.is_done) inflateReset(&stream);
    } else if (status == Z_BUF_ERROR && given == 0) {
      failure_ = fmt::format("the compressed file ends too early, at offset {:#x}", read_);
    } else if (status != Z_OK) {
      failure_ = fmt::format("the file cannot be unpacked at offset {:#x}: {}", read_,
                             stream.msg != nullptr ? stream.msg : "damaged data");
    }
  }
  begin_ = at_ = inflater.text.data();
  end_ = begin_ + (kPiece - stream.avail_out);
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
