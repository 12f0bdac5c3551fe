#include "exporters/report/wrapped_comments.h"

#include <algorithm>

#include "base/text.h"
#include "base/text_width.h"

namespace ringside::exporters {
namespace {

constexpr std::string_view kGoesOn = "#     ";  // in front of a comment's next lines

std::string wrapped(std::string_view comment, std::size_t width) {
  std::string text = printable_line(comment);
  text.erase(text.find_last_not_of(' ') + 1);
  if (cells_of(text) <= width || width <= kGoesOn.size()) return text + "\n";
  std::string all = wrap(text, width).front();
  const std::string_view rest = std::string_view(text).substr(all.size());
  all += "\n";
  for (const std::string& line :
       wrap(rest.substr(rest.find_first_not_of(' ')), width - kGoesOn.size()))
    all.append(kGoesOn).append(line).append("\n");
  return all;
}

}  // namespace

Result<void> WrappedComments::write(std::string_view text) {
  while (!text.empty()) {
    const bool is_comment = !comment_.empty() || (at_line_start_ && text.front() == '#');
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool is_whole = end < text.size();
    const std::string_view piece = text.substr(0, end + (is_whole ? 1 : 0));
    if (!is_comment) {
      RINGSIDE_TRY(to_.write(piece));
    } else {
      comment_.append(text.substr(0, end));
      if (is_whole) {
        RINGSIDE_TRY(to_.write(wrapped(comment_, width_)));
        comment_.clear();
      }
    }
    at_line_start_ = is_whole;
    text.remove_prefix(piece.size());
  }
  return {};
}

Result<void> WrappedComments::finish() { return comment_.empty() ? Result<void>() : write("\n"); }

Result<void> WrappedComments::paint(std::string_view text, Colour colour) {
  if (!comment_.empty()) return write(text);
  at_line_start_ = false;
  return to_.paint(text, colour);
}

}  // namespace ringside::exporters
