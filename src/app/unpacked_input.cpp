#include "app/unpacked_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/zeros.h"
#include "disk_image/temporary_file.h"
#include "kernel_image/kernel_compression.h"

namespace ringside::app {
namespace {

using kernel_image::Compression;

// A file may become 256 MB, and another 100 bytes for each of its own, up to 1 GB.
std::size_t most_unpacked(std::size_t packed) {
  constexpr std::size_t kAlways = 256 << 20;
  constexpr std::size_t kMostRatio = 100;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  return packed > (kMost - kAlways) / kMostRatio ? kMost : kAlways + kMostRatio * packed;
}

// As their programs name the file that they make.
std::optional<Compression> packed_with(const importers::Input& input) {
  constexpr std::string_view kBlockOfBzip2 = "1AY&SY";  // behind "BZh9"
  const auto compression = kernel_image::compression_of(input.bytes);
  if (compression == Compression::kGzip || compression == Compression::kXz ||
      compression == Compression::kZstd)
    return compression;
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

std::string reason(const Error& error, std::size_t most) {
  if (error.code != ErrorCode::kUnsupported) return error.message;
  return fmt::format("it holds more than {} MiB, or needs too much memory: unpack it by hand",
                     most >> 20);
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
  Bytes rest = input.bytes;
  // Programs that work on several processors write several streams.
  while (!rest.empty() && kernel_image::compression_of(rest) == compression) {
    const auto stream = kernel_image::decompress_stream(*compression, rest, left);
    if (!stream) return not_unpacked(input.name, *compression, reason(stream.error(), most));
    RINGSIDE_TRY(write_all(file.get(), stream->bytes, "the unpacked " + input.name));
    left -= stream->bytes.size();
    rest = rest.subspan(stream->used);
  }
  if (!is_zero(rest))
    return not_unpacked(input.name, *compression, "other bytes stand behind its end");
  return MappedFile::map(file.get(), input.name);
}

}  // namespace ringside::app
