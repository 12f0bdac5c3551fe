#include "recording/blocks_ahead.h"

#include <fmt/format.h>

#include <system_error>

#include "base/scheduling.h"
#include "recording/codec/decode.h"
#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

constexpr std::size_t kGroupSize = 1 << 20;      // bytes of payloads
constexpr std::size_t kMostRowsAhead = 1 << 18;  // samples of a block that are decoded ahead

// Batches that are no messages are left to the reader, which reports them.
void decode_batches(std::string_view payload, DecodedBlock& out) {
  namespace f = fields::records;
  try {
    std::size_t rows = 0;
    protozero::pbf_reader records(payload.data(), payload.size());
    while (rows < kMostRowsAhead &&
           records.next(f::kSampleBatch, protozero::pbf_wire_type::length_delimited)) {
      if (out.batch_count == out.batches.size()) out.batches.emplace_back();
      SampleBatch& batch = out.batches[out.batch_count];
      decode_sample_batch(records.get_message(), batch);
      rows += batch.size();
      ++out.batch_count;
    }
  } catch (const protozero::exception&) {
  }
}

}  // namespace

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
  if (left_.empty() || processors() < 2) return;
  Group& group = groups_[1 - at_hand_];
  try {
    filling_ = std::async(std::launch::async, [this, &group] { fill(group); });
  } catch (const std::system_error&) {  // the user may have no more threads
  }
}

void BlocksAhead::fill(Group& group) {
  group.count = 0;
  for (std::size_t bytes = 0; bytes < kGroupSize && !left_.empty(); left_ = left_.subspan(1)) {
    if (group.count == group.blocks.size()) group.blocks.emplace_back();
    DecodedBlock& block = group.blocks[group.count++];
    decode(left_.front(), group.decoder, block);
    bytes += block.payload.size();
  }
}

void BlocksAhead::decode(std::size_t offset, BlockDecoder& decoder, DecodedBlock& out) const {
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
  const auto payload = decoder.decode(*header, rest.first(header->stored_size));
  if (!payload) {
    out.error = fmt::format("block {}: {}", header->sequence, payload.error().message);
    return;
  }
  out.payload = *payload;
  if (has_batches_) decode_batches(out.payload, out);
}

}  // namespace ringside::recording
