#include "recording/replay.h"

#include <fmt/core.h>

#include <utility>

#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

constexpr std::uint64_t kMaxBlobSize = 256 << 20;  // bytes
constexpr std::size_t kMostSources = 1024;

// Stands for one whose record is lost.
Source lost_source(std::uint32_t id) {
  Source source = cpu_source({});
  if (id == kCpuSource) return source;
  source.id = id;
  source.name = fmt::format("source {}", id);
  source.kind = SourceKind::kOther;
  source.values = {{"count", WeightUnit::kCount, 1}};
  return source;
}

}  // namespace

void Replay::block(std::string_view payload, std::span<SampleBatch> decoded) {
  decoded_ = decoded;
  raw_bytes_ += payload.size();
  if (raw_bytes_ > limits_.raw_bytes ||
      raw_bytes_ - payload.size() - blob_raw_bytes_ > limits_.table_bytes) {
    leave_out_once(said_raw_,
                   fmt::format("records beyond {} MB are left out: no recording of this size has "
                               "as many",
                               limits_.table_bytes >> 20));
    return;
  }
  all_texts(payload);
  protozero::pbf_reader records(payload.data(), payload.size());
  while (records.next())
    if (records.wire_type() == protozero::pbf_wire_type::length_delimited)
      record(records);
    else
      records.skip();
}

// A record may stand before its text: protobuf orders fields by their numbers.
void Replay::all_texts(std::string_view payload) {
  try {
    protozero::pbf_reader records(payload.data(), payload.size());
    while (records.next(fields::records::kTexts, protozero::pbf_wire_type::length_delimited))
      texts(records.get_message());
  } catch (const protozero::exception&) {
    // The records behind that are not read, either, and block() says so.
  }
}

void Replay::record(protozero::pbf_reader& records) {
  namespace f = fields::records;
  switch (records.tag()) {
    case f::kHeader:  // the Reader has it
    case f::kTexts:
      records.skip();
      break;
    case f::kImage: {
      const ImageInfo image = decode_image(records.get_message());
      images_.insert(image.id);
      visitor_.image(image);
      break;
    }
    case f::kMapping: {
      Mapping mapping = decode_mapping(records.get_message());
      mapping.image = known_image(mapping.image);
      mappings_.insert(mapping.id);
      visitor_.mapping(mapping);
      break;
    }
    case f::kImageFunction: {
      ImageFunction function = decode_image_function(records.get_message());
      function.image = known_image(function.image);
      // A reader has each in four tables, and its name three times.
      if (function.image != 0 && may_add_entry(4 + function.name.size() / 16))
        visitor_.function(function);
      break;
    }
    case f::kFrames:
      frames(records.get_message());
      break;
    case f::kStackNodes:
      stack_nodes(records.get_message());
      break;
    case f::kSource:
      (void)add(decode_source(records.get_message()));
      break;
    case f::kClock:
      visitor_.clock(decode_clock(records.get_message()));
      break;
    case f::kClockTie:
      visitor_.clock_tie(decode_clock_tie(records.get_message()));
      break;
    case f::kEpoch:
      visitor_.epoch(decode_epoch(records.get_message()));
      break;
    case f::kBlobPiece:
      blob_piece(decode_blob_piece(records.get_message()));
      break;
    case f::kThreadName:
      visitor_.thread_name(decode_thread_name(records.get_message()));
      break;
    case f::kCapture:
      visitor_.capture(decode_capture(records.get_message()));
      break;
    case f::kStatistics:
      statistics(decode_statistics(records.get_message()));
      break;
    case f::kWarning: {
      const protozero::data_view text = records.get_view();
      visitor_.warning({text.data(), text.size()});
      break;
    }
    default:
      if (is_old_ ? old_record(records) : new_record(records)) break;
      leave_out_once(said_unknown_,
                     fmt::format("records of kinds that this ringside does not have, such as {}, "
                                 "are left out: a later ringside reads them",
                                 records.tag()));
      records.skip();
  }
}

