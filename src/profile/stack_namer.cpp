#include "profile/stack_namer.h"

#include <algorithm>

#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

std::string sanitize_or_empty(std::string_view name) {
  return name.empty() ? std::string() : sanitize(name);
}

}  // namespace

StackNamer::StackNamer(const Collector& collected, FrameNamer& namer, const BuildOptions& options,
                       Profile& profile)
    : collected_(collected), namer_(namer), options_(options), profile_(profile) {
  frames_.resize(collected.frames.size());
  frame_is_named_.resize(collected.frames.size());
}

void StackNamer::find_path(std::uint32_t recorded_node) {
  path_.clear();
  for (std::uint32_t id = recorded_node; id != 0; id = collected_.nodes[id].parent)
    path_.push_back(collected_.nodes[id].frame);
}

NodeId StackNamer::stack(NodeId parent, std::uint32_t recorded_node, bool knows_mappings) {
  find_path(recorded_node);
  for (auto it = path_.rbegin(); it != path_.rend(); ++it)
    for (const FrameId frame : frames_of(*it, knows_mappings))
      parent = profile_.stacks.child(parent, frame);
  return parent;
}

NodeId StackNamer::interrupt(std::uint32_t recorded_node) {
  find_path(recorded_node);
  while (!path_.empty() && collected_.frames[path_.back()].kind != FrameKind::kInterrupt)
    path_.pop_back();
  NodeId parent = kNoNode;
  for (auto it = path_.rbegin(); it != path_.rend(); ++it)
    for (const FrameId frame : frames_of(*it, false)) parent = profile_.stacks.child(parent, frame);
  return parent;
}

FunctionId StackNamer::function_of(std::uint32_t recorded_frame) {
  return profile_.frames[frames_of(recorded_frame, false).front()].function;
}

NodeId StackNamer::placeholder(NodeId parent, std::string_view name) {
  return profile_.stacks.child(parent, intern(name, 0, Kind::kUnknown, false));
}

const std::vector<FrameId>& StackNamer::frames_of(std::uint32_t recorded, bool knows_mappings) {
  const recording::RecordedFrame& frame = collected_.frames[recorded];
  if (knows_mappings && frame.kind == FrameKind::kUser && frame.image == 0) {
    std::vector<FrameId>& address = addresses_[recorded];
    if (address.empty())
      address.push_back(intern(unknown_name(frame.address), 0, Kind::kUnknown, false));
    return address;
  }
  if (!frame_is_named_[recorded]) {
    name(frame, frames_[recorded]);
    frame_is_named_[recorded] = true;
  }
  return frames_[recorded];
}

void StackNamer::name(const recording::RecordedFrame& frame, std::vector<FrameId>& out) {
  const auto image = collected_.images.find(frame.image);
  const auto mapping = collected_.mappings.find(frame.mapping);
  const bool has_image = image != collected_.images.end();
  const StringId image_name =
      has_image ? profile_.strings.intern(sanitize_or_empty(image->second.name)) : 0;
  if (has_image || frame.kind == FrameKind::kKernel || frame.kind == FrameKind::kInterrupt) {
    NamedFrame named;
    namer_.name({frame, has_image ? &image->second : nullptr,
                 mapping != collected_.mappings.end() ? &mapping->second : nullptr},
                named);
    for (std::size_t i = 0; i < named.functions.size(); ++i) {
      out.push_back(intern(decorate(with_place(named, i), frame), image_name,
                           static_cast<Kind>(frame.kind), i > 0));
      if (i < named.lines.size())
        add_place(profile_.functions[profile_.frames[out.back()].function], named.lines[i]);
    }
    if (!out.empty()) return;
  }
  if (!has_image && frame.kind == FrameKind::kUser)
    out.push_back(intern(decorate(std::string(kUserName), frame), 0, Kind::kUser, false));
  else if (!has_image && frame.kind == FrameKind::kGuest)
    out.push_back(intern(decorate(std::string(kGuestName), frame), 0, Kind::kGuest, false));
  else if (frame.kind == FrameKind::kFirmware)
    out.push_back(intern(decorate(std::string(kFirmwareName), frame), 0, Kind::kFirmware, false));
  else
    out.push_back(intern(unknown_name(frame.address), image_name, Kind::kUnknown, false));
}

std::string StackNamer::decorate(std::string name, const recording::RecordedFrame& frame) const {
  return options_.show_addresses ? with_address(name, frame.address) : name;
}

// The name of one of a frame's functions, with its source line if that is wanted and known.
std::string StackNamer::with_place(const NamedFrame& named, std::size_t index) const {
  std::string name = sanitize(named.functions[index]);
  if (!options_.show_lines || index >= named.lines.size()) return name;
  const SourceLine& place = named.lines[index];
  return place.line == 0 ? name : with_line(name, place.file, place.line);
}

void StackNamer::add_place(Function& function, const SourceLine& place) {
  if (place.line == 0) return;
  const StringId file = profile_.strings.intern(sanitize(place.file));
  if (function.first_line == 0) {
    function.file = file;
    function.first_line = function.last_line = place.line;
  } else if (function.file == file) {
    function.first_line = std::min(function.first_line, place.line);
    function.last_line = std::max(function.last_line, place.line);
  }
}

FrameId StackNamer::intern(std::string_view name, StringId image, Kind kind, bool inlined) {
  Function function;
  function.name = profile_.strings.intern(name);
  function.image = image;
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

}  // namespace ringside::profile
