#include "recording/records.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace ringside::recording {
namespace {

constexpr std::string_view kUnnamedProcess = "[process ";

}  // namespace

std::string unnamed_process(std::uint32_t pid) {
  return fmt::format("{}{}]", kUnnamedProcess, pid);
}

bool is_unnamed_process(std::string_view name) {
  return name.starts_with(kUnnamedProcess) && name.ends_with(']');
}

Source cpu_source(const Header& header) {
  Source source;
  source.id = kCpuSource;
  source.name = kCpuSourceName;
  source.period = header.interval_ns;
  source.engine = header.engine;
  source.values = {{std::string(name_of(WeightUnit::kTicks)), WeightUnit::kTicks, 1}};
  return source;
}

Statistics& Statistics::operator+=(const Statistics& other) {
  due += other.due;
  lost += other.lost;
  late += other.late;
  duration_ns = std::max(duration_ns, other.duration_ns);
  symbol_ns += other.symbol_ns;
  for (const auto& [name, value] : other.counters) counters[name] += value;
  return *this;
}

SampleInfo info_of(const wire::Capture& capture, std::uint64_t start_monotonic_ns) {
  SampleInfo info;
  info.time_ns = capture.host_time_ns > start_monotonic_ns
                     ? capture.host_time_ns - start_monotonic_ns
                     : std::uint64_t{0};
  info.vcpu = capture.vcpu;
  info.level = capture.level;
  info.disposition = capture.disposition;
  info.pause_ns = capture.pause_ns;
  info.weight = capture.weight;
  return info;
}

std::string_view name_of(WeightUnit unit) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "ticks", "instructions", "ns", "bytes", "events", "samples", "pages"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::string_view name_of(StackRole role) {
  static constexpr std::array<std::string_view, 5> kNames = {"own", "interrupted", "waker", "entry",
                                                             "return"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view name_of(MarkKind kind) {
  static constexpr std::array<std::string_view, 4> kNames = {"start", "after", "probe", "end"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(ThreadState state) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "unknown", "running", "runnable", "sleeping", "blocked", "stopped", "dead"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view name_of(wire::Disposition disposition) {
  static constexpr std::array<std::string_view, kDispositionCount> kNames = {"sampled", "idle",
                                                                             "skipped", "failed"};
  return kNames[static_cast<std::size_t>(disposition)];
}

}  // namespace ringside::recording
