#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profile/builder.h"
#include "profile/collector.h"

namespace ringside::profile {

// Gives a profile the owners of what was recorded, but those that the filter does not want.
class OwnerChooser {
 public:
  OwnerChooser(Collector& collected, const Filter& filter, Profile& profile);

  // The profile's owner of samples of a recorded one; nothing where the filter does not want them.
  // is_interrupt: they are of an interrupt that is charged to nobody.
  using Choice = std::optional<OwnerId>;
  [[nodiscard]] Choice owner_of(std::uint32_t recorded, bool is_interrupt);

 private:
  [[nodiscard]] Choice choose(const Collector::SampleOwner& of, bool is_interrupt);
  void note_last_names(const Owner& owner);
  [[nodiscard]] Owner nobody(const Owner& interrupted);

  Collector& collected_;
  const Filter& filter_;
  Profile& profile_;
  std::map<Owner, OwnerId> ids_;
  std::array<std::vector<std::optional<Choice>>, 2> chosen_;  // by is_interrupt; by recorded
};

}  // namespace ringside::profile
