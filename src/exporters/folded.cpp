#include "exporters/folded.h"

#include <algorithm>
#include <vector>

#include "profile/sanitize.h"

namespace ringside::exporters {
namespace {

using profile::Profile;

void append_frame(std::string_view name, std::string& line) {
  if (!line.empty()) line += ';';
  line += name;
}

bool is_kernel(profile::Kind kind) {
  return kind == profile::Kind::kKernel || kind == profile::Kind::kInterrupt;
}

// Frames of the kernel get `mark` behind their name: all those above the user code that entered it.
void append_stack(const Profile& profile, const profile::SampleGroup& group, std::string_view mark,
                  std::string& line) {
  const std::vector<profile::FrameId> frames = profile.stacks.frames_of(group.stack);
  const std::size_t user = profile.stacks.frames_of(group.user_part).size();
  const bool in_kernel = profile.owner_of(group).level == PrivilegeLevel::kKernel;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    append_frame(profile.name(frames[i]), line);
    if ((in_kernel && i >= user) || is_kernel(profile.frames[frames[i]].kind)) line += mark;
  }
}

}  // namespace

Result<void> write_folded(const Profile& profile, const FoldedOptions& options, Sink& sink) {
  // Stacks whose frames differ in what this format does not show become one line.
  std::vector<std::pair<std::string, profile::Weight>> lines;
  for (const profile::SampleGroup& group : profile.samples) {
    const profile::Owner& owner = profile.owner_of(group);
    const bool idle = owner.disposition == wire::Disposition::kIdle && options.show_idle;
    if (!idle && owner.disposition != wire::Disposition::kSampled) continue;
    std::string line = options.per_vcpu ? views::vcpu_name(owner.vcpu) : "";
    if (idle) {
      append_frame(profile::kIdleName, line);
    } else {
      if (const std::string name = owner_name(profile, owner, options.by); !name.empty())
        append_frame(name, line);
      append_stack(profile, group, options.annotate_kernel ? "_[k]" : "", line);
    }
    lines.emplace_back(std::move(line), group.weight);
  }
  std::sort(lines.begin(), lines.end());
  for (std::size_t i = 0; i < lines.size();) {
    profile::Weight weight = 0;
    const std::size_t first = i;
    for (; i < lines.size() && lines[i].first == lines[first].first; ++i) weight += lines[i].second;
    RINGSIDE_TRY(sink.write(fmt::format("{} {}\n", lines[first].first, weight)));
  }
  return {};
}

}  // namespace ringside::exporters
