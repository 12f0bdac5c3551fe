#include "importers/folded_text.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/split.h"
#include "importers/folded_line.h"
#include "importers/folded_survey.h"
#include "importers/frame_names.h"
#include "profile/adopt_stacks.h"
#include "profile/frame_interner.h"
#include "profile/sanitize.h"
#include "profile/stack_forest.h"

namespace ringside::importers {
namespace {

using profile::FrameId;
using profile::Kind;
using profile::NodeId;

// Bytes that two texts have in common at their beginning.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    if (x != y) return at + static_cast<std::size_t>(std::countr_zero(x ^ y)) / 8;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

class FoldedReader {
 public:
  FoldedReader(std::size_t bytes, std::int64_t scale, symbols::DemangleStyle style)
      : scale_(scale), style_(style) {
    forest_.reserve(bytes / kBytesPerNode);
    profile_.samples.reserve(bytes / kBytesPerLine);
    profile_.input = "folded stacks";
    profile_.owners.emplace_back();
  }

  // False if the sum of all counts would be too large.
  bool add(const FoldedLine& line) {
    const auto count = scaled_count(line, scale_);
    if (!count) return false;
    const std::uint64_t extent = profile::extent_of(*count);
    if (extent > extent_left_) return false;
    extent_left_ -= extent;
    place(line.stack);
    // As a record of it counts (docs/counts.md).
    const std::uint64_t samples = scale_ == 1 ? std::max<std::uint64_t>(extent, 1) : 1;
    profile_.samples.push_back({open_.back().node, profile::kNoNode, 0, *count, samples});
    return true;
  }

  profile::Profile finish() && {
    recording::SampleStatistics& totals = profile_.totals;
    for (const profile::SampleGroup& group : profile_.samples) {
      totals.weight[0] += static_cast<std::uint64_t>(group.weight);
      totals.count[0] += group.samples;
    }
    profile_.unit = scale_ == 1 ? recording::WeightUnit::kSamples : recording::WeightUnit::kCount;
    profile::adopt_stacks(std::move(forest_), profile_);
    profile_.unique_stacks = profile_.samples.size();
    return std::move(profile_);
  }

 private:
  // Room is made for more than there mostly is: what is not used is not touched.
  static constexpr std::size_t kBytesPerNode = 16;
  static constexpr std::size_t kBytesPerLine = 64;

  struct Open {
    std::size_t end;  // of the frame's name in last_
    NodeId node;
  };

  // Frames that a line has in common with the one before are not looked at again: texts are sorted
  // mostly.
  void place(std::string_view stack) {
    const std::size_t common = common_prefix(last_, stack);
    const auto ends_here = [](std::string_view text, std::size_t at) {
      return at == text.size() || text[at] == ';';
    };
    while (!open_.empty() && (open_.back().end > common || !ends_here(stack, open_.back().end)))
      open_.pop_back();
    last_ = stack;
    std::size_t at = open_.empty() ? 0 : open_.back().end + 1;
    NodeId node = open_.empty() ? profile::kNoNode : open_.back().node;
    while (at <= stack.size()) {  // a `;` at the end has a frame without name behind it
      const std::size_t end = std::min(stack.find(';', at), stack.size());
      node = forest_.append(node, frame_of(stack.substr(at, end - at)));
      open_.push_back({end, node});
      at = end + 1;
    }
  }

  FrameId frame_of(std::string_view text) {
    return names_.find(text, [&] {
      const FoldedFrame frame = parse_folded_frame(text);
      return interner_.intern(profile::sanitize(symbols::demangle(frame.name, style_)), 0,
                              static_cast<Kind>(frame.kind), frame.inlined);
    });
  }

  std::int64_t scale_;  // of counts
  symbols::DemangleStyle style_;
  profile::Profile profile_;
  std::uint64_t extent_left_ = std::numeric_limits<profile::Weight>::max();
  profile::FrameInterner interner_{profile_};
  profile::StackForest forest_;
  FrameNames names_;
  std::string_view last_;   // the stack of the line before
  std::vector<Open> open_;  // its frames
};

}  // namespace

bool is_folded_text(Bytes bytes) {
  constexpr std::size_t kBeginning = 64 << 10;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()),
                        std::min(bytes.size(), kBeginning));
  // A line that is cut shows nothing.
  if (rest.size() < bytes.size()) rest = rest.substr(0, rest.rfind('\n') + 1);
  std::size_t lines = 0;
  std::size_t stacks = 0;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.empty() || is_folded_comment(line)) continue;
    ++lines;
    if (line.find('\0') == std::string_view::npos && parse_folded_line(line)) ++stacks;
  }
  return stacks > lines / 2;
}

Result<profile::Profile> read_folded_text(Bytes bytes, const std::string& name,
                                          symbols::DemangleStyle style) {
  RINGSIDE_ASSIGN(const FoldedSurvey survey, survey_folded({name, bytes, {}}));
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  FoldedReader reader(bytes.size(), survey.scale, style);
  std::uint64_t number = 0;
  std::uint64_t others = 0;
  std::uint64_t first_other = 0;
  while (!rest.empty()) {
    const std::string_view text = take_line(rest);
    ++number;
    if (text.empty() || is_folded_comment(text)) continue;
    const auto line = parse_folded_line(text);
    if (line && reader.add(*line)) continue;
    if (others++ == 0) first_other = number;
  }
  profile::Profile profile = std::move(reader).finish();
  if (const std::string scale = survey.scale_sentence(); !scale.empty())
    profile.warnings.push_back(fmt::format("{}: {}", name, scale));
  if (others != 0)
    profile.damage =
        fmt::format("lines that are no folded stack are left out: {} of {}; the first is line {}",
                    others, survey.stacks + survey.others, first_other);
  return profile;
}

}  // namespace ringside::importers
