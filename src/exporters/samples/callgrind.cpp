#include "exporters/samples/callgrind.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "exporters/parts/stack_functions.h"
#include "exporters/parts/value_columns.h"
#include "profile/sanitize.h"
#include "views/owner.h"

namespace ringside::exporters {
namespace {

using profile::DetailedProfile;
using profile::FunctionId;
using profile::StringId;

constexpr FunctionId kIdle = ~FunctionId{0};
constexpr std::string_view kNobody = "[all]";  // calls the outermost functions of no process

// A function in a stack, and the line in its file that it stands at.
struct Spot {
  FunctionId function = 0;
  std::uint32_t line = 0;
};

// Costs of a function's own, or of the calls of another one from one of its lines.
struct CostKey {
  FunctionId function = 0;
  FunctionId called = kNone;
  std::uint32_t line = 0;
  auto operator<=>(const CostKey&) const = default;
  static constexpr FunctionId kNone = kIdle - 1;
};

class CallgrindWriter {
 public:
  CallgrindWriter(DetailedProfile& profile, const ExportOptions& options, Sink& sink)
      : profile_(profile), options_(options), sink_(sink), columns_(value_columns(profile)) {}

  Result<void> write() {
    GroupSums sums(profile_, columns_);
    RINGSIDE_TRY(profile_.for_each(sums));
    totals_.resize(columns_.size());
    // A function's file is known when all its frames are named.
    for (std::uint32_t group = 0; group < profile_.group_count(); ++group)
      if (sums.has(group)) set_spots(group);
    for (std::uint32_t group = 0; group < profile_.group_count(); ++group)
      if (sums.has(group) && views::is_shown(profile_.owner_of(group), options_.show_idle))
        add(group, sums);
    RINGSIDE_TRY(write_head());
    return write_costs();
  }

 private:
  using Costs = std::vector<std::int64_t>;

  void add(std::uint32_t group, const GroupSums& sums) {
    set_spots(group);
    Costs costs;
    for (std::size_t i = 0; i < columns_.size(); ++i) costs.push_back(sums.sum(group, i));
    add_to(totals_, costs);
    const Spot& leaf = spots_.front();
    add_to(costs_[{leaf.function, CostKey::kNone, leaf.line}], costs);
    // Outermost first, so that the first call of a function is the one that counts.
    seen_.clear();
    Spot caller{root_id(profile_.owner_id(group), leaf.function), 0};
    for (auto spot = spots_.rbegin(); spot != spots_.rend(); ++spot) {
      if (seen_.insert(spot->function).second) {
        const CostKey call{caller.function, spot->function, caller.line};
        add_to(costs_[call], costs);
        calls_[call] += sums.samples(group);
      }
      caller = *spot;
    }
  }

  // The root as a function: those of the profile come first.
  FunctionId root_id(profile::OwnerId owner, FunctionId leaf) {
    const profile::Profile& all = profile_.profile();
    std::string name = leaf == kIdle
                           ? owner_name(all, all.owners[owner], options_.by)
                           : root_name(all, {owner, all.functions[leaf].image}, options_.by);
    if (name.empty()) name = kNobody;
    const auto [entry, added] = root_ids_.try_emplace(name, roots_.size());
    if (added) roots_.push_back(name);
    return static_cast<FunctionId>(all.functions.size() + entry->second);
  }

  static void add_to(Costs& sum, const Costs& costs) {
    sum.resize(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) add_bounded(sum[i], costs[i]);
  }

  // Innermost first.
  void set_spots(std::uint32_t group) {
    const profile::Profile& all = profile_.profile();
    spots_.clear();
    for_each_function(profile_, group, [&](const profile::DetailedFrame& frame, std::size_t i) {
      const FunctionId function = all.frames[frame.functions[i]].function;
      const profile::Place place = frame.place(i);
      // Lines are of one file: the function's.
      const bool is_there = place.file == all.functions[function].file;
      spots_.push_back({function, is_there ? place.line : 0});
    });
    if (spots_.empty()) spots_.push_back({kIdle, 0});
  }

