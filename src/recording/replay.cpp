#include "recording/replay.h"

#include <fmt/format.h>

#include <utility>

#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

constexpr std::uint64_t kMaxBlobSize = 256 << 20;  // bytes

std::uint32_t known_or_zero(const std::set<std::uint32_t>& known, std::uint32_t id) {
  return known.count(id) != 0 ? id : 0;
}

}  // namespace

void Replay::block(std::string_view payload) {
  namespace f = fields::records;
  protozero::pbf_reader records(payload.data(), payload.size());
  while (records.next()) {
    if (records.wire_type() != protozero::pbf_wire_type::length_delimited) {
      records.skip();
      continue;
    }
    switch (records.tag()) {
      case f::kImage: {
        const ImageInfo image = decode_image(records.get_message());
        images_.insert(image.id);
        visitor_.image(image);
        break;
      }
      case f::kMapping: {
        Mapping mapping = decode_mapping(records.get_message());
        mapping.image = known_or_zero(images_, mapping.image);
        mappings_.insert(mapping.id);
        visitor_.mapping(mapping);
        break;
      }
      case f::kFrames:
        frames(records.get_message());
        break;
      case f::kStackNodes:
        stack_nodes(records.get_message());
        break;
      case f::kSample:
        sample(records.get_message());
        break;
      case f::kEpoch:
        visitor_.epoch(decode_epoch(records.get_message()));
        break;
      case f::kBlobPiece:
        blob_piece(decode_blob_piece(records.get_message()));
        break;
      case f::kEvent: {
        Event event = decode_event(records.get_message());
        resolve(event.stack);
        visitor_.event(event);
        break;
      }
      case f::kThreadName:
        visitor_.thread_name(decode_thread_name(records.get_message()));
        break;
      case f::kCapture:
        visitor_.capture(decode_capture(records.get_message()));
        break;
      case f::kStatistics:
        visitor_.statistics(decode_statistics(records.get_message()));
        break;
      case f::kWarning: {
        const protozero::data_view text = records.get_view();
        visitor_.warning({text.data(), text.size()});
        break;
      }
      default:
        records.skip();
    }
  }
}

void Replay::frames(protozero::pbf_reader message) {
  FrameBatch batch = decode_frames(message);
  if (!frame_ids_.begin_batch(batch.first_id)) return;
  for (RecordedFrame& frame : batch.frames) {
    frame.image = known_or_zero(images_, frame.image);
    frame.mapping = known_or_zero(mappings_, frame.mapping);
    frame_ids_.add(next_frame_);
    visitor_.frame(next_frame_++, frame);
  }
}

void Replay::stack_nodes(protozero::pbf_reader message) {
  const NodeBatch batch = decode_nodes(message);
  if (!node_ids_.begin_batch(batch.first_id)) return;
  for (const StackNode& stored : batch.nodes) {
    const auto frame = frame_ids_.find(stored.frame);
    const auto parent =
        stored.parent == 0 ? std::optional<std::uint32_t>(0) : node_ids_.find(stored.parent);
    // A stack that lacks a frame in its middle is no stack.
    if (!frame || !parent || *parent == kLostStack) {
      node_ids_.add(kLostStack);
      continue;
    }
    if (node_depths_[*parent] == limits_.depth) {
      leave_out_once(said_deep_,
                     fmt::format("stacks of more than {} frames are left out: no ringside "
                                 "has recorded them",
                                 limits_.depth));
      node_ids_.add(kLostStack);
      continue;
    }
    node_depths_.push_back(static_cast<std::uint16_t>(node_depths_[*parent] + 1));
    node_ids_.add(next_node_);
    visitor_.stack_node(next_node_++, {*parent, *frame});
  }
}

void Replay::leave_out_once(bool& said, std::string_view text) {
  if (!std::exchange(said, true)) visitor_.left_out(text);
}

void Replay::resolve(StackRef& ref) const {
  if (ref.node != 0) ref.node = node_ids_.find(ref.node).value_or(kLostStack);
}

void Replay::sample(protozero::pbf_reader message) {
  decode_sample(message, sample_);
  for (StackRef& ref : sample_.stacks) resolve(ref);
  visitor_.sample(sample_);
}

void Replay::blob_piece(const BlobPiece& piece) {
  if (piece.offset == 0) {
    blob_ = piece;
    blob_content_.clear();
  }
  // A piece that does not continue the last one follows a lost one: the blob is lost.
  if (!blob_ || piece.kind != blob_->kind || piece.total_size != blob_->total_size ||
      piece.offset != blob_content_.size() || piece.total_size > kMaxBlobSize ||
      piece.content.size() > piece.total_size - piece.offset) {
    blob_.reset();
    return;
  }
  if (piece.total_size > limits_.blob_bytes - blob_bytes_) {
    leave_out_once(said_large_,
                   fmt::format("images beyond {} MB are left out: their functions have no "
                               "names",
                               limits_.blob_bytes >> 20));
    blob_.reset();
    return;
  }
  blob_content_.append(piece.content);
  if (blob_content_.size() < piece.total_size) return;
  blob_bytes_ += piece.total_size;
  visitor_.blob({piece.kind, known_or_zero(images_, piece.image), as_bytes(blob_content_)});
  blob_.reset();
  blob_content_.clear();
}

}  // namespace ringside::recording
