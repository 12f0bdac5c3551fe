#include "importers/pprof/comments.h"

#include <algorithm>
#include <charconv>

namespace ringside::importers::pprof {
namespace {

constexpr std::size_t kMostComments = 16;
constexpr std::size_t kLongestComment = 1024;  // bytes

// The number at the front of `text`, and `behind` it; both are taken off.
bool take_number(std::string_view& text, std::string_view behind, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  if (!text.starts_with(behind)) return false;
  text.remove_prefix(behind.size());
  return true;
}

// "20 ticks of vCPUs were due, 3 of them are lost". Ticks whose samples the profile does not have
// were due, too, but are no samples that were lost: idle ones, and those that were filtered.
bool take_ticks(std::string_view comment, recording::Statistics& statistics) {
  std::uint64_t due = 0;
  std::uint64_t lost = 0;
  if (!take_number(comment, " ticks of vCPUs were due, ", due) ||
      !take_number(comment, " of them are lost", lost) || !comment.empty() || lost > due)
    return false;
  statistics.lost = lost;
  statistics.due += lost;
  return true;
}

}  // namespace

std::vector<std::string> take_comments(const Messages& messages,
                                       recording::Statistics& statistics) {
  std::vector<std::string> others;
  bool is_own = false;
  for (const TextIndex index : messages.comments) {
    const std::string_view comment = messages.text(index).substr(0, kLongestComment);
    is_own |= comment.starts_with("ringside ");
    if (comment.empty() || comment.starts_with("ringside ")) continue;
    if (is_own && take_ticks(comment, statistics)) continue;
    if (others.size() < kMostComments) others.emplace_back(comment);
  }
  return others;
}

}  // namespace ringside::importers::pprof
