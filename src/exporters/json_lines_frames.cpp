#include "exporters/json_lines_frames.h"

#include <fmt/core.h>

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

std::string JsonFrames::frame(std::size_t id) const { return id == 0 ? "null" : frames_[id].text; }

// All have functions where there are several.
void JsonFrames::append(const std::vector<const Frame*>& run, std::string& out) {
  if (!out.empty()) out += ',';
  const Frame& outermost = *run.back();
  if (run.size() == 1) {
    out += outermost.text;
    return;
  }
  Parts parts{outermost.place(), {}, {}, outermost.inlined};
  for (auto frame = run.rbegin(); frame != run.rend(); ++frame) {
    const std::string_view text = (*frame)->text;
    const std::size_t functions = (*frame)->place_size + kFunctions.size();
    const std::size_t lines = functions + (*frame)->functions_size + kLines.size();
    const std::string_view comma = frame == run.rbegin() ? "" : ",";
    parts.functions.append(comma).append(text.substr(functions, (*frame)->functions_size));
    parts.lines.append(comma).append(text.substr(lines, (*frame)->lines_size));
  }
  out += frame_of(parts).text;
}

void JsonFrames::append_stack(std::uint32_t node, std::string& out) const {
  std::vector<const Frame*> run;  // inlined into the frame that comes next
  for (; node != 0; node = nodes_[node].parent) {
    const Frame& frame = frames_[nodes_[node].frame];
    const bool is_joined = !run.empty() && run.back()->place() == frame.place() &&
                           frame.functions_size != 0 && run.back()->functions_size != 0;
    if (!is_joined && !run.empty()) {
      append(run, out);
      run.clear();
    }
    run.push_back(&frame);
    if (frame.inlined) continue;
    append(run, out);
    run.clear();
  }
  if (!run.empty()) append(run, out);
}

std::string JsonFrames::stack(const recording::StackRef& ref) {
  if (ref.node < nodes_.size() && ref.node != last_node_) {  // kLostStack is not
    last_frames_.clear();
    append_stack(ref.node, last_frames_);
    last_node_ = ref.node;
  }
  const std::string_view frames =
      ref.node < nodes_.size() && ref.node != 0 ? std::string_view(last_frames_) : "";
  const std::string role = ref.role == recording::StackRole::kOwn
                               ? ""
                               : fmt::format(R"("role":"{}",)", recording::name_of(ref.role));
  return fmt::format(R"({{{}"stop":"{}","stopped_at":"{}","frames":[{}]}})", role,
                     ref.node == recording::kLostStack ? formats::json_lines::kLost
                                                       : std::string_view(name_of(ref.stop)),
                     ref.stopped_at, frames);
}

}  // namespace ringside::exporters
