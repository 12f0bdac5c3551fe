#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recording/codec/decode.h"
#include "recording/id_map.h"
#include "recording/reader.h"

namespace ringside::recording {

inline constexpr std::uint64_t kMostBlobBytes = 512 << 20;

// Bounds on the contents of a hostile recording that its reader has to hold.
struct ReplayLimits {
  // Those of a file of so many bytes. A small file cannot hold large tables: text and read-only
  // data of Debian's 6.1 kernel (20.8 MB) compress to 38 %, by zstd at the writer's level.
  [[nodiscard]] static ReplayLimits of_file(std::uint64_t size) {
    constexpr std::uint64_t kAnyFile = 32 << 20;
    constexpr std::uint64_t kBestCompression = 32;
    ReplayLimits limits;
    limits.blob_bytes = std::min(kMostBlobBytes, kAnyFile + kBestCompression * size);
    return limits;
  }

  std::uint64_t blob_bytes = kMostBlobBytes;  // of all blobs together: readers keep them
  std::uint16_t depth = 512;                  // frames of a stack: the unwinder goes no further
};

// Hands the records of one block after the other to a visitor, and keeps the promise of Visitor:
// whatever was lost, an id that arrives there was given before. Contents beyond the limits are left
// out, and the visitor gets a sentence of it.
class Replay {
 public:
  explicit Replay(Visitor& visitor, ReplayLimits limits = {})
      : visitor_(visitor), limits_(limits) {}
  // Throws protozero::exception where the payload is no message; what stood before it was handed
  // on.
  void block(std::string_view payload);

 private:
  void frames(protozero::pbf_reader message);
  void stack_nodes(protozero::pbf_reader message);
  void sample(protozero::pbf_reader message);
  void blob_piece(const BlobPiece& piece);
  void resolve(StackRef& ref) const;
  void leave_out_once(bool& said, std::string_view text);

  Visitor& visitor_;
  ReplayLimits limits_;
  IdMap frame_ids_;
  IdMap node_ids_;
  std::uint32_t next_frame_ = 1;
  std::uint32_t next_node_ = 1;
  std::set<std::uint32_t> images_;
  std::set<std::uint32_t> mappings_;
  Sample sample_;
  std::optional<BlobPiece> blob_;  // that is being put together in blob_content_
  std::string blob_content_;
  std::uint64_t blob_bytes_ = 0;               // of all blobs that were handed on
  std::vector<std::uint16_t> node_depths_{0};  // by dense id: frames from the root
  bool said_deep_ = false;
  bool said_large_ = false;
};

}  // namespace ringside::recording
