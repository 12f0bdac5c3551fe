#include "kernel_image/kernel_compression.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace ringside::kernel_image {
namespace {

// Output that grows as it is filled, up to a limit.
class Output {
 public:
  explicit Output(std::size_t limit) : limit_(limit) {}

  // Where the next bytes go; never empty.
  [[nodiscard]] Result<std::span<std::byte>> room() {
    if (used_ == bytes_.size()) {
      if (used_ >= limit_)
        return fail(ErrorCode::kUnsupported, "it holds more than {} MiB", limit_ >> 20);
      bytes_.resize(std::min(limit_, std::max<std::size_t>(std::size_t{1} << 20, used_ * 2)));
    }
    return std::span(bytes_).subspan(used_);
  }
  void add(std::size_t count) { used_ += count; }
  // `input`: bytes that the stream took.
  [[nodiscard]] Unpacked take(std::size_t input) {
    bytes_.resize(used_);
    return {std::move(bytes_), input};
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
  std::size_t limit_;
};

template <class T>
const T* input_of(Bytes bytes) {
  return reinterpret_cast<const T*>(bytes.data());
}
template <class T>
T* output_of(std::span<std::byte> room) {
  return reinterpret_cast<T*>(room.data());
}

template <class Size>
Size clamped(std::size_t size) {
  return static_cast<Size>(std::min<std::size_t>(size, std::size_t{1} << 30));
}

tl::unexpected<Error> damaged(std::size_t at) {
  return fail(ErrorCode::kFormat, "the stream is damaged or ends too early near its byte {:#x}",
              at);
}

Result<Unpacked> gunzip(Bytes bytes, std::size_t max_size) {
  z_stream stream{};
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return fail(ErrorCode::kIo, "zlib cannot start");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> guard(&stream, inflateEnd);
  Output output(max_size);
  stream.next_in = const_cast<Bytef*>(input_of<Bytef>(bytes));
  stream.avail_in = clamped<uInt>(bytes.size());
  for (int status = Z_OK; status != Z_STREAM_END;) {
    RINGSIDE_ASSIGN(const auto room, output.room());
    stream.next_out = output_of<Bytef>(room);
    stream.avail_out = clamped<uInt>(room.size());
    const uInt had = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) return damaged(stream.total_in);
    output.add(had - stream.avail_out);
  }
  return output.take(stream.total_in);
}

Result<Unpacked> bunzip2(Bytes bytes, std::size_t max_size) {
  bz_stream stream{};
  if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
    return fail(ErrorCode::kIo, "libbz2 cannot start");
  const std::unique_ptr<bz_stream, decltype(&BZ2_bzDecompressEnd)> guard(&stream,
                                                                         BZ2_bzDecompressEnd);
  Output output(max_size);
  stream.next_in = const_cast<char*>(input_of<char>(bytes));
  stream.avail_in = clamped<unsigned>(bytes.size());
  for (int status = BZ_OK; status != BZ_STREAM_END;) {
    RINGSIDE_ASSIGN(const auto room, output.room());
    stream.next_out = output_of<char>(room);
    stream.avail_out = clamped<unsigned>(room.size());
    const unsigned had_out = stream.avail_out;
    const unsigned had_in = stream.avail_in;
    status = BZ2_bzDecompress(&stream);
    const bool stuck = had_out == stream.avail_out && had_in == stream.avail_in;
    if ((status != BZ_OK && status != BZ_STREAM_END) || (status == BZ_OK && stuck))
      return damaged(bytes.size() - stream.avail_in);
    output.add(had_out - stream.avail_out);
  }
  return output.take(bytes.size() - stream.avail_in);
}

// xz with the kernel's filters (BCJ and LZMA2), or the older .lzma.
Result<Unpacked> unlzma(Bytes bytes, std::size_t max_size, bool xz) {
  constexpr std::uint64_t kMaxMemory = std::uint64_t{256} << 20;  // the kernel's build: 128 MiB
  lzma_stream stream = LZMA_STREAM_INIT;
  if ((xz ? lzma_stream_decoder(&stream, kMaxMemory, 0)
          : lzma_alone_decoder(&stream, kMaxMemory)) != LZMA_OK)
    return fail(ErrorCode::kIo, "liblzma cannot start");
  const std::unique_ptr<lzma_stream, decltype(&lzma_end)> guard(&stream, lzma_end);
  Output output(max_size);
  stream.next_in = input_of<std::uint8_t>(bytes);
  stream.avail_in = bytes.size();
  for (lzma_ret status = LZMA_OK; status != LZMA_STREAM_END;) {
    RINGSIDE_ASSIGN(const auto room, output.room());
    stream.next_out = output_of<std::uint8_t>(room);
    stream.avail_out = room.size();
    status = lzma_code(&stream, LZMA_FINISH);
    if (status == LZMA_MEMLIMIT_ERROR)
      return fail(ErrorCode::kUnsupported, "unpacking needs more than {} MiB", kMaxMemory >> 20);
    if (status != LZMA_OK && status != LZMA_STREAM_END)
      return damaged(bytes.size() - stream.avail_in);
    output.add(room.size() - stream.avail_out);
  }
  return output.take(bytes.size() - stream.avail_in);
}

Result<Unpacked> unzstd(Bytes bytes, std::size_t max_size) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
  if (!context) return fail(ErrorCode::kIo, "libzstd cannot start");
  // The kernel's build says "zstd -22 --ultra": windows of 128 MiB, libzstd's own limit.
  Output output(max_size);
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  while (true) {
    RINGSIDE_ASSIGN(const auto room, output.room());
    ZSTD_outBuffer to{room.data(), room.size(), 0};
    const std::size_t consumed = input.pos;
    const std::size_t status = ZSTD_decompressStream(context.get(), &to, &input);
    if (ZSTD_isError(status) != 0) return damaged(input.pos);
    output.add(to.pos);
    if (status == 0) return output.take(input.pos);
    if (to.pos == 0 && input.pos == consumed) return damaged(input.pos);
  }
}

}  // namespace

