#include "importers/pprof/unzipped.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

namespace ringside::importers::pprof {
namespace {

constexpr std::size_t kFirstRoom = 256 << 10;
constexpr std::size_t kMostAtOnce = 1 << 30;  // zlib counts with 32 bits

uInt clamped(std::size_t size) { return static_cast<uInt>(std::min(size, kMostAtOnce)); }

class Inflater {
 public:
  explicit Inflater(Bytes bytes) : in_(bytes) {}
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<Unzipped> run(std::size_t most) {
    constexpr int kGzip = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, kGzip) != Z_OK)
      return fail(ErrorCode::kIo, "zlib cannot start: no memory");
    Unzipped out;
    std::size_t size = 0;
    while (true) {
      if (size == out.bytes.size()) {
        if (size == most) {
          out.fault =
              fmt::format("only the first {} MiB of what is compressed are read", most >> 20);
          break;
        }
        out.bytes.resize(std::clamp(2 * size, std::min(kFirstRoom, most), most));
      }
      const int status = step(out.bytes, size);
      if (status == Z_STREAM_END && !next_member()) break;
      if (status == Z_STREAM_END || status == Z_OK) continue;
      out.fault = fmt::format("{} at offset {:#x}",
                              at_ == in_.size() ? "the compressed data ends too early"
                                                : "the compressed data is damaged",
                              at_);
      break;
    }
    out.bytes.resize(size);
    return out;
  }

 private:
  // Inflates into the room behind `size`.
  int step(std::vector<std::byte>& out, std::size_t& size) {
    // zlib reads it only.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in_.data() + at_));
    stream_.avail_in = clamped(in_.size() - at_);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream_.avail_out = clamped(out.size() - size);
    const uInt had_in = stream_.avail_in;
    const uInt had_out = stream_.avail_out;
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    at_ += had_in - stream_.avail_in;
    size += had_out - stream_.avail_out;
    return status;
  }

  bool next_member() { return is_gzip(in_.subspan(at_)) && ::inflateReset(&stream_) == Z_OK; }

  Bytes in_;
  std::size_t at_ = 0;
  z_stream stream_ = {};
};

}  // namespace

bool is_gzip(Bytes bytes) {
  constexpr std::byte kMagic[] = {std::byte{0x1f}, std::byte{0x8b}, std::byte{8}};
  return bytes.size() >= sizeof kMagic && std::equal(kMagic, kMagic + 3, bytes.begin());
}

Result<Unzipped> unzipped(Bytes bytes, std::size_t most) { return Inflater(bytes).run(most); }

}  // namespace ringside::importers::pprof
