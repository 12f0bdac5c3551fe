#include "recording/records.h"

#include <fmt/format.h>

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
  static constexpr std::array<std::string_view, kWeightUnitCount> kNames = {
      "ticks", "instructions", "ns", "bytes", "events", "samples"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::string_view name_of(wire::Disposition disposition) {
  static constexpr std::array<std::string_view, kDispositionCount> kNames = {"sampled", "idle",
                                                                             "skipped", "failed"};
  return kNames[static_cast<std::size_t>(disposition)];
}

}  // namespace ringside::recording