std::string_view name_of(Compression compression) {
  constexpr std::array<std::string_view, 7> kNames{"gzip", "bzip2", "lzma", "xz",
                                                   "lzo",  "lz4",   "zstd"};
  return kNames[static_cast<std::size_t>(compression)];
}

std::optional<Compression> compression_of(Bytes bytes) {
  struct Magic {
    std::string_view bytes;
    Compression compression;
  };
  using namespace std::string_view_literals;
  constexpr std::array<Magic, 7> kMagics{{{"\x1f\x8b"sv, Compression::kGzip},
                                          {"BZh"sv, Compression::kBzip2},
                                          {"\x5d\x00\x00"sv, Compression::kLzma},
                                          {"\xfd"
                                           "7zXZ\0"sv,
                                           Compression::kXz},
                                          {"\x89LZO\0"sv, Compression::kLzo},
                                          {"\x02\x21\x4c\x18"sv, Compression::kLz4},
                                          {"\x28\xb5\x2f\xfd"sv, Compression::kZstd}}};
  for (const Magic& magic : kMagics)
    if (bytes.size() >= magic.bytes.size() &&
        std::memcmp(bytes.data(), magic.bytes.data(), magic.bytes.size()) == 0)
      return magic.compression;
  return std::nullopt;
}

Result<Unpacked> decompress_stream(Compression compression, Bytes bytes, std::size_t max_size) {
  switch (compression) {
    case Compression::kGzip:
      return gunzip(bytes, max_size);
    case Compression::kBzip2:
      return bunzip2(bytes, max_size);
    case Compression::kLzma:
      return unlzma(bytes, max_size, false);
    case Compression::kXz:
      return unlzma(bytes, max_size, true);
    case Compression::kLzo:
      return decompress_lzop(bytes, max_size);
    case Compression::kLz4:
      return decompress_lz4_legacy(bytes, max_size);
    case Compression::kZstd:
      return unzstd(bytes, max_size);
  }
  return fail(ErrorCode::kUnsupported, "unknown compression");
}

Result<std::vector<std::byte>> decompress_kernel(Compression compression, Bytes bytes,
                                                 std::size_t max_size) {
  RINGSIDE_ASSIGN(Unpacked unpacked, decompress_stream(compression, bytes, max_size));
  return std::move(unpacked.bytes);
}

}  // namespace ringside::kernel_image
