#include "importers/parts/gzip_reader.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>

namespace ringside::importers {
namespace {

constexpr std::size_t kMostAtOnce = 1 << 30;  // zlib counts with 32 bits

uInt clamped(std::size_t size) { return static_cast<uInt>(std::min(size, kMostAtOnce)); }

}  // namespace

struct GzipReader::Stream {
  Stream() { is_open = ::inflateInit2(&state, 16 + MAX_WBITS) == Z_OK; }
  ~Stream() {
    if (is_open) ::inflateEnd(&state);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  z_stream state{};
  bool is_open = false;
};

bool is_gzip(Bytes bytes) {
  constexpr std::byte kMagic[] = {std::byte{0x1f}, std::byte{0x8b}, std::byte{8}};
  return bytes.size() >= sizeof kMagic && std::equal(kMagic, kMagic + 3, bytes.begin());
}

GzipReader::GzipReader(Bytes packed) : packed_(packed), stream_(std::make_unique<Stream>()) {
  if (!stream_->is_open) fault_ = "zlib cannot start: no memory";
}

GzipReader::~GzipReader() = default;

std::size_t GzipReader::read(std::span<std::byte> room) {
  z_stream& state = stream_->state;
  const uInt size = clamped(room.size());
  state.next_out = reinterpret_cast<Bytef*>(room.data());
  state.avail_out = size;
  while (state.avail_out == size && !is_done_ && fault_.empty()) {
    const Bytes rest = packed_.subspan(offset_);
    const uInt given = clamped(rest.size());
    // zlib does not write there.
    state.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest.data()));
    state.avail_in = given;
    const int status = ::inflate(&state, Z_NO_FLUSH);
    offset_ += given - state.avail_in;
    if (status == Z_STREAM_END)
      is_done_ = !is_gzip(packed_.subspan(offset_)) || ::inflateReset(&state) != Z_OK;
    else if (status == Z_BUF_ERROR && given == 0)
      fault_ = fmt::format("the compressed data ends too early, at offset {:#x}", offset_);
    else if (status != Z_OK)
      fault_ = fmt::format("the compressed data is damaged at offset {:#x}: {}", offset_,
                           state.msg != nullptr ? state.msg : "it cannot be unpacked");
  }
  return size - state.avail_out;
}

}  // namespace ringside::importers
