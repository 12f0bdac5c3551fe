#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/byte_reader.h"
#include "base/result.h"

// The frame around the records: docs/recording-format.md, "File" and "Block".
namespace ringside::recording {

inline constexpr std::array<char, 8> kFileMagic = {'R', 'I', 'N', 'G', 'S', 'I', 'D', 'E'};
inline constexpr std::uint16_t kMajorVersion = 2;
inline constexpr std::uint16_t kOldestMajorVersion = 1;  // that is read
inline constexpr std::uint16_t kMinorVersion = 0;
inline constexpr std::size_t kFileHeaderSize = 16;

inline constexpr std::uint32_t kBlockMagic = 0x4b4c4252;  // "RBLK"
inline constexpr std::size_t kBlockHeaderSize = 32;
inline constexpr std::size_t kMaxBlockSize = 4 << 20;  // of a payload, stored and raw

enum class BlockKind : std::uint16_t {
  kRecords = 1,
  kEnd = 2,   // no payload: the writer finished
  kHead = 3,  // records with a header alone, which replaces the one before
};

struct BlockHeader {
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  std::uint32_t stored_size = 0;
  std::uint32_t raw_size = 0;
  std::uint64_t payload_hash = 0;
  std::uint32_t sequence = 0;  // 0, 1, 2, … modulo 2^32
};
inline constexpr std::uint16_t kFlagZstd = 1;

[[nodiscard]] std::string file_header(std::uint16_t major = kMajorVersion);

// Nothing where there is no whole header with a right check sum at the front of `bytes`, or it
// claims a size above kMaxBlockSize.
[[nodiscard]] std::optional<BlockHeader> parse_block_header(Bytes bytes);
[[nodiscard]] bool payload_is_intact(const BlockHeader& header, Bytes stored);

// Makes blocks; compresses where it pays.
class BlockEncoder {
 public:
  BlockEncoder();
  ~BlockEncoder();
  // The block's bytes; `raw` is at most kMaxBlockSize.
  [[nodiscard]] std::string encode(BlockKind kind, std::uint32_t sequence, std::string_view raw);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Undoes the compression. Memory stays below kMaxBlockSize whatever the bytes claim.
class BlockDecoder {
 public:
  BlockDecoder();
  ~BlockDecoder();
  // The raw payload; valid until the next call. `stored` must be intact.
  [[nodiscard]] Result<std::string_view> decode(const BlockHeader& header, Bytes stored);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::string buffer_;
};

}  // namespace ringside::recording
