#include "exporters/perf/script_frames.h"

#include <fmt/core.h>

#include <algorithm>

#include "exporters/perf/perf_names.h"
#include "profile/sanitize.h"
#include "recording/of_perf.h"

namespace ringside::exporters {
namespace {

using profile::DetailedFrame;

constexpr std::string_view kUnknown = "[unknown]";

// The file of a frame's code, as perf has it.
std::string dso_of(const DetailedFrame& frame) {
  if (frame.image == nullptr) return std::string(kUnknown);
  std::string name = dso_name(*frame.image);
  if (!is_kernel(frame.kind) || name.starts_with('[')) return name;
  return fmt::format("[{}]", profile::sanitize(frame.image->name));
}

}  // namespace

std::string ScriptFrames::lines(const DetailedFrame& frame) const {
  std::string text;
  const bool is_all_inlined = is_inlined(frame);
  for (std::size_t i = frame.functions.size(); i-- > (is_all_inlined ? 0 : 1);)
    text += inlined_line(frame, i);
  if (!is_all_inlined) text += fmt::format("\t{}\n", in_line(frame));
  return text;
}

std::string ScriptFrames::in_line(const DetailedFrame& frame) const {
  std::string text = fmt::format("{:16x}", frame.address.value);
  if (has(ScriptField::kSym)) {
    const std::string_view name = name_of(frame);
    text += fmt::format(" {}", name);
    if (has(ScriptField::kSymOffset) && frame.symbol.size != 0 && name != kUnknown)
      text += fmt::format("+{:#x}", frame.address - frame.symbol.start);
  }
  if (has(ScriptField::kDso)) text += fmt::format(" ({})", dso_of(frame));
  return text + source_line(frame, 0);
}

std::string ScriptFrames::inlined_line(const DetailedFrame& frame, std::size_t function) const {
  std::string text = fmt::format("\t{:16x}", frame.address.value);
  if (has(ScriptField::kSym)) text += fmt::format(" {}", profile_.name(frame.functions[function]));
  return text + fmt::format("{} (inlined)\n", source_line(frame, function));
}

std::string_view ScriptFrames::name_of(const DetailedFrame& frame) const {
  const profile::Frame& function = profile_.frames[frame.functions.front()];
  const std::string_view name = profile_.name(function);
  const bool is_unknown = frame.id != 0 && function.kind == profile::Kind::kUnknown;
  return is_unknown || (name == profile::kUserName && is_of_perf(profile_.header)) ? kUnknown
                                                                                   : name;
}

std::string ScriptFrames::source_line(const DetailedFrame& frame, std::size_t function) const {
  if (!has(ScriptField::kSourceLine)) return {};
  const profile::Place place = frame.place(function);
  const std::string_view file = profile_.strings[place.file];
  if (file.empty()) return {};
  return fmt::format("\n  {}:{}", file.substr(file.rfind('/') + 1), place.line);
}

bool ScriptFrames::is_chosen(const DetailedFrame& frame) const {
  return std::any_of(frame.functions.begin(), frame.functions.end(), [&](profile::FrameId id) {
    return options_.symbols.contains(profile_.name(id));
  });
}

}  // namespace ringside::exporters
