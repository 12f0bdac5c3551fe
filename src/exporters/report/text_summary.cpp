#include <algorithm>
#include <numeric>
#include <string>

#include "arch/arch_info.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "exporters/broken_in_words.h"
#include "exporters/cut_in_words.h"
#include "exporters/report/text_report.h"
#include "exporters/units.h"
#include "recording/counters.h"
#include "views/summary.h"
#include "views/top_stacks.h"

namespace ringside::exporters {
namespace {

using profile::Profile;
using views::Summary;

// A line of the summary: a label, then what it says.
template <class... Args>
Result<void> line(Sink& sink, std::string_view label, fmt::format_string<Args...> format,
                  Args&&... args) {
  return sink.write(fmt::format("  {:<20}  {}\n", printable_line(label),
                                printable_line(fmt::format(format, std::forward<Args>(args)...))));
}

std::string command_line(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text.empty() ? "?" : text;
}

// The value of QEMU's option -cpu; empty: the command has none, and QEMU chose the model.
std::string_view cpu_model_of(const std::vector<std::string>& command) {
  const auto option = std::find(command.begin(), command.end(), "-cpu");
  return option == command.end() || option + 1 == command.end() ? std::string_view()
                                                                : std::string_view(*(option + 1));
}

// "2.00 ms (500 Hz)".
std::string interval_in_words(std::uint64_t interval_ns) {
  return fmt::format("{} ({:.4g} Hz)", format_duration(interval_ns),
                     1e9 / static_cast<double>(interval_ns));
}

Result<void> write_ticks(const Summary& summary, Sink& sink) {
  std::uint64_t seen = 0;
  for (const profile::Weight weight :
       {summary.sampled, summary.idle, summary.skipped, summary.failed})
    seen += static_cast<std::uint64_t>(weight);
  const std::uint64_t all = seen + summary.lost.value_or(0);
  const auto part = [&](std::string_view label, std::uint64_t value) {
    return line(sink, label, "{:>10}  {:>6}%", format_count(value), format_percent(value, all));
  };
  if (summary.due)
    RINGSIDE_TRY(line(sink, "vCPU ticks due", "{:>10}", format_count(*summary.due)));
  else
    RINGSIDE_TRY(line(sink, "vCPU ticks taken", "{:>10}", format_count(seen)));
  RINGSIDE_TRY(line(sink, "  sampled", "{:>10}  {:>6}%{}", format_weight(summary.sampled),
                    format_percent(summary.sampled, all),
                    summary.sampled == static_cast<profile::Weight>(summary.samples)
                        ? ""
                        : fmt::format("  in {} samples", format_count(summary.samples))));
  RINGSIDE_TRY(part("  idle", summary.idle));
  RINGSIDE_TRY(part("  skipped", summary.skipped));
  RINGSIDE_TRY(part("  failed", summary.failed));
  if (!summary.lost) return line(sink, "  lost, late", "unknown: the recording was cut");
  RINGSIDE_TRY(part("  lost", *summary.lost));
  for (const auto& [reason, ticks] : summary.lost_by_reason)
    RINGSIDE_TRY(line(sink, "", "{:>10}  {:>6}%  {}", format_count(ticks),
                      format_percent(ticks, all), reason));
  return line(sink, "late ticks", "{:>10}", format_count(*summary.late));
}

// User code of no known process is one frame, and so is what a hypervisor runs.
std::string in_words(StopReason reason, bool is_user) {
  if (reason != StopReason::kUser) return name_of(reason);
  return is_user ? "process not known" : "hypervisor's guest";
}

// A part of the stacks, and why its walks ended; nothing where no sample has it.
Result<void> write_part(std::string_view label, const recording::PartStops& part, bool is_user,
                        Sink& sink) {
  const std::uint64_t all = part.total();
  if (all == 0) return {};
  RINGSIDE_TRY(line(sink, label, "{:>10}  {:>6}% of {}", format_count(part.complete()),
                    format_percent(part.complete(), all), format_count(all)));
  for (std::size_t reason = 0; reason < kStopReasonCount; ++reason) {
    const std::uint64_t count = part.stops[reason];
    if (count == 0) continue;
    RINGSIDE_TRY(line(sink, "  " + in_words(static_cast<StopReason>(reason), is_user),
                      "{:>10}  {:>6}%", format_count(count), format_percent(count, all)));
  }
  return {};
}

Result<void> write_unwinding(const Summary& summary, Sink& sink) {
  RINGSIDE_TRY(line(sink, "stacks complete", "{:>10}  {:>6}% of {}", format_count(summary.complete),
                    format_percent(summary.complete, summary.unwound),
                    format_count(summary.unwound)));
  RINGSIDE_TRY(write_part("kernel part complete", summary.kernel, false, sink));
  RINGSIDE_TRY(write_part("user part complete", summary.user, true, sink));
  if (summary.both != 0)
    RINGSIDE_TRY(line(sink, "kernel and user part", "{:>10}", format_count(summary.both)));
  if (summary.firmware != 0)
    RINGSIDE_TRY(line(sink, "firmware", "{:>10}", format_count(summary.firmware)));
  if (summary.lost_stacks != 0)
    RINGSIDE_TRY(line(sink, "stacks damaged", "{:>10}", format_count(summary.lost_stacks)));
  RINGSIDE_TRY(line(sink, "unique stacks", "{:>10}", format_count(summary.unique_stacks)));
  if (summary.processes)
    RINGSIDE_TRY(line(sink, "unique processes", "{:>10}", format_count(*summary.processes)));
  return line(sink, "unknown frames", "{:>10}  {:>6}%", format_count(summary.unknown_frames),
              format_percent(summary.unknown_frames, summary.all_frames));
}

// Whose names kernel code has.
Result<void> write_kernel_files(const Profile& profile, Sink& sink) {
  const auto& files = profile.kernel_files;
  const std::uint64_t all = std::accumulate(
      files.begin(), files.end(), profile.unnamed_kernel_samples,
      [](std::uint64_t sum, const profile::NamedBy& file) { return sum + file.samples; });
  if (all == 0) return {};
  RINGSIDE_TRY(line(sink, "kernel code", "{:>10}  samples", format_count(all)));
  const auto part = [&](std::uint64_t samples, const std::string& name) {
    return line(sink, "", "{:>10}  {:>6}%  {}", format_count(samples), format_percent(samples, all),
                name);
  };
  for (const profile::NamedBy& file : files)
    RINGSIDE_TRY(
        part(file.samples, file.file.empty() ? "named in the recording" : "named by " + file.file));
  if (profile.unnamed_kernel_samples == 0) return {};
  return part(profile.unnamed_kernel_samples, "without a name");
}

// The writer's own counters; a name that ends in " ns" is a duration.
Result<void> write_counters(const Profile& profile, const Summary& summary, Sink& sink) {
  if (!profile.recorded) return {};
  for (const auto& [name, value] : profile.recorded->counters) {
    if (value == 0 || name.starts_with(recording::kFramesByCounter) ||
        name.starts_with(recording::kLostByPrefix) || name == recording::kStoodStillCounter)
      continue;  // or shown elsewhere
    if (name == recording::kStackBytesCounter) {
      RINGSIDE_TRY(line(sink, name, "{:>10}  a sample",
                        format_count(value / std::max<std::uint64_t>(summary.samples, 1))));
    } else if (name.ends_with(" ns")) {
      RINGSIDE_TRY(line(sink, name.substr(0, name.size() - 3), "{:>10}", format_duration(value)));
    } else {
      RINGSIDE_TRY(line(sink, name, "{:>10}", format_count(value)));
    }
  }
  return {};
}

Result<void> write_pauses(const Summary& summary, Sink& sink) {
  RINGSIDE_TRY(line(sink, "pause", "{:>10}  average, 99% within {}",
                    format_duration(summary.pause_average_ns),
                    format_duration(summary.pause_p99_ns)));
  return line(sink, "guest stood still", "{:>10}  {:>6}% of {}",
              format_duration(summary.stood_still_ns),
              format_percent(summary.stood_still_ns, summary.duration_ns),
              format_duration(summary.duration_ns));
}

// Samples that are no ticks of vCPUs.
Result<void> write_samples(const Profile& profile, const Summary& summary, Sink& sink) {
  RINGSIDE_TRY(sink.write("Samples\n"));
  RINGSIDE_TRY(line(sink, "samples", "{:>10}", format_count(summary.samples)));
  RINGSIDE_TRY(line(sink, profile.value, "{:>10}  {}", format_weight(summary.sampled),
                    unit_of(summary.sampled, profile.unit)));
  if (profile.recorded && profile.recorded->lost != 0)
    RINGSIDE_TRY(line(sink, "lost", "{:>10}", format_count(profile.recorded->lost)));
  RINGSIDE_TRY(write_unwinding(summary, sink));
  RINGSIDE_TRY(write_kernel_files(profile, sink));
  return line(sink, "time on symbols", "{:>10}", format_duration(summary.symbol_ns));
}

}  // namespace

Result<void> write_header(const Profile& profile, Sink& sink, bool detail) {
  const recording::Header& header = profile.header;
  std::string text = "# ========\n";
  const auto add = [&](std::string_view label, std::string_view value) {
    if (!value.empty()) text += fmt::format("# {:<16} : {}\n", label, printable_line(value));
  };
  add("input", profile.input);
  add("recorded on", header.start_wall_ns == 0 ? "" : format_time(header.start_wall_ns));
  add("host", header.host);
  add("ringside version", header.ringside_version);
  if (profile.input.empty()) add("command line", command_line(header.command_line));
  add("guest", header.guest_os);
  add("kernel", header.kernel);
  add("kernel release", header.kernel_release);
  add("kernel build id", hex_text(header.kernel_build_id));
  if (profile.input.empty()) add("architecture", arch::name_of(header.arch));
  add("vCPUs", header.vcpu_count == 0 ? "" : std::to_string(header.vcpu_count));
  add("CPU model", cpu_model_of(header.command_line));
  add("engine", header.engine);
  add("QEMU", header.qemu_version);
  add("interval", header.interval_ns == 0 ? "" : interval_in_words(header.interval_ns));
  if (!profile.other_sources.empty() || !profile.is_of_ticks)
    add("source", fmt::format("{} ({})", profile.source, profile.value));
  if (!profile.has_times)
    add("time", "none in the input; samples are numbered in their order");
  else if (!profile.has_seconds)
    add("time", "of a counter whose rate is not known; --cpu-freq gives it");
  add("missing", profile.damage);
  for (const std::string& warning : profile.warnings) add("warning", warning);
  for (const std::string& words : all_in_words(profile)) add("warning", words);
  for (const std::string& words : broken_in_words(profile)) add("warning", words);
  StringSink summary;
  RINGSIDE_TRY(write_summary(profile, summary));
  if (detail && profile.input.empty()) RINGSIDE_TRY(write_unwinding_detail(profile, summary));
  const std::string& lines = summary.text();
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    text += "# " + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return sink.write(text + "# ========\n#\n");
}

Result<void> write_warnings(const Profile& profile, Sink& sink) {
  const std::vector<std::string> all = all_in_words(profile);
  for (const std::string& words : all)
    RINGSIDE_TRY(sink.write(fmt::format("# warning: {}\n", printable_line(words))));
  return all.empty() ? Result<void>() : sink.write("#\n");
}

Result<void> write_summary(const Profile& profile, Sink& sink) {
  const Summary summary = views::make_summary(profile);
  if (!profile.input.empty()) {
    RINGSIDE_TRY(line(sink, "weight", "{:>10}", format_weight(summary.sampled)));
    return line(sink, "unique stacks", "{:>10}", format_count(summary.unique_stacks));
  }
  if (!profile.is_of_ticks) return write_samples(profile, summary, sink);
  RINGSIDE_TRY(sink.write("Sampling\n"));
  RINGSIDE_TRY(write_ticks(summary, sink));
  if (profile.has_seconds) RINGSIDE_TRY(write_pauses(summary, sink));
  RINGSIDE_TRY(write_unwinding(summary, sink));
  RINGSIDE_TRY(write_kernel_files(profile, sink));
  RINGSIDE_TRY(line(sink, "time on symbols", "{:>10}", format_duration(summary.symbol_ns)));
  return write_counters(profile, summary, sink);
}

Result<void> write_unwinding_detail(const Profile& profile, Sink& sink) {
  if (!profile.recorded) return sink.write("Unwinding: unknown, the recording was cut\n");
  const auto& counters = profile.recorded->counters;
  std::uint64_t all = 0;
  for (const auto& [name, value] : counters)
    if (name.starts_with(recording::kFramesByCounter) && name != recording::kSlowFramesCounter)
      all += value;
  RINGSIDE_TRY(sink.write("Unwinding\n"));
  RINGSIDE_TRY(line(sink, "frames", "{:>10}", format_count(all)));
  for (const auto& [name, value] : counters) {
    if (!name.starts_with(recording::kFramesByCounter) || value == 0) continue;
    const std::string by = name.substr(std::string_view("frames ").size());
    RINGSIDE_TRY(
        line(sink, "  " + by, "{:>10}  {:>6}%", format_count(value), format_percent(value, all)));
  }
  return {};
}

Result<void> write_top_stacks(const Profile& profile, std::size_t count, Sink& sink) {
  const auto stacks = views::make_top_stacks(profile, count);
  if (stacks.empty()) return sink.write("No samples.\n");
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const std::string_view comm = profile.strings[stacks[i].comm];
    RINGSIDE_TRY(sink.write(fmt::format(
        "#{}  {:.2f}%  {} {}{}{}\n", i + 1, 100 * stacks[i].share, format_weight(stacks[i].weight),
        unit_of(stacks[i].weight, profile.unit), comm.empty() ? "" : "  ", comm)));
    for (const profile::FrameId frame : stacks[i].frames)
      RINGSIDE_TRY(sink.write(fmt::format("    {}\n", profile.name(frame))));
  }
  return {};
}

}  // namespace ringside::exporters
