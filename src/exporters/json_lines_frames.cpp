#include "exporters/json_lines_frames.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "exporters/parts/json_text.h"
#include "formats/json_lines.h"

namespace ringside::exporters {
namespace {

constexpr std::string_view kFunctions = ",\"functions\":[";
constexpr std::string_view kLines = "],\"lines\":[";

std::string_view text_of(FrameKind kind) {
  using formats::json_lines::kFrameKinds;
  static_assert(kFrameKinds.size() == static_cast<std::size_t>(kLastFrameKind) + 1);
  return kFrameKinds[static_cast<std::size_t>(kind)];
}

std::string text_of(const profile::SourceLine& line) {
  return json_string(line.line == 0 ? "" : fmt::format("{}:{}", line.file, line.line));
}

}  // namespace

void JsonFrames::add(const recording::RecordedFrame& frame, std::string_view image,
                     const profile::NamedFrame& named) {
  const std::string place =
      fmt::format(R"({{"address":"{}","exact":{},"kind":"{}",{}"rule":"{}")", frame.address,
                  frame.exact, text_of(frame.kind), image, name_of(frame.source));
  Parts parts{place, {}, {}, frame.inlined};
  for (std::size_t i = 0; i < named.functions.size(); ++i) {
    const profile::SourceLine line =
        i < named.lines.size() ? named.lines[i] : profile::SourceLine();
    parts.functions += (i == 0 ? "" : ",") + json_string(named.functions[i]);
    parts.lines += (i == 0 ? "" : ",") + text_of(line);
  }
  frames_.push_back(frame_of(parts));
}

JsonFrames::Frame JsonFrames::frame_of(const Parts& parts) {
  Frame frame;
  frame.text = fmt::format("{}{}{}", parts.place, kFunctions, parts.functions);
  if (!parts.functions.empty()) frame.text += fmt::format("{}{}", kLines, parts.lines);
  frame.text += parts.inlined ? "],\"inlined\":true}" : "]}";
  frame.place_size = parts.place.size();
  frame.functions_size = parts.functions.size();
  frame.lines_size = parts.lines.size();
  frame.inlined = parts.inlined;
  return frame;
}

// Both have functions.
JsonFrames::Frame JsonFrames::joined(const Frame& outer, const Frame& inlined) {
  const auto functions_of = [](const Frame& frame) {
    return std::string_view(frame.text)
        .substr(frame.place_size + kFunctions.size(), frame.functions_size);
  };
  const auto lines_of = [](const Frame& frame) {
    const std::size_t at =
        frame.place_size + kFunctions.size() + frame.functions_size + kLines.size();
    return std::string_view(frame.text).substr(at, frame.lines_size);
  };
  return frame_of({outer.place(), fmt::format("{},{}", functions_of(outer), functions_of(inlined)),
                   fmt::format("{},{}", lines_of(outer), lines_of(inlined)), outer.inlined});
}

std::string JsonFrames::frame(std::size_t id) const { return id == 0 ? "null" : frames_[id].text; }

void JsonFrames::append_stack(std::uint32_t node, std::string& out) const {
  std::optional<Frame> open;  // inlined into the frame that comes next
  const auto append = [&](const Frame& frame) {
    if (!out.empty()) out += ',';
    out += frame.text;
  };
  for (; node != 0; node = nodes_[node].parent) {
    const Frame& frame = frames_[nodes_[node].frame];
    const bool is_joined = open && open->place() == frame.place() && frame.functions_size != 0;
    if (open && !is_joined) append(*open);
    if (!frame.inlined && !is_joined) {
      open.reset();
      append(frame);
      continue;
    }
    open = is_joined ? joined(frame, *open) : frame;
    if (open->inlined) continue;
    append(*open);
    open.reset();
  }
  if (open) append(*open);
}

std::string JsonFrames::stack(const recording::StackRef& ref) const {
  std::string frames;
  if (ref.node < nodes_.size()) append_stack(ref.node, frames);  // kLostStack is not
  const std::string role = ref.role == recording::StackRole::kOwn
                               ? ""
                               : fmt::format(R"("role":"{}",)", recording::name_of(ref.role));
  return fmt::format(R"({{{}"stop":"{}","stopped_at":"{}","frames":[{}]}})", role,
                     ref.node == recording::kLostStack ? formats::json_lines::kLost
                                                       : std::string_view(name_of(ref.stop)),
                     ref.stopped_at, frames);
}

}  // namespace ringside::exporters
