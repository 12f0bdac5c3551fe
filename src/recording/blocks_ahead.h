#pragma once

#include <array>
#include <cstddef>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "recording/block.h"
#include "recording/samples.h"

namespace ringside::recording {

struct DecodedBlock {
  std::uint32_t sequence = 0;
  std::string payload;
  std::string error;  // in words; empty where there is a payload
  std::vector<SampleBatch> batches;
  std::size_t batch_count = 0;  // of `batches`: the others are memory for later ones

  // The first sample batches of the payload, decoded: all of them but where there are many.
  [[nodiscard]] std::span<SampleBatch> decoded() { return std::span(batches).first(batch_count); }
};

// Gives the blocks of a file one after the other, decompressed. Where there is a second processor
// it decodes the next ones while the caller reads those at hand.
class BlocksAhead {
 public:
  // `offsets` are those of the blocks, in order; they and the file outlive this. `has_batches`: the
  // file's version has sample batches.
  BlocksAhead(Bytes file, std::span<const std::size_t> offsets, bool has_batches);
  BlocksAhead(const BlocksAhead&) = delete;
  BlocksAhead& operator=(const BlocksAhead&) = delete;

  // Valid until the next call. nullptr: there are no more.
  [[nodiscard]] DecodedBlock* next();

 private:
  // Blocks that are decoded together: a thread for each would cost more than it decodes.
  struct Group {
    BlockDecoder decoder;
    std::vector<DecodedBlock> blocks;
    std::size_t count = 0;  // of `blocks`: the others are memory for later ones
    // That may still be decoded ahead.
    std::size_t batches_left = 0;
    std::size_t rows_left = 0;

    [[nodiscard]] std::size_t memory_use() const;  // bytes
  };

  // Decodes those that come next into a group.
  void fill(Group& group);
  void decode(std::size_t offset, Group& group, DecodedBlock& out) const;
  static void decode_batches(Group& group, DecodedBlock& out);
  // Makes the next group the one at hand. False: there is none.
  [[nodiscard]] bool take_group();
  void decode_ahead();

  Bytes file_;
  std::span<const std::size_t> left_;  // offsets
  bool has_batches_;
  std::array<Group, 2> groups_;
  std::size_t at_hand_ = 0;    // of groups_; the other one is decoded ahead
  std::size_t next_ = 0;       // of the group at hand
  std::future<void> filling_;  // the other one; it ends before the groups do
};

}  // namespace ringside::recording
