#include "exporters/folded.h"

#include <algorithm>
#include <vector>

#include "profile/spelling.h"

namespace ringside::exporters {
namespace {

using profile::Profile;

void append_stack(const Profile& profile, profile::NodeId leaf, std::string& line) {
  for (const profile::FrameId frame : profile.stacks.frames_of(leaf)) {
    if (!line.empty()) line += ';';
    line += profile.name(frame);
  }
}

}  // namespace

Result<void> write_folded(const Profile& profile, const FoldedOptions& options, Sink& sink) {
  // Stacks whose frames differ in what this format does not show become one line.
  std::vector<std::pair<std::string, std::uint64_t>> lines;
  for (const profile::SampleGroup& group : profile.samples) {
    const bool idle = group.disposition == wire::Disposition::kIdle && options.show_idle;
    if (!idle && group.disposition != wire::Disposition::kSampled) continue;
    std::string line = options.per_vcpu ? fmt::format("vcpu {}", group.vcpu.value) : "";
    append_stack(profile, group.stack, line);
    if (idle) line += (line.empty() ? "" : ";") + std::string(profile::kIdleName);
    lines.emplace_back(std::move(line), group.weight);
  }
  std::sort(lines.begin(), lines.end());
  for (std::size_t i = 0; i < lines.size();) {
    std::uint64_t weight = 0;
    const std::size_t first = i;
    for (; i < lines.size() && lines[i].first == lines[first].first; ++i) weight += lines[i].second;
    RINGSIDE_TRY(sink.write(fmt::format("{} {}\n", lines[first].first, weight)));
  }
  return {};
}

}  // namespace ringside::exporters