bool Replay::old_record(protozero::pbf_reader& records) {
  if (records.tag() != fields::records::kSample) return false;
  old_.add(records.get_message(), *this);
  return true;
}

bool Replay::new_record(protozero::pbf_reader& records) {
  namespace f = fields::records;
  switch (records.tag()) {
    case f::kSampleBatch:
      sample_batch(records.get_message());
      return true;
    case f::kContexts:
      contexts(records.get_message());
      return true;
    case f::kStackLists:
      stack_lists(records.get_message());
      return true;
    case f::kThreads:
      threads(records.get_message());
      return true;
    case f::kEventType:
      event_type(records.get_message());
      return true;
    case f::kEventBatch:
      event_batch(records.get_message());
      return true;
    case f::kSnapshot: {
      const Snapshot snapshot = decode_snapshot(records.get_message());
      if (snapshots_.insert(snapshot.id).second && may_add_entry()) visitor_.snapshot(snapshot);
      return true;
    }
    case f::kCounterSet:
      counter_set(records.get_message());
      return true;
    case f::kMark: {
      const Mark mark = decode_mark(records.get_message());
      if (marks_.insert(mark.id).second && may_add_entry()) visitor_.mark(mark);
      return true;
    }
    case f::kCounterBatch:
      counter_batch(records.get_message());
      return true;
    default:
      return false;
  }
}

bool Replay::may_add_entry(std::uint64_t size) {
  if (size <= limits_.entries - entries_) {
    entries_ += size;
    return true;
  }
  leave_out_once(said_entries_,
                 fmt::format("stacks and threads beyond {} entries are left out: no recording of "
                             "this size has as many",
                             limits_.entries));
  return false;
}

void Replay::frames(protozero::pbf_reader message) {
  Batch<RecordedFrame> batch = decode_frames(message);
  if (!frame_ids_.begin_batch(batch.first_id)) return;
  for (RecordedFrame& frame : batch.rows) {
    if (!may_add_entry()) return;
    frame.image = known_image(frame.image);
    frame.mapping = known_mapping(frame.mapping);
    frame.function = text_or_zero(frame.function);
    frame.file = text_or_zero(frame.file);
    frame_ids_.add(next_frame_);
    visitor_.frame(next_frame_++, frame);
  }
}

