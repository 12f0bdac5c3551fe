#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profile/builder.h"
#include "profile/frame_namer.h"
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

  struct Key {
    std::vector<std::uint32_t> stacks;  // leaves, the part that ran first in front
    VcpuId vcpu;
    PrivilegeLevel level = PrivilegeLevel::kUnknown;
    wire::Disposition disposition = wire::Disposition::kSampled;
    std::optional<std::uint32_t> pid;
    std::optional<std::uint32_t> tid;
    StringId comm = 0;            // 0 where the process is not known
    StringId cgroup = 0;          // 0 where it is not known
    bool knows_mappings = false;  // of its address space
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Amount {
    std::uint64_t weight = 0;
    std::uint64_t samples = 0;
  };

  // A part of a stack that is not complete, and how many samples have it.
  struct BrokenKey {
    bool is_user = false;
    StopReason reason = StopReason::kNoRule;
    std::uint32_t node = 0;
    auto operator<=>(const BrokenKey&) const = default;
  };

  // By id; the entry 0 stands for none.
  std::vector<recording::RecordedFrame> frames{1};
  std::vector<recording::StackNode> nodes{1};
  std::map<std::uint32_t, recording::ImageInfo> images;
  std::map<std::uint32_t, recording::Mapping> mappings;
  std::unordered_map<Key, Amount, KeyHash> groups;
  std::map<BrokenKey, std::uint64_t> broken;

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

  // The outermost frame of a node's stack; 0 where it has no frame.
  [[nodiscard]] std::uint32_t outermost_frame(std::uint32_t node) const;
  // A process that has no name, and that has all samples since it was first seen, shows nothing:
  // the profile knows no processes then. To be called when everything has been read.
  void forget_lone_process();
  // Gives kernel frames that were sampled before their code was known the image that lies there. To
  // be called when everything has been read. Where two images have lain at an address nobody knows
  // which one it was.
  void place_early_frames();

 private:
  void add_broken(const recording::Sample& value);
  [[nodiscard]] bool wanted(const recording::SampleInfo& info) const;
  [[nodiscard]] ThreadNames::Called called(const recording::SampleInfo& info);
  void note_owner(const recording::SampleInfo& info);

  const BuildOptions& options_;
  FrameNamer& namer_;
  Profile& profile_;
  ThreadNames names_;
  std::unordered_set<StringId> noted_comms_;  // that profile_.process_names has
  std::optional<std::uint32_t> lone_pid_;     // of all samples since the first that has one …
  bool is_lone_ = true;                       // … if they have no other
  Key key_;                                   // reused
};

}  // namespace ringside::profile
