#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "exporters/allocations/allocation_report.h"
#include "exporters/allocations/allocation_units.h"
#include "exporters/report/report_layout.h"
#include "exporters/units.h"

namespace ringside::exporters {
namespace {

using profile::DetailedProfile;
using profile::Profile;
using views::AllocationGroup;
using views::AllocationTable;
using views::Allocator;
using views::BlockAmount;
using views::BlockMeasure;
using views::BlockSums;
using views::BlockValue;

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", format_count(count), count == 1 ? one : many);
}

// The lines above an allocator's table.
class Summary {
 public:
  Summary(const Allocator& allocator, const AllocationReportOptions& options)
      : allocator_(allocator), options_(options), total_(allocator.blocks.total()) {}

  Result<void> write(Sink& sink) {
    const views::AllocationEvents& events = allocator_.blocks.events();
    text_ = fmt::format("# {}: {}, sizes in {}{}\n", allocator_.name,
                        counted(events.all(), "event", "events"), size_unit(allocator_.unit),
                        allocator_.clock.frequency != 0
                            ? ""
                            : fmt::format(", times in {}", time_unit(allocator_.clock)));
    line("live at the end", in_words(total_.live) + spans(total_.ages, "mean age", "oldest"));
    line("at the peak", in_words(total_.peak) + peak_time());
    line("allocated in all", in_words(total_.allocated));
    line("freed", in_words(total_.freed) + spans(total_.lifetimes, "mean lifetime", "longest"));
    if (options_.older_than) line("older than " + *options_.older_than, in_words(total_.older));
    if (options_.since) line("growth since " + *options_.since, growth());
    add_odd(events);
    std::size_t widest = 0;
    for (const auto& [name, words] : lines_) widest = std::max(widest, name.size());
    for (const auto& [name, words] : lines_)
      text_ += fmt::format("# {:<{}} : {}\n", name, widest, words);
    return sink.write(text_ + "#\n");
  }

 private:
  void line(std::string name, std::string words) {
    lines_.emplace_back(std::move(name), std::move(words));
  }
  [[nodiscard]] std::string in_words(const BlockAmount& blocks) const {
    return fmt::format("{} {}, {}", format_count(blocks.size), size_unit(allocator_.unit),
                       counted(blocks.count, "block", "blocks"));
  }
  [[nodiscard]] std::string growth() const {
    const auto of = [&](BlockMeasure measure) {
      return format_weight(views::weight_of(total_, BlockValue::kGrowth, measure));
    };
    return fmt::format("{} {}, {} blocks", of(BlockMeasure::kSize), size_unit(allocator_.unit),
                       of(BlockMeasure::kCount));
  }
  [[nodiscard]] std::string peak_time() const {
    if (total_.peak.size == 0) return {};
    return ", at " + moment_text(allocator_.blocks.peak_time(), allocator_.clock);
  }
  [[nodiscard]] std::string spans(const views::Spans& spans, const char* mean,
                                  const char* longest) const {
    if (spans.count == 0) return {};
    return fmt::format("; {} {}, {} {}", mean, time_text(spans.mean(), allocator_.clock), longest,
                       time_text(static_cast<double>(spans.longest), allocator_.clock));
  }
  // Events that fit no block.
  void add_odd(const views::AllocationEvents& events) {
    const auto add = [&](std::uint64_t count, const char* name, const char* words) {
      if (count != 0) line(name, format_count(count) + words);
    };
    add(events.unknown_frees, "unknown frees", ", of blocks that were never seen");
    add(events.double_frees, "double frees", ", of blocks that were free already");
    add(events.unknown_reallocs, "unknown reallocs",
        ", of blocks that are not live: they count as allocs");
    add(total_.replaced.count, "never freed",
        " blocks that are gone all the same: others were allocated at their pointers");
    add(events.too_large, "too large", " sizes, which count as 0");
    add(events.others, "other events", ", of operations that ringside does not know");
  }

  const Allocator& allocator_;
  const AllocationReportOptions& options_;
  BlockSums total_;
  std::string text_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

class Table {
 public:
  Table(const Profile& profile, const Allocator& allocator, const AllocationTable& table,
        const AllocationReportOptions& options)
      : profile_(profile), allocator_(allocator), table_(table), options_(options) {
    extent_ = extent_of_all();
    set_layouts();
  }

  Result<void> write(Sink& sink) {
    const std::size_t mark = kMark.size();
    for (std::size_t n = 0; n < count(); ++n) {
      make(n);
      measure(row_, layouts_);
    }
    widen(layouts_);
    if (options_.width != 0) fit(layouts_, options_.width - mark, true);
    RINGSIDE_TRY(write_heading(layouts_, sink));
    for (std::size_t n = 0; n < count(); ++n) {
      make(n);
      if (options_.width != 0) cut(row_, layouts_, options_.width - mark);
      RINGSIDE_TRY(write_row(row_, layouts_, sink));
    }
    return sink.write("\n");
  }

