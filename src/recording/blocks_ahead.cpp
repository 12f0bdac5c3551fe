#include "recording/blocks_ahead.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/run_both.h"
#include "recording/codec/decode.h"
#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

// Bounds on one group. Batches beyond them are decoded when they are read.
constexpr std::size_t kMostBlocks = 128;
constexpr std::size_t kMostPayload = 1 << 20;  // bytes; the last block may exceed it
constexpr std::size_t kMostBatches = 1024;
constexpr std::size_t kMostRows = 1 << 17;  // of batches; the last one may exceed it
constexpr std::size_t kMostKept = 4 << 20;  // bytes of memory for the next blocks

std::size_t memory_of(const SampleBatch& batch) {
  std::size_t values = batch.times.capacity() + batch.pauses.capacity();
  for (const auto& column : batch.values) values += column.capacity();
  return sizeof(batch) + values * sizeof(std::uint64_t) +
         batch.contexts.capacity() * sizeof(std::uint32_t);
}

}  // namespace

std::size_t BlocksAhead::Group::memory_use() const {
  std::size_t bytes = 0;
  for (const DecodedBlock& block : blocks) {
    bytes += sizeof(block) + block.payload.capacity();
    for (const SampleBatch& batch : block.batches) bytes += memory_of(batch);
  }
  return bytes;
}

BlocksAhead::BlocksAhead(Bytes file, std::span<const std::size_t> offsets, bool has_batches)
    : file_(file), left_(offsets), has_batches_(has_batches) {}

DecodedBlock* BlocksAhead::next() {
  if (next_ == groups_[at_hand_].count && !take_group()) return nullptr;
  return &groups_[at_hand_].blocks[next_++];
}

bool BlocksAhead::take_group() {
  at_hand_ = 1 - at_hand_;
  if (filling_.valid())
    filling_.get();
  else
    fill(groups_[at_hand_]);
  next_ = 0;
  decode_ahead();
  return groups_[at_hand_].count != 0;
}

void BlocksAhead::decode_ahead() {
  if (left_.empty()) return;
  Group& group = groups_[1 - at_hand_];
  filling_ = run_beside([this, &group] { fill(group); });
}

void BlocksAhead::fill(Group& group) {
  if (group.memory_use() > kMostKept) group.blocks = {};
  group.count = 0;
  group.batches_left = kMostBatches;
  group.rows_left = kMostRows;
  std::size_t bytes = 0;
  for (; bytes < kMostPayload && group.count < kMostBlocks && !left_.empty();
       left_ = left_.subspan(1)) {
    if (group.count == group.blocks.size()) group.blocks.emplace_back();
    DecodedBlock& block = group.blocks[group.count++];
    decode(left_.front(), group, block);
    bytes += block.payload.size();
  }
}

void BlocksAhead::decode(std::size_t offset, Group& group, DecodedBlock& out) const {
  out.payload.clear();
  out.error.clear();
  out.batch_count = 0;
  const auto header = parse_block_header(file_.subspan(offset));
  const Bytes rest = file_.subspan(offset + kBlockHeaderSize);
  if (!header || rest.size() < header->stored_size) {
    out.error = fmt::format("the block at offset {:#x} is gone: the file has changed", offset);
    return;
  }
  out.sequence = header->sequence;
  const auto payload = group.decoder.decode(*header, rest.first(header->stored_size));
  if (!payload) {
    out.error = fmt::format("block {}: {}", header->sequence, payload.error().message);
    return;
  }
  out.payload = *payload;
  if (has_batches_) decode_batches(group, out);
}

// A batch that is no message is left to the reader, which reports it.
void BlocksAhead::decode_batches(Group& group, DecodedBlock& out) {
  namespace f = fields::records;
  try {
    protozero::pbf_reader records(out.payload.data(), out.payload.size());
    while (group.rows_left > 0 && group.batches_left > 0 &&
           records.next(f::kSampleBatch, protozero::pbf_wire_type::length_delimited)) {
      if (out.batch_count == out.batches.size()) out.batches.emplace_back();
      SampleBatch& batch = out.batches[out.batch_count];
      decode_sample_batch(records.get_message(), batch);
      ++out.batch_count;
      --group.batches_left;
      group.rows_left -= std::min(group.rows_left, batch.size());
    }
  } catch (const protozero::exception&) {
  }
}

}  // namespace ringside::recording
