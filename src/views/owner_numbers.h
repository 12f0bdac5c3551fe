#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "profile/profile.h"
#include "views/overhead.h"
#include "views/sort_keys.h"

namespace ringside::views {

// Numbers for the owners of samples, as far as sort keys distinguish owners. Sections share them,
// for there may be as many sections as owners.
class OwnerNumbers {
 public:
  OwnerNumbers(const profile::Profile& profile, const OverheadOptions& options,
               const SortKeys& keys)
      : profile_(profile), options_(options), keys_(keys), numbers_(profile.owners.size()) {}

  [[nodiscard]] std::uint32_t of(const profile::SampleGroup& group);
  // The number of the samples that a row is of; nothing: none of them was asked for yet.
  [[nodiscard]] std::optional<std::uint32_t> of(const OverheadRow& row) const;
  // The function nearest the leaf that is a parent, by the options.
  [[nodiscard]] std::optional<profile::FunctionId> parent_of(profile::NodeId leaf) const;

 private:
  // The fields of a row that belong to the sample, and not to a frame of its stack.
  using Fields =
      std::tuple<profile::StringId, std::optional<std::uint32_t>, std::optional<std::uint32_t>,
                 std::optional<VcpuId>, std::optional<profile::FunctionId>, profile::StringId,
                 std::optional<std::uint64_t>>;

  [[nodiscard]] std::uint32_t find(const profile::SampleGroup& group);

  const profile::Profile& profile_;
  const OverheadOptions& options_;
  const SortKeys& keys_;
  std::map<Fields, std::uint32_t> known_;
  std::vector<std::optional<std::uint32_t>> numbers_;  // by the profile's owner
};

}  // namespace ringside::views
