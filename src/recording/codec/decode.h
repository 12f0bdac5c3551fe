#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <vector>

#include "recording/codec/encode.h"
#include "recording/records.h"

// The inverse of encode.h: each takes the content of one record. Unknown fields are skipped, enum
// values of a newer writer become the nearest known one. They throw protozero::exception where the
// bytes are no message; the Reader catches it at the block.
namespace ringside::recording {

[[nodiscard]] Header decode_header(protozero::pbf_reader message);
[[nodiscard]] ImageInfo decode_image(protozero::pbf_reader message);
[[nodiscard]] Mapping decode_mapping(protozero::pbf_reader message);
void decode_sample(protozero::pbf_reader message, Sample& out);  // reuses out's memory
[[nodiscard]] GuestEpoch decode_epoch(protozero::pbf_reader message);
[[nodiscard]] ThreadName decode_thread_name(protozero::pbf_reader message);
[[nodiscard]] Event decode_event(protozero::pbf_reader message);
[[nodiscard]] wire::Capture decode_capture(protozero::pbf_reader message);
[[nodiscard]] Statistics decode_statistics(protozero::pbf_reader message);
[[nodiscard]] BlobPiece decode_blob_piece(protozero::pbf_reader message);

struct FrameBatch {
  std::uint32_t first_id = 0;
  std::vector<RecordedFrame> frames;
};
struct NodeBatch {
  std::uint32_t first_id = 0;
  std::vector<StackNode> nodes;
};
// Columns of unequal length are read as far as the shortest of those that are there.
[[nodiscard]] FrameBatch decode_frames(protozero::pbf_reader message);
[[nodiscard]] NodeBatch decode_nodes(protozero::pbf_reader message);

}  // namespace ringside::recording
