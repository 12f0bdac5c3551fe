#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/builder.h"
#include "profile/collector.h"

namespace ringside::profile {

// Gives frames their names and turns recorded stacks into the profile's tree.
class StackNamer {
 public:
  StackNamer(const Collector& collected, FrameNamer& namer, const BuildOptions& options,
             Profile& profile);

  // The node of a stack whose outermost caller is called by `parent`. User code that is in no image
  // has an address where it is known what its address space maps; else it is "[user]".
  NodeId stack(NodeId parent, std::uint32_t recorded_node, bool knows_mappings);
  // The node of those frames of a stack that run because of an interrupt, from its entry to the
  // leaf; kNoNode where there are none. Where interrupts are nested, the outermost counts.
  NodeId interrupt(std::uint32_t recorded_node);
  // The function that was compiled at a recorded frame, not one inlined into it.
  FunctionId function_of(std::uint32_t recorded_frame);
  NodeId placeholder(NodeId parent, std::string_view name);

 private:
  void find_path(std::uint32_t recorded_node);
  const std::vector<FrameId>& frames_of(std::uint32_t recorded, bool knows_mappings);
  void name(const recording::RecordedFrame& frame, std::vector<FrameId>& out);
  [[nodiscard]] std::string decorate(std::string name, const recording::RecordedFrame& frame) const;
  [[nodiscard]] std::string with_place(const NamedFrame& named, std::size_t index) const;
  void add_place(Function& function, const SourceLine& place);
  FrameId intern(std::string_view name, StringId image, Kind kind, bool inlined);

  const Collector& collected_;
  FrameNamer& namer_;
  const BuildOptions& options_;
  Profile& profile_;
  std::vector<std::vector<FrameId>> frames_;  // by recorded frame
  std::vector<bool> frame_is_named_;
  // User code in no image of a known address space, by recorded frame.
  std::unordered_map<std::uint32_t, std::vector<FrameId>> addresses_;
  std::unordered_map<std::uint64_t, FunctionId> functions_;
  std::unordered_map<std::uint64_t, FrameId> frame_ids_;
  std::vector<std::uint32_t> path_;  // of recorded frames, leaf first
};

}  // namespace ringside::profile
