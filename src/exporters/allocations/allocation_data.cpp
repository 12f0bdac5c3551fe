#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "exporters/allocations/allocation_report.h"
#include "exporters/allocations/allocation_units.h"
#include "exporters/parts/csv_text.h"
#include "exporters/parts/json_text.h"
#include "exporters/parts/json_warnings.h"

namespace ringside::exporters {
namespace {

using profile::DetailedProfile;
using profile::Profile;
using views::AllocationGroup;
using views::AllocationRow;
using views::AllocationTable;
using views::Allocator;
using views::BlockAmount;
using views::BlockSums;

struct Number {
  const char* name;
  std::string text;
};
struct Member {
  const char* name;
  std::vector<Number> numbers;
};

// The sums of a row, in the order of the columns.
std::vector<Member> members_of(const BlockSums& sums, const recording::Clock& clock,
                               const AllocationReportOptions& options) {
  const auto blocks = [](const char* name, const BlockAmount& of) {
    return Member{name, {{"count", std::to_string(of.count)}, {"size", std::to_string(of.size)}}};
  };
  const auto spans = [&](const char* name, const views::Spans& of) {
    return Member{
        name,
        {{"count", std::to_string(of.count)},
         {"mean", fmt::format("{:.3f}", time_number(of.mean(), clock))},
         {"longest", fmt::format("{:.0f}", time_number(static_cast<double>(of.longest), clock))}}};
  };
  std::vector<Member> members = {blocks("live", sums.live), blocks("peak", sums.peak),
                                 blocks("allocated", sums.allocated), blocks("freed", sums.freed),
                                 blocks("replaced", sums.replaced)};
  if (options.older_than) members.push_back(blocks("older", sums.older));
  if (options.since) members.push_back(blocks("before", sums.before));
  members.push_back(spans("age", sums.ages));
  members.push_back(spans("lifetime", sums.lifetimes));
  return members;
}

std::string json_members(const std::vector<Member>& members) {
  std::string text;
  for (const Member& member : members) {
    std::string numbers;
    for (const Number& number : member.numbers)
      numbers += fmt::format("{}\"{}\":{}", numbers.empty() ? "" : ",", number.name, number.text);
    text += fmt::format(",\"{}\":{{{}}}", member.name, numbers);
  }
  return text;
}

std::string json_name(const Profile& profile, const AllocationRow& row, AllocationGroup group) {
  if (group == AllocationGroup::kFunction) {
    const profile::Frame& frame = profile.frames[row.frames.front()];
    const profile::Function& function = profile.functions[frame.function];
    return fmt::format("\"function\":{},\"image\":{},\"kind\":\"{}\"",
                       json_quoted(profile.strings[function.name]),
                       json_quoted(profile.strings[function.image]), name_of(frame.kind));
  }
  std::string stack;
  for (const profile::FrameId frame : row.frames)
    stack += (stack.empty() ? "" : ",") + json_quoted(profile.name(frame));
  return "\"stack\":[" + stack + "]";
}

Result<void> write_json_allocator(DetailedProfile& profile, const Allocator& allocator,
                                  const AllocationReportOptions& options, Sink& sink) {
  const views::AllocationEvents& events = allocator.blocks.events();
  const auto time = [&](std::uint64_t ticks) {
    return fmt::format("{:.0f}", time_number(static_cast<double>(ticks), allocator.clock));
  };
  const auto members = [&](const BlockSums& sums) {
    return json_members(members_of(sums, allocator.clock, options));
  };
  RINGSIDE_TRY(sink.write(fmt::format(
      R"({{"name":{},"unit":"{}","time_unit":"{}","end":{},"peak_time":{},)"
      R"("events":{{"alloc":{},"realloc":{},"free":{},"other":{},"unknown_reallocs":{},)"
      R"("unknown_frees":{},"double_frees":{},"too_large":{}}}{},"rows":[)",
      json_quoted(allocator.name), size_unit(allocator.unit), time_unit(allocator.clock),
      time(allocator.end), time(allocator.blocks.peak_time()), events.allocs, events.reallocs,
      events.frees, events.others, events.unknown_reallocs, events.unknown_frees,
      events.double_frees, events.too_large, members(allocator.blocks.total()))));
  const AllocationTable table = make_allocation_table(profile, allocator, options.table);
  for (const AllocationRow& row : table.rows)
    RINGSIDE_TRY(sink.write(fmt::format("{}{{{}{}}}", &row == &table.rows.front() ? "\n" : ",\n",
                                        json_name(profile.profile(), row, options.table.group),
                                        members(row.sums))));
  return sink.write(fmt::format(R"(],"left_out":{{"rows":{}{}}}}})", table.rows_left_out,
                                members(table.left_out)));
}

}  // namespace

Result<void> write_allocation_csv(DetailedProfile& profile,
                                  const std::vector<Allocator>& allocators,
                                  const AllocationReportOptions& options, Sink& sink) {
  std::string head = "allocator,unit,time_unit";
  for (const Member& member : members_of({}, {}, options))
    for (const Number& number : member.numbers)
      head += fmt::format(",{}_{}", member.name, number.name);
  head += options.table.group == AllocationGroup::kStack ? ",stack\n" : ",function\n";
  RINGSIDE_TRY(sink.write(head));
  for (const Allocator& allocator : allocators) {
    const auto write = [&](const BlockSums& sums, const std::string& name) {
      std::string line = fmt::format("{},{},{}", csv_text(allocator.name),
                                     size_unit(allocator.unit), time_unit(allocator.clock));
      for (const Member& member : members_of(sums, allocator.clock, options))
        for (const Number& number : member.numbers) line += "," + number.text;
      return sink.write(line + "," + name + "\n");
    };
    const AllocationTable table = make_allocation_table(profile, allocator, options.table);
    for (const AllocationRow& row : table.rows)
      RINGSIDE_TRY(write(row.sums, csv_text(name_of(row, profile.profile()))));
    if (table.rows_left_out != 0)
      RINGSIDE_TRY(write(table.left_out, fmt::format("({} more rows)", table.rows_left_out)));
  }
  return {};
}

Result<void> write_allocation_json(DetailedProfile& profile,
                                   const std::vector<Allocator>& allocators,
                                   const AllocationReportOptions& options, Sink& sink) {
  const recording::Header& header = profile.profile().header;
  RINGSIDE_TRY(sink.write(fmt::format(
      R"({{"version":1,"kernel":{},"guest_os":{},"value":"{}","by":"{}",)"
      R"("warnings":[{}],"allocators":[)",
      json_string(header.kernel), json_string(header.guest_os), name_of(options.table.value),
      options.table.measure == views::BlockMeasure::kSize ? "size" : "count",
      json_warnings(profile.profile()))));
  for (const Allocator& allocator : allocators) {
    RINGSIDE_TRY(sink.write(&allocator == &allocators.front() ? "\n" : ",\n"));
    RINGSIDE_TRY(write_json_allocator(profile, allocator, options, sink));
  }
  return sink.write("\n]}\n");
}

}  // namespace ringside::exporters
