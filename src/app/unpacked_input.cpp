#include "app/unpacked_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/little_endian.h"
#include "base/zeros.h"
#include "disk_image/temporary_file.h"
#include "kernel_image/kernel_compression.h"

namespace ringside::app {
namespace {

using kernel_image::Compression;

constexpr std::size_t kMostStreams = 100'000;

// A file may become 256 MB, and another 100 bytes for each of its own, up to 1 GB.
std::size_t most_unpacked(std::size_t packed) {
  constexpr std::size_t kAlways = 256 << 20;
  constexpr std::size_t kMostRatio = 100;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  return packed > (kMost - kAlways) / kMostRatio ? kMost : kAlways + kMostRatio * packed;
}

// zstd's frames of anything else, which pzstd has in front of each of its own and seekable files at
// their end (RFC 8878, 3.1.2): a number from 0x184d2a50 to 0x184d2a5f, and the size of the rest.
Bytes behind_skippable(Bytes bytes) {
  constexpr std::size_t kHead = 8;
  while (bytes.size() >= kHead && load<std::uint32_t>(bytes, 0) >> 4 == 0x184d2a5) {
    const std::size_t size = load<std::uint32_t>(bytes, 4);
    if (size > bytes.size() - kHead) break;
    bytes = bytes.subspan(kHead + size);
  }
  return bytes;
}

// The two bytes of its mark may begin raw data: the method is deflate, and three flags are reserved
// (RFC 1952).
bool is_gzip_header(Bytes bytes) {
  return bytes.size() > 3 && bytes[2] == std::byte{8} &&
         (bytes[3] & std::byte{0xe0}) == std::byte{0};
}

// As their programs name the file that they make.
std::optional<Compression> packed_with(const importers::Input& input) {
  constexpr std::string_view kBlockOfBzip2 = "1AY&SY";  // behind "BZh9"
  const auto compression = kernel_image::compression_of(behind_skippable(input.bytes));
  if (compression == Compression::kXz || compression == Compression::kZstd) return compression;
  if (compression == Compression::kGzip)
    return is_gzip_header(input.bytes) ? compression : std::nullopt;
  const bool is_bzip2 = compression == Compression::kBzip2 && input.bytes.size() > 4 &&
                        input.text().substr(4).starts_with(kBlockOfBzip2);
  return is_bzip2 ? compression : std::nullopt;
}

bool is_read_as_it_is(const importers::Input& input) {
  const auto formats = importers::formats();
  return std::any_of(formats.begin(), formats.end(), [&](const importers::Format& format) {
    return format.has_mark && format.likeness(input, {}) != importers::Likeness::kNone;
  });
}

std::string too_much(std::size_t most) {
  return fmt::format("it holds more than {} MiB, or needs too much memory: unpack it by hand",
                     most >> 20);
}

std::string reason(const Error& error, std::size_t most) {
  return error.code == ErrorCode::kUnsupported ? too_much(most) : error.message;
}

tl::unexpected<Error> not_unpacked(const std::string& name, Compression compression,
                                   const std::string& why) {
  return fail(ErrorCode::kFormat, "{}: it is compressed with {} and cannot be unpacked: {}", name,
              kernel_image::name_of(compression), why);
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> unpacked(const importers::Input& input) {
  const auto compression = packed_with(input);
  if (!compression || is_read_as_it_is(input)) return nullptr;
  RINGSIDE_ASSIGN(const UniqueFd file, disk_image::make_temporary_file());
  const std::size_t most = most_unpacked(input.bytes.size());
  std::size_t left = most;
  Bytes rest = behind_skippable(input.bytes);
  // Programs that work on several processors write several streams. An empty one costs time, too.
  for (std::size_t streams = 0; !rest.empty() && kernel_image::compression_of(rest) == compression;
       ++streams) {
    if (streams == kMostStreams)
      return not_unpacked(input.name, *compression,
                          fmt::format("it has more than {} streams", kMostStreams));
    const auto stream =
        kernel_image::decompress_stream(*compression, rest, std::max<std::size_t>(left, 1));
    if (!stream) return not_unpacked(input.name, *compression, reason(stream.error(), most));
    if (stream->bytes.size() > left) return not_unpacked(input.name, *compression, too_much(most));
    RINGSIDE_TRY(write_all(file.get(), stream->bytes, "the unpacked " + input.name));
    left -= stream->bytes.size();
    rest = rest.subspan(stream->used);
    if (compression == Compression::kZstd) rest = behind_skippable(rest);
  }
  if (!is_zero(rest))
    return not_unpacked(input.name, *compression, "other bytes stand behind its end");
  return MappedFile::map(file.get(), input.name);
}

}  // namespace ringside::app
