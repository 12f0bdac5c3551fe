#include "views/allocations/allocation_rows.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/wildcards.h"

namespace ringside::views {
namespace {

using profile::DetailedProfile;
using profile::FrameId;

// Finds the function that has allocated.
class FunctionFinder {
 public:
  FunctionFinder(const DetailedProfile& profile, const AllocationTableOptions& options)
      : profile_(profile), passing_(std::begin(kPassing), std::end(kPassing)) {
    passing_.insert(passing_.end(), options.passing.begin(), options.passing.end());
    if (!options.names_have_places) return;
    // A function without a line, or an address, is its name alone.
    const std::vector<std::string> plain = passing_;
    for (const std::string& pattern : plain) passing_.push_back(pattern + " *");
  }

  // `frames` outermost first, at least one.
  [[nodiscard]] FrameId function_of(const std::vector<FrameId>& frames) {
    for (std::size_t n = frames.size() - 1; n-- > 0;)
      if (!is_passing(frames[n])) return frames[n];
    return frames.front();
  }

 private:
  bool is_passing(FrameId frame) {
    const auto [known, is_new] = known_.try_emplace(frame);
    if (!is_new) return known->second;
    const std::string_view name = profile_.profile().name(frame);
    known->second =
        std::any_of(passing_.begin(), passing_.end(),
                    [name](const std::string& pattern) { return matches(pattern, name); });
    return known->second;
  }

  const DetailedProfile& profile_;
  std::vector<std::string> passing_;
  std::unordered_map<FrameId, bool> known_;
};

void sort(AllocationTable& table, const profile::Profile& profile,
          const AllocationTableOptions& options) {
  const auto names = [&](const AllocationRow& row) {
    std::vector<std::string_view> texts;
    for (const FrameId frame : row.frames) texts.push_back(profile.name(frame));
    return texts;
  };
  const auto weight = [&](const AllocationRow& row) {
    return std::tuple(weight_of(row.sums, options.value, options.measure), row.sums.allocated.size,
                      row.sums.allocated.count);
  };
  std::sort(table.rows.begin(), table.rows.end(),
            [&](const AllocationRow& a, const AllocationRow& b) {
              if (weight(a) != weight(b)) return weight(a) > weight(b);
              return names(a) < names(b);
            });
}

}  // namespace

std::string name_of(const AllocationRow& row, const profile::Profile& profile) {
  std::string text;
  for (const FrameId frame : row.frames) {
    if (!text.empty()) text += ';';
    text += profile.name(frame);
  }
  return text;
}

std::vector<FrameId> frames_of(DetailedProfile& profile, std::uint32_t group) {
  std::vector<FrameId> frames;
  for (const profile::StackEntry& entry : profile.stack_of(group)) {
    const auto functions = profile.frame(entry).functions;
    frames.insert(frames.end(), functions.rbegin(), functions.rend());
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

AllocationTable make_allocation_table(DetailedProfile& profile, const Allocator& allocator,
                                      const AllocationTableOptions& options) {
  AllocationTable table;
  FunctionFinder finder(profile, options);
  std::map<std::vector<FrameId>, std::size_t> known;
  for (const LiveSet::Stack& stack : allocator.blocks.stacks()) {
    if (stack.key == kOtherStacks) continue;
    std::vector<FrameId> frames = frames_of(profile, stack.key);
    if (frames.empty()) continue;
    if (options.group == AllocationGroup::kFunction) frames.assign(1, finder.function_of(frames));
    const auto [row, is_new] = known.try_emplace(frames, table.rows.size());
    if (is_new) table.rows.push_back({std::move(frames), {}});
    table.rows[row->second].sums += stack.sums;
    table.sum += stack.sums;
  }
  sort(table, profile.profile(), options);
  if (options.maximum_rows == 0 || options.maximum_rows >= table.rows.size()) return table;
  const auto end = table.rows.begin() + static_cast<std::ptrdiff_t>(options.maximum_rows);
  for (auto row = end; row != table.rows.end(); ++row) table.left_out += row->sums;
  table.rows_left_out = static_cast<std::size_t>(table.rows.end() - end);
  table.rows.erase(end, table.rows.end());
  return table;
}

}  // namespace ringside::views
