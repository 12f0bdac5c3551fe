#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exporters/parts/symbol_ranges.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::trace_dat {

// The names of the kernel's frames by address, as trace.dat's readers find them: all names are in
// one table, in which one goes as far as the next. A frame of which only the name is known, and one
// at whose address another name stands already, gets an address of its own, where no kernel is.
class KernelNames {
 public:
  // Takes the frames of all groups that are sampled.
  explicit KernelNames(profile::DetailedProfile& profile);

  // 0: the frame is a program's. All others are of the kernel's stack.
  [[nodiscard]] std::uint64_t address_of(const profile::StackEntry& entry) const {
    return addresses_[entry.knows_mappings ? 1 : 0][entry.frame];
  }
  // The lines of /proc/kallsyms: "ffffffff81000000 t name".
  [[nodiscard]] const std::string& kallsyms() const { return kallsyms_; }

 private:
  struct Seen {
    std::uint64_t address = 0;
    std::uint64_t start = 0;  // of its function
    std::uint64_t size = 0;   // of its function; 0: not known
    profile::StringId name = 0;
  };

  std::uint64_t place(const profile::DetailedFrame& frame);
  std::uint64_t address_of_name(profile::StringId name);
  void make_kallsyms();

  profile::DetailedProfile& profile_;
  profile::StringTable strings_;
  std::array<std::vector<std::uint64_t>, 2> addresses_;  // by knows_mappings; by recorded frame
  std::array<std::vector<bool>, 2> is_placed_;
  std::vector<Seen> seen_;
  std::unordered_map<std::uint64_t, profile::StringId> taken_;  // by address
  std::unordered_map<profile::StringId, std::uint64_t> names_;  // that have their own address
  std::string kallsyms_;
};

}  // namespace ringside::exporters::trace_dat
