#include "exporters/emerald.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exporters/parts/rust_duration.h"
#include "profile/sanitize.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace {

using profile::Owner;
using profile::Profile;
using profile::SampleGroup;

constexpr std::size_t kTopStacks = 10;

bool is_in_user_code(const SampleGroup& group, const Profile& profile) {
  const PrivilegeLevel level = profile.owner_of(group).level;
  if (level != PrivilegeLevel::kUnknown) return level == PrivilegeLevel::kUser;
  return profile.frames[profile.stacks[group.stack].frame].kind == profile::Kind::kUser;
}

bool has_stack(const SampleGroup& group, const Profile& profile) {
  return profile.is_sampled(group) &&
         profile.name(profile.stacks[group.stack].frame) != profile::kNoStackName;
}

std::string process_of(const Owner& owner, const Profile& profile) {
  if (!owner.pid) return "User PID=? (<unknown>)";
  const std::string_view comm = profile.strings[owner.comm];
  const bool named = comm != profile::unnamed_thread(owner.tid.value_or(*owner.pid)) &&
                     !recording::is_unnamed_process(comm);
  return fmt::format("User PID={} ({})", *owner.pid, named ? comm : "<unknown>");
}

std::string line_of(const SampleGroup& group, const Profile& profile) {
  const bool user = is_in_user_code(group, profile);
  const Owner& owner = profile.owner_of(group);
  std::string line = user                                       ? process_of(owner, profile)
                     : owner.level == PrivilegeLevel::kFirmware ? "Firmware"
                     : owner.level == PrivilegeLevel::kGuest    ? "Guest"
                                                                : "Kernel";
  std::vector<profile::FrameId> frames;  // leaf first
  for (profile::NodeId id = group.stack; id != (user ? profile::kNoNode : group.user_part);
       id = profile.stacks[id].parent)
    frames.push_back(profile.stacks[id].frame);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    line += fmt::format(";{}", profile.name(*frame));
  return line;
}

using Lines = std::map<std::string, std::uint64_t>;

Lines lines_of(const Profile& profile) {
  Lines lines;
  for (const SampleGroup& group : profile.samples)
    if (has_stack(group, profile)) lines[line_of(group, profile)] += group.weight;
  return lines;
}

Result<void> write_top(const Lines& lines, std::uint64_t total, Sink& sink) {
  std::vector<std::pair<std::string, std::uint64_t>> sorted(lines.begin(), lines.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  sorted.resize(std::min(sorted.size(), kTopStacks));
  RINGSIDE_TRY(sink.write("\n=== Top Stack Traces ===\n"));
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double percent = 100 * static_cast<double>(sorted[i].second) / static_cast<double>(total);
    RINGSIDE_TRY(sink.write(fmt::format("{:>2}. ({:>3} samples, {:>5.1f}%) {}\n", i + 1,
                                        sorted[i].second, percent, sorted[i].first)));
  }
  return {};
}

}  // namespace

Result<void> write_emerald_folded(const Profile& profile, Sink& sink) {
  for (const auto& [stack, weight] : lines_of(profile))
    RINGSIDE_TRY(sink.write(fmt::format("{} {}\n", stack, weight)));
  return {};
}

Result<void> write_emerald_outcome(const Profile& profile, const std::string& path, Sink& sink) {
  return sink.write(
      fmt::format("Writing {0} samples to {1}\nFolded stack samples written to: {1}\n"
                  "Generate flamegraph with: flamegraph.pl {1} > flamegraph.svg\n",
                  lines_of(profile).size(), profile::sanitize(path)));
}

Result<void> write_emerald_stacks(const Profile& profile, Sink& sink) {
  const views::Summary summary = views::make_summary(profile);
  const std::uint64_t took = summary.stops == 0 ? 0 : summary.pause_total_ns / summary.stops;
  std::map<std::uint16_t, const SampleGroup*> by_vcpu;
  for (const SampleGroup& group : profile.samples)
    if (profile.is_sampled(group)) by_vcpu.try_emplace(profile.owner_of(group).vcpu.value, &group);
  for (const auto& [vcpu, group] : by_vcpu) {
    const bool user = is_in_user_code(*group, profile);
    const Owner& owner = profile.owner_of(*group);
    std::string text = profile.header.vcpu_count > 1 ? fmt::format("vCPU {}\n", vcpu) : "";
    text += fmt::format("Current stack trace (took {}) ({}):\n", rust_duration(took),
                        user ? process_of(owner, profile) : "kernel");
    const auto frames = profile.stacks.frames_of(group->stack);
    for (std::size_t i = 0; i < frames.size(); ++i)
      text += fmt::format("{:>3}: {}\n", i, profile.name(frames[frames.size() - 1 - i]));
    RINGSIDE_TRY(sink.write(text));
  }
  return {};
}

Result<void> write_emerald_statistics(const Profile& profile, bool top, Sink& sink) {
  const views::Summary summary = views::make_summary(profile);
  const Lines lines = lines_of(profile);
  std::uint64_t total = 0;
  std::uint64_t failed = 0;
  std::set<std::optional<std::uint32_t>> processes;  // without a number: the kernel
  for (const SampleGroup& group : profile.samples) {
    const Owner& owner = profile.owner_of(group);
    if (has_stack(group, profile)) {
      total += group.weight;
      processes.insert(is_in_user_code(group, profile) ? owner.pid : std::nullopt);
    } else if (owner.disposition == wire::Disposition::kSampled ||
               owner.disposition == wire::Disposition::kFailed) {
      failed += group.weight;
    }
  }
  std::string text = fmt::format(
      "\n=== Sampling Statistics ===\n"
      "Total samples: {}\nFailed samples: {}\nUnique stacks: {}\n"
      "Unique processes (with kernel): {}\nTotal time: {}\n",
      total, failed, lines.size(), processes.size(), rust_duration(summary.duration_ns));
  if (total > 0)
    text += fmt::format(
        "Average sample time: {}\nTotal sample time: {}\nAverage symbol resolution time: {}\n"
        "Total symbol resolution time: {}\nSuccess rate: {:.1f}%\n",
        rust_duration(summary.pause_total_ns / total), rust_duration(summary.pause_total_ns),
        rust_duration(summary.symbol_ns / total), rust_duration(summary.symbol_ns),
        100 * static_cast<double>(total) / static_cast<double>(total + failed));
  RINGSIDE_TRY(sink.write(text));
  return top ? write_top(lines, total, sink) : Result<void>();
}

}  // namespace ringside::exporters
