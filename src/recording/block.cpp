#include "recording/block.h"

#include <xxhash.h>
#include <zstd.h>

#include <cstring>

namespace ringside::recording {
namespace {

constexpr std::size_t kCheckedHeaderSize = kBlockHeaderSize - sizeof(std::uint32_t);
constexpr std::size_t kWorthCompressing = 256;  // bytes
constexpr int kLevel = 3;

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

std::uint64_t hash_of(const void* data, std::size_t size) { return XXH3_64bits(data, size); }

}  // namespace

std::string file_header(std::uint16_t major) {
  std::string out(kFileMagic.data(), kFileMagic.size());
  put(out, major);
  put(out, kMinorVersion);
  put(out, std::uint32_t{0});
  return out;
}

std::optional<BlockHeader> parse_block_header(Bytes bytes) {
  if (bytes.size() < kBlockHeaderSize) return std::nullopt;
  ByteReader reader(bytes.first(kBlockHeaderSize));
  if (*reader.read<std::uint32_t>() != kBlockMagic) return std::nullopt;
  BlockHeader header;
  header.kind = *reader.read<std::uint16_t>();
  header.flags = *reader.read<std::uint16_t>();
  header.stored_size = *reader.read<std::uint32_t>();
  header.raw_size = *reader.read<std::uint32_t>();
  header.payload_hash = *reader.read<std::uint64_t>();
  header.sequence = *reader.read<std::uint32_t>();
  const auto check = *reader.read<std::uint32_t>();
  if (check != static_cast<std::uint32_t>(hash_of(bytes.data(), kCheckedHeaderSize)))
    return std::nullopt;
  if (header.stored_size > kMaxBlockSize || header.raw_size > kMaxBlockSize) return std::nullopt;
  return header;
}

bool payload_is_intact(const BlockHeader& header, Bytes stored) {
  return stored.size() == header.stored_size &&
         hash_of(stored.data(), stored.size()) == header.payload_hash;
}

struct BlockEncoder::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  std::string compressed;
  ~Context() { ZSTD_freeCCtx(zstd); }
};

BlockEncoder::BlockEncoder() : context_(std::make_unique<Context>()) {}
BlockEncoder::~BlockEncoder() = default;

std::string BlockEncoder::encode(BlockKind kind, std::uint32_t sequence, std::string_view raw) {
  std::string_view stored = raw;
  std::uint16_t flags = 0;
  if (raw.size() >= kWorthCompressing) {
    std::string& compressed = context_->compressed;
    compressed.resize(ZSTD_compressBound(raw.size()));
    const std::size_t size = ZSTD_compressCCtx(context_->zstd, compressed.data(), compressed.size(),
                                               raw.data(), raw.size(), kLevel);
    if (ZSTD_isError(size) == 0 && size < raw.size() - raw.size() / 8) {
      stored = std::string_view(compressed).substr(0, size);
      flags = kFlagZstd;
    }
  }
  std::string block;
  block.reserve(kBlockHeaderSize + stored.size());
  put(block, kBlockMagic);
  put(block, static_cast<std::uint16_t>(kind));
  put(block, flags);
  put(block, static_cast<std::uint32_t>(stored.size()));
  put(block, static_cast<std::uint32_t>(raw.size()));
  put(block, hash_of(stored.data(), stored.size()));
  put(block, sequence);
  put(block, static_cast<std::uint32_t>(hash_of(block.data(), kCheckedHeaderSize)));
  block.append(stored);
  return block;
}

struct BlockDecoder::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  ~Context() { ZSTD_freeDCtx(zstd); }
};

BlockDecoder::BlockDecoder() : context_(std::make_unique<Context>()) {}
BlockDecoder::~BlockDecoder() = default;

Result<std::string_view> BlockDecoder::decode(const BlockHeader& header, Bytes stored) {
  if ((header.flags & ~kFlagZstd) != 0)
    return fail(ErrorCode::kUnsupported, "unknown block flags {:#x}", header.flags);
  if ((header.flags & kFlagZstd) == 0)
    return std::string_view(reinterpret_cast<const char*>(stored.data()), stored.size());
  buffer_.resize(header.raw_size);
  const std::size_t size = ZSTD_decompressDCtx(context_->zstd, buffer_.data(), buffer_.size(),
                                               stored.data(), stored.size());
  if (ZSTD_isError(size) != 0)
    return fail(ErrorCode::kFormat, "cannot be decompressed: {}", ZSTD_getErrorName(size));
  if (size != header.raw_size)
    return fail(ErrorCode::kFormat, "{} bytes decompressed, {} promised", size, header.raw_size);
  return std::string_view(buffer_);
}

}  // namespace ringside::recording
