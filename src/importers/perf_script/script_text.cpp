#include "importers/perf_script/script_text.h"

#include <algorithm>
#include <cstring>

#include "importers/perf_script/frame_line.h"
#include "importers/perf_script/header_line.h"

namespace ringside::importers::perf_script {

std::size_t ScriptText::behind_line(std::size_t at) const {
  const void* const found = std::memchr(text_.data() + at, '\n', text_.size() - at);
  if (found == nullptr) return text_.size();
  return static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) + 1;
}

// Without its end.
std::string_view ScriptText::line_at(std::size_t at) const {
  std::string_view line = text_.substr(at, behind_line(at) - at);
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool ScriptText::is_blank_line(std::size_t at) const {
  return at < text_.size() && (text_[at] == '\n' || text_.substr(at, 2) == "\r\n");
}

// False at the end of the text.
bool ScriptText::skip_blank_lines() {
  while (is_blank_line(at_)) at_ += text_[at_] == '\n' ? 1 : 2;
  return at_ < text_.size();
}

// Whether the line is of the call chain of the sample above. Lines of samples may begin with a
// blank where there are no call chains.
bool ScriptText::is_of_chain(std::size_t at) const {
  const char first = text_[at];
  if (first == '\t') return true;
  if (first == '\n' || first == '\r' || first == '#') return false;
  const std::string_view line = line_at(at);
  if (has_time(line)) return false;
  if (has_owner_and_frame(line) || is_period_and_event(line)) return false;
  if (first == ' ') return true;
  // Frames that somebody moved to the left.
  constexpr std::size_t kShortest = 6;  // digits of an address
  const auto frame = parse_frame_line(line);
  return frame && !frame->file.empty() && line.find(' ') >= kShortest;
}

std::string_view ScriptText::take_frames() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_of_chain(at_)) at_ = behind_line(at_);
  return text_.substr(begin, at_ - begin);
}

bool ScriptText::next(Block& block) {
  if (!skip_blank_lines()) return false;
  block = {at_, {}, {}, {}, false};
  const std::string_view line = line_at(at_);
  if (line.starts_with('#') && !has_time(line)) {
    block.comment = line;
    at_ = behind_line(at_);
    return true;
  }
  const bool is_indented = line.front() == '\t' || line.front() == ' ';
  const bool is_frame =
      is_indented && !has_time(line) && parse_frame_line(line) &&
      (line.front() == '\t' || (!has_owner_and_frame(line) && !is_period_and_event(line)));
  if (is_frame && stands_alone(line)) {
    block.frames = line;
    at_ = behind_line(at_);
    return true;
  }
  if (!is_frame) {
    block.header = line;
    at_ = behind_line(at_);
  }
  block.frames = take_frames();
  block.is_closed = is_blank_line(at_);
  return true;
}

}  // namespace ringside::importers::perf_script
