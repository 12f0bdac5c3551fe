#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "recording/decode.h"
#include "recording/id_map.h"
#include "recording/reader.h"

namespace ringside::recording {

// Hands the records of one block after the other to a visitor, and keeps the promise of Visitor:
// whatever was lost, an id that arrives there was given before.
class Replay {
 public:
  explicit Replay(Visitor& visitor) : visitor_(visitor) {}
  // Throws protozero::exception where the payload is no message; what stood before it was handed
  // on.
  void block(std::string_view payload);

 private:
  void frames(protozero::pbf_reader message);
  void stack_nodes(protozero::pbf_reader message);
  void sample(protozero::pbf_reader message);
  void blob_piece(const BlobPiece& piece);
  void resolve(StackRef& ref) const;

  Visitor& visitor_;
  IdMap frame_ids_;
  IdMap node_ids_;
  std::uint32_t next_frame_ = 1;
  std::uint32_t next_node_ = 1;
  std::set<std::uint32_t> images_;
  std::set<std::uint32_t> mappings_;
  Sample sample_;
  std::optional<BlobPiece> blob_;  // that is being put together in blob_content_
  std::string blob_content_;
};

}  // namespace ringside::recording
