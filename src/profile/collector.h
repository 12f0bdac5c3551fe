#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/pair_table.h"
#include "profile/builder.h"
#include "profile/frame_namer.h"
#include "profile/group_table.h"
#include "profile/part_lists.h"
#include "profile/profile.h"
#include "profile/thread_names.h"
#include "recording/reader.h"

namespace ringside::profile {

// Reads a recording into what the builder names: tables of frames and nodes, and the samples summed
// up by everything but time. Fills those fields of the profile that need no names.
class Collector final : public recording::Visitor {
 public:
  // Blobs go to `namer`.
  Collector(const BuildOptions& options, FrameNamer& namer, Profile& profile);

  struct SampleOwner : Owner {
    bool knows_mappings = false;  // of its address space
    auto operator<=>(const SampleOwner&) const = default;
  };

  // Where parts of stacks broke off.
  struct BrokenPart {
    std::uint32_t frame = 0;  // the outermost; 0 where there is none
    bool is_user = false;
    StopReason reason = StopReason::kNoRule;
    bool has_tables = false;  // the frame's image, of unwind information
    std::uint64_t samples = 0;
  };

  // By id; the entry 0 stands for none.
  std::vector<recording::RecordedFrame> frames{1};
  LargeVector<recording::StackNode> nodes{recording::StackNode()};
  std::map<std::uint32_t, recording::ImageInfo> images;
  std::map<std::uint32_t, recording::Mapping> mappings;
  PartLists bases;  // the parts of stacks but the one that ran
  std::vector<SampleOwner> owners;
  GroupTable groups;

  void image(const recording::ImageInfo& value) override { images[value.id] = value; }
  void mapping(const recording::Mapping& value) override { mappings[value.id] = value; }
  void frame(std::uint32_t, const recording::RecordedFrame& value) override {
    frames.push_back(value);
  }
  void stack_node(std::uint32_t, const recording::StackNode& value) override {
    nodes.push_back(value);
  }
  void sample(const recording::Sample& value) override;
  void thread_name(const recording::ThreadName& value) override { names_.add(value); }
  void blob(const recording::Blob& value) override { namer_.blob(value); }
  void warning(std::string_view text) override;
  void left_out(std::string_view text) override;
  void statistics(const recording::Statistics& value) override { profile_.recorded = value; }

  // To be called when everything has been read.
  [[nodiscard]] std::vector<BrokenPart> broken_parts() const;
  // A process that has no name, and that has all samples since it was first seen, shows nothing:
  // the profile knows no processes then. To be called when everything has been read.
  void forget_lone_process();
  // Gives kernel frames that were sampled before their code was known the image that lies there. To
  // be called when everything has been read. Where two images have lain at an address nobody knows
  // which one it was.
  void place_early_frames();

 private:
  struct OwnerHash {
    std::size_t operator()(const SampleOwner& owner) const;
  };
  void add_broken(const recording::Sample& value);
  [[nodiscard]] std::uint32_t outermost_frame(std::uint32_t node) const;
  [[nodiscard]] std::set<std::uint32_t> images_with_tables() const;
  [[nodiscard]] bool wanted(const recording::SampleInfo& info) const;
  [[nodiscard]] ThreadNames::Called called(const recording::SampleInfo& info);
  [[nodiscard]] StringId unnamed(std::uint32_t tid);
  void note_owner(const recording::SampleInfo& info, StringId comm);
  [[nodiscard]] OwnerId owner_of(const recording::SampleInfo& info, ThreadNames::Called called);

  const BuildOptions& options_;
  FrameNamer& namer_;
  Profile& profile_;
  ThreadNames names_;
  StringId idle_thread_ = 0;
  std::unordered_map<std::uint32_t, StringId> unnamed_;  // by tid
  std::unordered_map<SampleOwner, OwnerId, OwnerHash> owner_ids_;
  PairTable broken_;  // of a node and its stop: see add_broken()
  std::vector<std::uint64_t> broken_samples_;
  std::vector<bool> is_noted_;             // by StringId: profile_.process_names has it
  std::optional<std::uint32_t> lone_pid_;  // of all samples since the first that has one …
  bool is_lone_ = true;                    // … if they have no other
};

}  // namespace ringside::profile
