#include "profile/builder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/clock.h"
#include "profile/collector.h"
#include "profile/frame_table.h"
#include "profile/group_builder.h"
#include "profile/stack_bounds.h"

namespace ringside::profile {
namespace {

// Most samples first.
std::vector<BrokenEnd> named(const std::vector<Collector::BrokenPart>& broken, FrameTable& frames) {
  std::map<std::tuple<bool, StopReason, std::optional<FunctionId>, bool, bool>, std::uint64_t> sums;
  for (const Collector::BrokenPart& part : broken) {
    std::optional<FunctionId> function;
    if (part.frame != 0) function = frames.function_of(part.frame);
    sums[{part.is_user, part.reason, function, part.has_tables, part.has_file}] += part.samples;
  }
  std::vector<BrokenEnd> ends;
  for (const auto& [key, samples] : sums) {
    const auto& [is_user, reason, function, has_tables, has_file] = key;
    ends.push_back({is_user, reason, function, has_tables, has_file, samples});
  }
  std::stable_sort(ends.begin(), ends.end(),
                   [](const BrokenEnd& a, const BrokenEnd& b) { return a.samples > b.samples; });
  return ends;
}

void add_kernel_files(const std::map<std::uint32_t, std::uint64_t>& leaves, FrameTable& frames,
                      Profile& profile) {
  std::map<std::string_view, std::uint64_t> files;
  for (const auto& [leaf, samples] : leaves) {
    if (const auto file = frames.file_of(leaf))
      files[*file] += samples;
    else
      profile.unnamed_kernel_samples += samples;
  }
  for (const auto& [file, samples] : files)
    profile.kernel_files.push_back({std::string(file), samples});
  std::stable_sort(profile.kernel_files.begin(), profile.kernel_files.end(),
                   [](const NamedBy& a, const NamedBy& b) { return a.samples > b.samples; });
}

}  // namespace

Result<Profile> build_profile(recording::Reader& reader, FrameNamer& namer,
                              const BuildOptions& options) {
  Profile profile;
  profile.header = reader.header();
  profile.damage = reader.damage();
  Collector collector(options, namer, profile);
  RINGSIDE_TRY(reader.for_each(collector));
  RINGSIDE_TRY(collector.finish());
  collector.forget_lone_process();
  collector.place_early_frames();

  const std::uint64_t start = monotonic_ns();
  const std::vector<Collector::BrokenPart> broken = collector.broken_parts();
  FrameTable frames(collector, namer, options, profile);
  GroupBuilder groups(collector, frames, options, most_nodes(reader.size()), profile);
  groups.build();
  if (profile.filtered_samples == 0) profile.broken_ends = named(broken, frames);
  add_kernel_files(groups.kernel_leaves(), frames, profile);
  profile.symbol_ns = monotonic_ns() - start;
  return profile;
}

}  // namespace ringside::profile
