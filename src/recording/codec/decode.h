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

// A sample of version 1, which says its unit.
struct OldSample {
  SampleInfo info;
  WeightUnit unit = WeightUnit::kTicks;
  std::vector<StackRef> stacks;
};

[[nodiscard]] Header decode_header(protozero::pbf_reader message);
[[nodiscard]] ImageInfo decode_image(protozero::pbf_reader message);
[[nodiscard]] Mapping decode_mapping(protozero::pbf_reader message);
[[nodiscard]] ImageFunction decode_image_function(protozero::pbf_reader message);
void decode_sample(protozero::pbf_reader message, OldSample& out);  // reuses out's memory
[[nodiscard]] Clock decode_clock(protozero::pbf_reader message);
[[nodiscard]] ClockTie decode_clock_tie(protozero::pbf_reader message);
[[nodiscard]] Source decode_source(protozero::pbf_reader message);
[[nodiscard]] EventType decode_event_type(protozero::pbf_reader message);
[[nodiscard]] EventBatch decode_event_batch(protozero::pbf_reader message);
[[nodiscard]] Snapshot decode_snapshot(protozero::pbf_reader message);
[[nodiscard]] CounterSet decode_counter_set(protozero::pbf_reader message);
[[nodiscard]] Mark decode_mark(protozero::pbf_reader message);
[[nodiscard]] CounterBatch decode_counter_batch(protozero::pbf_reader message);
// A batch without as many contexts as times, or with values or pauses of another count, is as long
// as its shortest column. Reuses out's memory.
void decode_sample_batch(protozero::pbf_reader message, SampleBatch& out);
[[nodiscard]] GuestEpoch decode_epoch(protozero::pbf_reader message);
[[nodiscard]] ThreadName decode_thread_name(protozero::pbf_reader message);
[[nodiscard]] wire::Capture decode_capture(protozero::pbf_reader message);
[[nodiscard]] Statistics decode_statistics(protozero::pbf_reader message);
[[nodiscard]] BlobPiece decode_blob_piece(protozero::pbf_reader message);

// Rows with the ids first_id, first_id + 1, …
template <class Row>
struct Batch {
  std::uint32_t first_id = 0;
  std::vector<Row> rows;
};
[[nodiscard]] Batch<std::string_view> decode_texts(protozero::pbf_reader message);
[[nodiscard]] Batch<Thread> decode_threads(protozero::pbf_reader message);
[[nodiscard]] Batch<StackList> decode_stack_lists(protozero::pbf_reader message);
[[nodiscard]] Batch<Context> decode_contexts(protozero::pbf_reader message);
// Nodes are read as far as both columns go.
[[nodiscard]] Batch<RecordedFrame> decode_frames(protozero::pbf_reader message);
[[nodiscard]] Batch<StackNode> decode_nodes(protozero::pbf_reader message);

}  // namespace ringside::recording