  Result<void> write_head() {
    const profile::Profile& all = profile_.profile();
    std::string text = fmt::format(
        "# callgrind format\nversion: 1\ncreator: ringside {}\ncmd: {}\npositions: line\nevents:",
        printable_line(all.header.ringside_version), printable_line(all.header.kernel));
    for (const ValueColumn& column : columns_) text += " " + event_name(column.name);
    text += "\nsummary:" + costs_text(totals_) + "\n";
    return sink_.write(text);
  }

  // An event's name is one word.
  static std::string event_name(std::string name) {
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
  }

  static std::string costs_text(const Costs& costs) {
    std::string text;
    for (const std::int64_t cost : costs) text += fmt::format(" {}", cost);
    return text;
  }

  Result<void> write_costs() {
    FunctionId last = CostKey::kNone;
    for (const auto& [key, costs] : costs_) {
      std::string text;
      if (key.function != last) text += "\n" + place_text("ob=", "fl=", "fn=", key.function);
      last = key.function;
      if (key.called != CostKey::kNone) {
        text += place_text("cob=", "cfi=", "cfn=", key.called);
        text += fmt::format("calls={} {}\n", calls_.at(key), line_of(key.called));
      }
      text += fmt::format("{}{}\n", key.line, costs_text(costs));
      RINGSIDE_TRY(sink_.write(text));
    }
    return {};
  }

  [[nodiscard]] std::uint32_t line_of(FunctionId function) const {
    const profile::Profile& all = profile_.profile();
    return function < all.functions.size() ? all.functions[function].first_line : 0;
  }

  // In place of an image.
  [[nodiscard]] const char* root_object() const {
    return options_.by == views::RootFrame::kModule ? "[module]" : "[process]";
  }

  std::string place_text(const char* object, const char* file, const char* name, FunctionId id) {
    const profile::Profile& all = profile_.profile();
    constexpr std::uint32_t kNoImage = ~0u;
    if (id >= all.functions.size())
      return object + named(objects_, kNoImage, root_object()) + file + named(files_, 0, "") +
             name +
             named(functions_, id,
                   id == kIdle ? profile::kIdleName : roots_[id - all.functions.size()]);
    const profile::Function& function = all.functions[id];
    return object + named(objects_, function.image, all.strings[function.image]) + file +
           named(files_, function.file, all.strings[function.file]) + name +
           named(functions_, id, all.strings[function.name]);
  }

  // "(3) name" where it is new, else "(3)".
  static std::string named(std::map<std::uint32_t, std::size_t>& numbers, std::uint32_t id,
                           std::string_view name) {
    const auto [number, added] = numbers.try_emplace(id, numbers.size() + 1);
    return fmt::format("({}){}{}\n", number->second, added ? " " : "",
                       added ? (name.empty() ? "???" : name) : "");
  }

  DetailedProfile& profile_;
  const ExportOptions& options_;
  Sink& sink_;
  std::vector<ValueColumn> columns_;
  std::map<CostKey, Costs> costs_;
  std::map<CostKey, std::uint64_t> calls_;  // samples
  Costs totals_;
  std::map<std::uint32_t, std::size_t> objects_;    // numbers of images' names
  std::map<std::uint32_t, std::size_t> files_;      // of source files
  std::map<std::uint32_t, std::size_t> functions_;  // of functions
  std::vector<std::string> roots_;
  std::map<std::string, std::size_t> root_ids_;  // in roots_
  std::vector<Spot> spots_;                      // reused
  std::set<FunctionId> seen_;                    // reused
};

}  // namespace

Result<void> write_callgrind(DetailedProfile& profile, const ExportOptions& options, Sink& sink) {
  return CallgrindWriter(profile, options, sink).write();
}

}  // namespace ringside::exporters
