#include "profile/builder.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>

#include "base/clock.h"
#include "profile/collector.h"
#include "profile/spelling.h"

namespace ringside::profile {
namespace {

// Gives frames their names and turns recorded stacks into the profile's tree.
class Namer {
 public:
  Namer(const Collector& collected, FrameNamer& namer, const BuildOptions& options,
        Profile& profile)
      : collected_(collected), namer_(namer), options_(options), profile_(profile) {
    frames_.resize(collected.frames.size());
    frame_is_named_.resize(collected.frames.size());
  }

  // The node of a stack whose outermost caller is called by `parent`.
  NodeId stack(NodeId parent, std::uint32_t recorded_node) {
    path_.clear();
    for (std::uint32_t id = recorded_node; id != 0; id = collected_.nodes[id].parent)
      path_.push_back(collected_.nodes[id].frame);
    for (auto it = path_.rbegin(); it != path_.rend(); ++it)
      for (const FrameId frame : frames_of(*it)) parent = profile_.stacks.child(parent, frame);
    return parent;
  }

  NodeId placeholder(NodeId parent, std::string_view name) {
    return profile_.stacks.child(parent, intern(name, 0, Kind::kUnknown, false));
  }

 private:
  const std::vector<FrameId>& frames_of(std::uint32_t recorded) {
    if (!frame_is_named_[recorded]) {
      name(collected_.frames[recorded], frames_[recorded]);
      frame_is_named_[recorded] = true;
    }
    return frames_[recorded];
  }

  void name(const recording::RecordedFrame& frame, std::vector<FrameId>& out) {
    const auto image = collected_.images.find(frame.image);
    const auto mapping = collected_.mappings.find(frame.mapping);
    const bool has_image = image != collected_.images.end();
    const StringId image_name =
        has_image ? profile_.strings.intern(spell_or_empty(image->second.name)) : 0;
    if (has_image || frame.kind == FrameKind::kKernel || frame.kind == FrameKind::kInterrupt) {
      NamedFrame named;
      namer_.name({frame, has_image ? &image->second : nullptr,
                   mapping != collected_.mappings.end() ? &mapping->second : nullptr},
                  named);
      for (std::size_t i = 0; i < named.functions.size(); ++i)
        out.push_back(intern(decorate(with_place(named, i), frame), image_name,
                             static_cast<Kind>(frame.kind), i > 0));
      if (!out.empty()) return;
    }
    if (!has_image && frame.kind == FrameKind::kUser)
      out.push_back(intern(decorate(std::string(kUserName), frame), 0, Kind::kUser, false));
    else if (frame.kind == FrameKind::kFirmware)
      out.push_back(intern(decorate(std::string(kFirmwareName), frame), 0, Kind::kFirmware, false));
    else
      out.push_back(intern(unknown_name(frame.address), image_name, Kind::kUnknown, false));
  }

  static std::string spell_or_empty(std::string_view name) {
    return name.empty() ? std::string() : spell(name);
  }

  [[nodiscard]] std::string decorate(std::string name,
                                     const recording::RecordedFrame& frame) const {
    return options_.show_addresses ? with_address(name, frame.address) : name;
  }

  // The name of one of a frame's functions, with its source line if that is wanted and known.
  [[nodiscard]] std::string with_place(const NamedFrame& named, std::size_t index) const {
    std::string name = spell(named.functions[index]);
    if (!options_.show_lines || index >= named.lines.size()) return name;
    const SourceLine& place = named.lines[index];
    return place.line == 0 ? name : with_line(name, place.file, place.line);
  }

  FrameId intern(std::string_view name, StringId image, Kind kind, bool inlined) {
    const Function function{profile_.strings.intern(name), image};
    const std::uint64_t function_key = std::uint64_t{function.image} << 32 | function.name;
    const auto [function_at, new_function] =
        functions_.try_emplace(function_key, static_cast<FunctionId>(profile_.functions.size()));
    if (new_function) profile_.functions.push_back(function);
    const std::uint64_t frame_key = std::uint64_t{function_at->second} << 8 |
                                    static_cast<std::uint64_t>(kind) << 1 | std::uint64_t{inlined};
    const auto [frame_at, new_frame] =
        frame_ids_.try_emplace(frame_key, static_cast<FrameId>(profile_.frames.size()));
    if (new_frame) profile_.frames.push_back({function_at->second, kind, inlined});
    return frame_at->second;
  }

  const Collector& collected_;
  FrameNamer& namer_;
  const BuildOptions& options_;
  Profile& profile_;
  std::vector<std::vector<FrameId>> frames_;  // by recorded frame
  std::vector<bool> frame_is_named_;
  std::unordered_map<std::uint64_t, FunctionId> functions_;
  std::unordered_map<std::uint64_t, FrameId> frame_ids_;
  std::vector<std::uint32_t> path_;
};

void count_frames(const SampleGroup& group, Profile& profile) {
  for (NodeId id = group.stack; id != kNoNode; id = profile.stacks[id].parent) {
    profile.all_frames += group.weight;
    if (profile.frames[profile.stacks[id].frame].kind == Kind::kUnknown)
      profile.unknown_frames += group.weight;
  }
}

// Two recorded stacks can have the same names: their groups become one.
void merge_equal_groups(std::vector<SampleGroup>& groups) {
  const auto key = [](const SampleGroup& group) {
    return std::tuple(group.vcpu, group.disposition, group.level, group.stack, group.pid,
                      group.tid);
  };
  std::sort(groups.begin(), groups.end(),
            [&](const SampleGroup& a, const SampleGroup& b) { return key(a) < key(b); });
  auto out = groups.begin();
  for (auto it = groups.begin(); it != groups.end(); ++it) {
    if (it != groups.begin() && key(*std::prev(out)) == key(*it)) {
      std::prev(out)->weight += it->weight;
      std::prev(out)->samples += it->samples;
    } else {
      *out++ = *it;
    }
  }
  groups.erase(out, groups.end());
}

}  // namespace

Result<Profile> build_profile(recording::Reader& reader, FrameNamer& namer,
                              const BuildOptions& options) {
  Profile profile;
  profile.header = reader.header();
  profile.unit = options.unit;
  profile.damage = reader.damage();
  Collector collector(options, namer, profile);
  RINGSIDE_TRY(reader.for_each(collector));

  const std::uint64_t start = monotonic_ns();
  Namer tree(collector, namer, options, profile);
  for (const auto& [key, amount] : collector.groups) {
    SampleGroup group;
    group.vcpu = key.vcpu;
    group.level = key.level;
    group.disposition = key.disposition;
    group.pid = key.pid;
    group.tid = key.tid;
    group.weight = amount.weight;
    group.samples = amount.samples;
    if (key.disposition == wire::Disposition::kSampled) {
      // The part that ran last stands at the root: user code below the kernel that it entered.
      for (auto it = key.stacks.rbegin(); it != key.stacks.rend(); ++it)
        group.stack = *it == recording::kLostStack ? tree.placeholder(group.stack, kLostStackName)
                                                   : tree.stack(group.stack, *it);
      if (group.stack == kNoNode) group.stack = tree.placeholder(kNoNode, kNoStackName);
      count_frames(group, profile);
    }
    profile.samples.push_back(group);
  }
  profile.unique_stacks = collector.unique_stacks();
  merge_equal_groups(profile.samples);
  profile.symbol_ns = monotonic_ns() - start;
  return profile;
}

}  // namespace ringside::profile
