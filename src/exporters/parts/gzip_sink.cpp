#include "exporters/parts/gzip_sink.h"

#include <zlib.h>

#include <array>

namespace ringside::exporters {

struct GzipSink::State {
  z_stream stream = {};
  std::array<char, 1 << 16> buffer = {};
};

GzipSink::GzipSink(Sink& out) : out_(out), state_(std::make_unique<State>()) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr int kMemory = 8;
  // Fails only where there is no memory; deflate() reports it then.
  ::deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                 Z_DEFAULT_STRATEGY);
}

GzipSink::~GzipSink() { ::deflateEnd(&state_->stream); }

Result<void> GzipSink::write(std::string_view bytes) {
  return bytes.empty() ? Result<void>() : deflate(bytes, false);
}

Result<void> GzipSink::finish() { return deflate({}, true); }

Result<void> GzipSink::deflate(std::string_view bytes, bool is_last) {
  z_stream& stream = state_->stream;
  // zlib reads it only.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int status = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(state_->buffer.data());
    stream.avail_out = static_cast<uInt>(state_->buffer.size());
    status = ::deflate(&stream, is_last ? Z_FINISH : Z_NO_FLUSH);
    if (status == Z_STREAM_ERROR || status == Z_MEM_ERROR)
      return fail(ErrorCode::kIo, "cannot compress: no memory");
    RINGSIDE_TRY(out_.write({state_->buffer.data(), state_->buffer.size() - stream.avail_out}));
  } while (stream.avail_out == 0);
  return {};
}

}  // namespace ringside::exporters