 private:
  // The less a column shows of what the table is sorted by, the sooner it goes; numbers of blocks
  // before sizes.
  void set_layouts() {
    constexpr int kLast = 100;
    layouts_ = {{"Share", 8, true}};
    const auto add_blocks = [&](const char* name, BlockValue value, int leaves) {
      const bool stays = value == options_.table.value;
      layouts_.push_back({name, 9, true, stays ? 0 : 2 * leaves});
      layouts_.push_back({"Blocks", 6, true, stays ? kLast : 2 * leaves - 1});
    };
    add_blocks("Live", BlockValue::kLive, 8);
    add_blocks("Peak", BlockValue::kPeak, 5);
    add_blocks("Allocated", BlockValue::kAllocated, 4);
    add_blocks("Freed", BlockValue::kFreed, 3);
    if (options_.older_than) add_blocks("Older", BlockValue::kOlder, 7);
    if (options_.since) add_blocks("Growth", BlockValue::kGrowth, 7);
    layouts_.push_back({"Age", 8, true, 2});
    layouts_.push_back({"Lifetime", 8, true, 1});
    layouts_.push_back({options_.table.group == AllocationGroup::kStack ? "Stack" : "Function", 8});
  }

  [[nodiscard]] profile::Weight weight_of(const BlockSums& sums) const {
    return views::weight_of(sums, options_.table.value, options_.table.measure);
  }
  // Shares are of this. The sum of growth may be 0, where some stacks shrink as others grow.
  [[nodiscard]] std::uint64_t extent_of_all() const {
    if (options_.table.value != BlockValue::kGrowth)
      return profile::extent_of(weight_of(allocator_.blocks.total()));
    std::uint64_t extent = 0;
    for (const views::LiveSet::Stack& stack : allocator_.blocks.stacks())
      extent += profile::extent_of(weight_of(stack.sums));
    return extent;
  }
  [[nodiscard]] std::size_t count() const {
    return table_.rows.size() + (table_.rows_left_out == 0 ? 0 : 1);
  }

  void make(std::size_t number) {
    row_.clear();
    const bool is_rest = number == table_.rows.size();
    add_sums(is_rest ? table_.left_out : table_.rows[number].sums);
    row_.add().text =
        is_rest
            ? fmt::format("({} more {})", table_.rows_left_out,
                          options_.table.group == AllocationGroup::kStack ? "stacks" : "functions")
            : name_of(table_.rows[number], profile_);
  }

  void add_sums(const BlockSums& sums) {
    const profile::Weight weight = weight_of(sums);
    Cell& share = row_.add();
    share.text = format_share(weight, extent_) + "%";
    share.colour = colour_of_share(profile::extent_of(weight), extent_);
    add_blocks(sums, BlockValue::kLive);
    add_blocks(sums, BlockValue::kPeak);
    add_blocks(sums, BlockValue::kAllocated);
    add_blocks(sums, BlockValue::kFreed);
    if (options_.older_than) add_blocks(sums, BlockValue::kOlder);
    if (options_.since) add_blocks(sums, BlockValue::kGrowth);
    add_span(sums.ages);
    add_span(sums.lifetimes);
  }
  void add_blocks(const BlockSums& sums, BlockValue value) {
    for (const BlockMeasure measure : {BlockMeasure::kSize, BlockMeasure::kCount})
      row_.add().text = format_weight(views::weight_of(sums, value, measure));
  }
  void add_span(const views::Spans& spans) {
    row_.add().text = spans.count == 0 ? "-" : time_text(spans.mean(), allocator_.clock);
  }

  const Profile& profile_;
  const Allocator& allocator_;
  const AllocationTable& table_;
  const AllocationReportOptions& options_;
  std::uint64_t extent_ = 0;
  std::vector<Layout> layouts_;
  Row row_;  // the one at hand
};

}  // namespace

Result<void> write_allocation_text(DetailedProfile& profile,
                                   const std::vector<Allocator>& allocators,
                                   const AllocationReportOptions& options, Sink& sink) {
  for (const Allocator& allocator : allocators) {
    RINGSIDE_TRY(Summary(allocator, options).write(sink));
    const AllocationTable table = make_allocation_table(profile, allocator, options.table);
    if (table.rows.empty())
      RINGSIDE_TRY(sink.write("# Nothing was allocated by what is shown.\n\n"));
    else
      RINGSIDE_TRY(Table(profile.profile(), allocator, table, options).write(sink));
  }
  return {};
}

}  // namespace ringside::exporters