void Replay::stack_nodes(protozero::pbf_reader message) {
  const Batch<StackNode> batch = decode_nodes(message);
  if (!node_ids_.begin_batch(batch.first_id)) return;
  for (const StackNode& stored : batch.rows) {
    const auto frame = frame_ids_.find(stored.frame);
    const auto parent =
        stored.parent == 0 ? std::optional<std::uint32_t>(0) : node_ids_.find(stored.parent);
    if (!may_add_entry()) return;
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

void Replay::texts(protozero::pbf_reader message) {
  constexpr std::uint64_t kBytesPerEntry = 16;
  const Batch<std::string_view> batch = decode_texts(message);
  if (!text_ids_.begin_batch(batch.first_id)) return;
  for (const std::string_view text : batch.rows) {
    if (!may_add_entry(1 + text.size() / kBytesPerEntry)) return;
    text_ids_.add(next_text_);
    visitor_.text(next_text_++, text);
  }
}

void Replay::threads(protozero::pbf_reader message) {
  const Batch<Thread> batch = decode_threads(message);
  if (!thread_ids_.begin_batch(batch.first_id)) return;
  for (const Thread& thread : batch.rows) {
    if (!may_add_entry()) return;
    thread_ids_.add(add(thread));
  }
}

void Replay::stack_lists(protozero::pbf_reader message) {
  Batch<StackList> batch = decode_stack_lists(message);
  if (!list_ids_.begin_batch(batch.first_id)) return;
  for (StackList& list : batch.rows) {
    if (!may_add_entry()) return;
    resolve(list.stack);
    if (list.rest != 0) list.rest = list_ids_.find(list.rest).value_or(lost_stacks());
    if (list_sizes_[list.rest] == kMostStacks) list.rest = 0;
    list_ids_.add(add(list));
  }
}

void Replay::contexts(protozero::pbf_reader message) {
  Batch<Context> batch = decode_contexts(message);
  if (!context_ids_.begin_batch(batch.first_id)) return;
  for (Context& context : batch.rows) {
    if (!may_add_entry()) return;
    context.thread = thread_ids_.find(context.thread).value_or(0);
    context.waits_for = text_or_zero(context.waits_for);
    const auto stacks =
        context.stacks == 0 ? std::optional<std::uint32_t>(0) : list_ids_.find(context.stacks);
    context.stacks = stacks ? *stacks : lost_stacks();
    context_ids_.add(add(context));
  }
}

SampleBatch& Replay::decoded_batch(protozero::pbf_reader message) {
  if (decoded_.empty()) {
    decode_sample_batch(message, batch_);
    return batch_;
  }
  SampleBatch& batch = decoded_.front();
  decoded_ = decoded_.subspan(1);
  return batch;
}

void Replay::sample_batch(protozero::pbf_reader message) {
  SampleBatch& batch = decoded_batch(message);
  if (batch.source == 0) batch.source = kCpuSource;  // a batch has a source
  if (sources_.count(batch.source) == 0 && !add(lost_source(batch.source))) return;
  resolve_contexts(batch.contexts);
  add(batch);
}

void Replay::resolve_contexts(std::vector<std::uint32_t>& ids) {
  for (std::uint32_t& id : ids) {
    const auto known = context_ids_.find(id);
    id = known ? *known : lost_context();
  }
}

std::uint32_t Replay::add(const Thread& thread) {
  visitor_.thread(next_thread_, thread);
  return next_thread_++;
}

std::uint32_t Replay::add(const StackList& list) {
  list_sizes_.push_back(static_cast<std::uint8_t>(list_sizes_[list.rest] + 1));
  visitor_.stack_list(next_list_, list);
  return next_list_++;
}

std::uint32_t Replay::add(const Context& context) {
  visitor_.context(next_context_, context);
  return next_context_++;
}

bool Replay::add(const Source& source) {
  if (source.id == 0) return false;
  if (sources_.count(source.id) != 0) return true;
  if (sources_.size() == kMostSources) {
    leave_out_once(said_sources_, fmt::format("sources beyond {} are left out: no recording has "
                                              "as many",
                                              kMostSources));
    return false;
  }
  sources_.insert(source.id);
  counts_.add(source);
  visitor_.source(source);
  return true;
}

std::uint32_t Replay::lost_stacks() {
  if (lost_stacks_ == 0)
    lost_stacks_ = add(StackList{{kLostStack, StopReason::kNoRule, {}, {}}, 0});
  return lost_stacks_;
}

std::uint32_t Replay::lost_context() {
  if (lost_context_ != 0) return lost_context_;
  Context context;
  context.vcpu = kNoVcpu;
  context.stacks = lost_stacks();
  return lost_context_ = add(context);
}

bool Replay::may_add_rows(std::size_t rows) {
  if (rows > limits_.samples - samples_) {
    leave_out_once(said_samples_,
                   fmt::format("samples beyond {} are left out: no recording of this size has as "
                               "many",
                               limits_.samples));
    return false;
  }
  samples_ += rows;
  return true;
}

void Replay::add(const SampleBatch& batch) {
  if (!may_add_rows(batch.size())) return;
  counts_.add(batch);
  visitor_.sample_batch(batch);
}

void Replay::statistics(const Statistics& statistics) {
  counts_.add(statistics);
  visitor_.statistics(statistics);
}

void Replay::leave_out_once(bool& said, std::string_view text) {
  if (!std::exchange(said, true)) visitor_.left_out(text);
}

void Replay::resolve(StackRef& ref) const {
  if (ref.node != 0) ref.node = node_ids_.find(ref.node).value_or(kLostStack);
}

void Replay::blob_piece(const BlobPiece& piece) {
  blob_raw_bytes_ += piece.content.size();
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
  visitor_.blob({piece.kind, known_image(piece.image), as_bytes(blob_content_)});
  blob_.reset();
  blob_content_.clear();
}

}  // namespace ringside::recording
