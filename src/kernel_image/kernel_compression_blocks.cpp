#include <lz4.h>
#include <lzo/lzo1x.h>

#include <algorithm>
#include <cstring>

#include "kernel_image/kernel_compression.h"

// Formats that are lists of blocks, each packed by itself.

namespace ringside::kernel_image {
namespace {

std::uint32_t swapped(std::uint32_t value) {
  return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
}

Result<std::uint32_t> read_big_endian(ByteReader& reader) {
  RINGSIDE_ASSIGN(const auto value, reader.read<std::uint32_t>());
  return swapped(value);
}

// Room for `size` more bytes at the end; nothing where that is past the limit.
Result<std::span<std::byte>> extend(std::vector<std::byte>& bytes, std::size_t size,
                                    std::size_t max_size) {
  const std::size_t used = bytes.size();
  if (size > max_size - used)
    return fail(ErrorCode::kUnsupported, "it holds more than {} MiB", max_size >> 20);
  bytes.resize(used + size);
  return std::span(bytes).subspan(used);
}

constexpr std::uint32_t kLz4Magic = 0x184c2102;
constexpr std::size_t kLz4Block = std::size_t{8} << 20;

// The most that the blocks of a stream can hold, at 255 bytes for each byte, as LZ4 can.
std::size_t most_unpacked(Bytes bytes) {
  constexpr std::size_t kMostRatio = 255;
  std::size_t most = 0;
  ByteReader reader(bytes);
  while (reader.remaining() > 4) {
    const auto size = reader.read<std::uint32_t>();
    if (!size || *size == kLz4Magic) continue;
    if (!reader.skip(*size)) break;
    most += std::min(kLz4Block, kMostRatio * *size);
  }
  return most;
}

}  // namespace

// `lz4 -l`, doc/lz4_Frame_format.md, "Legacy frame": a magic number, then blocks {size, bytes} of
// 8 MiB each when unpacked; ends with the input. A magic number may stand between blocks.
Result<Unpacked> decompress_lz4_legacy(Bytes bytes, std::size_t max_size) {
  std::vector<std::byte> result;
  result.reserve(std::min(most_unpacked(bytes), max_size));
  std::vector<std::byte> block(std::min(kLz4Block, max_size));
  ByteReader reader(bytes);
  // The kernel's build appends the unpacked size: 4 bytes that are no block.
  while (reader.remaining() > 4) {
    RINGSIDE_ASSIGN(const auto size, reader.read<std::uint32_t>());
    if (size == kLz4Magic) continue;
    const std::size_t at = reader.offset();
    RINGSIDE_ASSIGN(const Bytes packed, reader.read_bytes(size));
    if (size > std::size_t{LZ4_MAX_INPUT_SIZE})
      return fail(ErrorCode::kFormat, "a block of {:#x} bytes at {:#x}", size, at);
    const int count = LZ4_decompress_safe(
        reinterpret_cast<const char*>(packed.data()), reinterpret_cast<char*>(block.data()),
        static_cast<int>(packed.size()), static_cast<int>(block.size()));
    if (count < 0)
      return fail(ErrorCode::kFormat, "the stream is damaged in its block at {:#x}", at);
    RINGSIDE_ASSIGN(const auto room, extend(result, static_cast<std::size_t>(count), max_size));
    if (!room.empty()) std::memcpy(room.data(), block.data(), room.size());
    // Only the last block is shorter.
    if (static_cast<std::size_t>(count) < kLz4Block) break;
  }
  if (result.empty()) return fail(ErrorCode::kTruncated, "the stream ends before its first block");
  return Unpacked{std::move(result), reader.offset()};
}

// lzop's file format, as lib/decompress_unlzo.c (Linux 6.1) reads it: a header with a version,
// flags and a file name, then blocks {unpacked size, packed size, checksum, bytes} until a size of
// 0; all numbers big endian.
Result<Unpacked> decompress_lzop(Bytes bytes, std::size_t max_size) {
  constexpr std::size_t kMagicSize = 9;
  constexpr std::uint32_t kHasFilter = 0x800;
  constexpr std::uint16_t kLongHeaderVersion = 0x0940;
  constexpr std::uint32_t kMaxBlock = 64 << 20;  // lzop's own limit; the kernel takes 256 KiB
  ByteReader reader(bytes);
  RINGSIDE_TRY(reader.skip(kMagicSize));
  RINGSIDE_ASSIGN(const auto raw_version, reader.read<std::uint16_t>());
  const auto version = static_cast<std::uint16_t>(raw_version << 8 | raw_version >> 8);
  const bool long_header = version >= kLongHeaderVersion;
  // Version of the library, version needed, method; level.
  RINGSIDE_TRY(reader.skip(5 + (long_header ? 1 : 0)));
  RINGSIDE_ASSIGN(const auto flags, read_big_endian(reader));
  if ((flags & kHasFilter) != 0) RINGSIDE_TRY(reader.skip(4));
  RINGSIDE_TRY(reader.skip(8 + (long_header ? 4 : 0)));  // mode, time
  RINGSIDE_ASSIGN(const auto name_size, reader.read<std::uint8_t>());
  RINGSIDE_TRY(reader.skip(std::size_t{name_size} + 4));  // name, checksum of the header

  std::vector<std::byte> result;
  while (true) {
    RINGSIDE_ASSIGN(const auto size, read_big_endian(reader));
    if (size == 0) return Unpacked{std::move(result), reader.offset()};
    RINGSIDE_ASSIGN(const auto packed_size, read_big_endian(reader));
    RINGSIDE_TRY(reader.skip(4));  // checksum of the unpacked bytes
    const std::size_t at = reader.offset();
    RINGSIDE_ASSIGN(const Bytes packed, reader.read_bytes(packed_size));
    if (size > kMaxBlock || packed_size > size)
      return fail(ErrorCode::kFormat, "a block of {:#x} bytes at {:#x}", size, at);
    RINGSIDE_ASSIGN(const auto room, extend(result, size, max_size));
    if (packed_size == size) {
      std::memcpy(room.data(), packed.data(), packed.size());
      continue;
    }
    lzo_uint count = size;
    if (lzo1x_decompress_safe(reinterpret_cast<const unsigned char*>(packed.data()), packed.size(),
                              reinterpret_cast<unsigned char*>(room.data()), &count,
                              nullptr) != LZO_E_OK ||
        count != size)
      return fail(ErrorCode::kFormat, "the stream is damaged in its block at {:#x}", at);
  }
}

}  // namespace ringside::kernel_image
