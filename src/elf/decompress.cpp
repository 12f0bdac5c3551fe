#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>

#include "base/little_endian.h"
#include "elf/elf_file.h"
#include "elf/read_later.h"

// Compressed sections: gABI, "Section Compression" (a header Elf_Chdr, then zlib's or zstd's
// stream), and GNU's older ".zdebug_" ("ZLIB", the size in 8 bytes, big endian, then the stream).
// Not through libelf's elf_compress(): it writes into the file's own headers, which are mapped
// read-only.

namespace ringside::elf {
namespace {

struct Stream {
  std::uint32_t type = 0;  // ELFCOMPRESS_*
  std::uint64_t size = 0;  // when decompressed
  Bytes bytes;
};

template <class Chdr>
std::optional<Stream> gabi_stream(Bytes section) {
  if (section.size() < sizeof(Chdr)) return std::nullopt;
  const auto header = load<Chdr>(section);
  return Stream{header.ch_type, header.ch_size, section.subspan(sizeof header)};
}

std::optional<Stream> gnu_stream(Bytes section) {
  constexpr std::size_t kHeader = 12;
  if (section.size() < kHeader || std::memcmp(section.data(), "ZLIB", 4) != 0) return std::nullopt;
  std::uint64_t size = 0;
  for (std::size_t i = 4; i < kHeader; ++i)
    size = size << 8 | std::to_integer<std::uint64_t>(section[i]);
  return Stream{ELFCOMPRESS_ZLIB, size, section.subspan(kHeader)};
}

std::vector<std::byte> decompress(const Stream& stream) {
  constexpr std::uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, younger than glibc 2.36's elf.h
  // zlib cannot do better than 1032:1 (zlib.net/zlib_tech.html); of zstd we take no more.
  if (stream.size / 1032 > stream.bytes.size()) return {};
  std::vector<std::byte> result(stream.size);
  if (stream.type == ELFCOMPRESS_ZLIB) {
    uLongf size = result.size();
    if (uncompress(reinterpret_cast<Bytef*>(result.data()), &size,
                   reinterpret_cast<const Bytef*>(stream.bytes.data()),
                   stream.bytes.size()) == Z_OK &&
        size == result.size())
      return result;
  } else if (stream.type == kZstd) {
    if (ZSTD_decompress(result.data(), result.size(), stream.bytes.data(), stream.bytes.size()) ==
        result.size())
      return result;
  }
  return {};
}

}  // namespace

Bytes ElfFile::decompressed(std::size_t index) const {
  const std::lock_guard lock(read_later_->mutex);
  const auto [found, is_new] = read_later_->decompressed.try_emplace(index);
  if (is_new) {
    const SectionHeader& header = sections_[index];
    const Bytes bytes = slice(header.offset, header.size);
    const auto stream = (header.flags & SHF_COMPRESSED) == 0 ? gnu_stream(bytes)
                        : is_64_                             ? gabi_stream<Elf64_Chdr>(bytes)
                                                             : gabi_stream<Elf32_Chdr>(bytes);
    if (stream) found->second = decompress(*stream);
  }
  return found->second;
}

}  // namespace ringside::elf
