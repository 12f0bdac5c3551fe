#include "profile/profile.h"

#include <array>

#include "profile/sanitize.h"

namespace ringside::profile {

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, kKindCount> kNames = {
      "kernel", "user", "interrupt", "firmware", "guest", "code", "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<StringId> Profile::last_name_of_process(std::uint32_t pid) const {
  const auto has_name = [this](const auto& entry) {
    return strings[entry.second] != unnamed_thread(entry.first.second);
  };
  const auto main = last_names.find({pid, pid});
  if (main != last_names.end() && has_name(*main)) return main->second;
  for (auto it = last_names.lower_bound({pid, 0}); it != last_names.end() && it->first.first == pid;
       ++it)
    if (has_name(*it)) return it->second;
  return main == last_names.end() ? std::nullopt : std::optional(main->second);
}

Weight Profile::weight_of(wire::Disposition disposition) const {
  Weight weight = 0;
  for (const SampleGroup& group : samples)
    if (owner_of(group).disposition == disposition) weight += group.weight;
  return weight;
}

}  // namespace ringside::profile
