#include "importers/perf_script/sample_block.h"

#include <algorithm>
#include <vector>

#include "importers/perf_script/frame_line.h"

namespace ringside::importers::perf_script {
namespace {

constexpr std::string_view kOtherRecord = "PERF_RECORD_";

void count(const HeaderLine& header, std::vector<Event>& events) {
  constexpr std::size_t kMostEvents = 100;
  auto event = std::find_if(events.begin(), events.end(),
                            [&](const Event& known) { return known.name == header.event; });
  if (event == events.end() && events.size() == kMostEvents) return;
  if (event == events.end())
    event = events.insert(event, {header.event, header.period.has_value(), 0});
  ++event->samples;
}

}  // namespace

std::optional<std::string_view> other_record(const HeaderLine& header) {
  const std::string_view words = header.event.empty() ? header.rest : header.event;
  const std::size_t at = words.find_first_not_of(' ');
  if (at == std::string_view::npos || !words.substr(at).starts_with(kOtherRecord))
    return std::nullopt;
  return words.substr(at + kOtherRecord.size());
}

bool begins_with_frame(std::string_view frames) {
  const std::string_view line = frames.substr(0, frames.find_first_of("\r\n"));
  const auto frame = parse_frame_line(line);
  return frame && (line.starts_with('\t') || !frame->file.empty() || stands_alone(line));
}

bool is_sample(const HeaderLine& header, const ScriptText::Block& block) {
  if (header.time_ns || !frame_in_line(header.rest).empty()) return true;
  const Owner owner = parse_owner(header.owner);
  if (!header.event.empty() && (owner.tid || (owner.comm.empty() && header.period))) return true;
  if (begins_with_frame(block.frames)) return true;
  // perf ends the line with a blank where neither an event nor a frame follows.
  const bool is_alone = block.is_closed && block.frames.empty() && header.event.empty();
  return is_alone && (owner.cpu || (owner.tid && (header.period || header.owner.ends_with(' '))));
}

Event main_event(std::string_view text) {
  constexpr std::size_t kEnough = 64 << 20;
  ScriptText blocks(text.substr(0, kEnough));
  std::vector<Event> events;
  for (ScriptText::Block block; blocks.next(block);) {
    if (!block.comment.empty()) continue;
    const HeaderLine header = parse_header_line(block.header);
    if (!other_record(header) && is_sample(header, block)) count(header, events);
  }
  const auto most = std::max_element(
      events.begin(), events.end(),
      [](const Event& one, const Event& other) { return one.samples < other.samples; });
  return most == events.end() ? Event() : *most;
}

}  // namespace ringside::importers::perf_script
