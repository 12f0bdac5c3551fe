#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"

namespace ringside::session {

// By PrivilegeLevel.
using SamplesByLevel = std::array<std::uint64_t, kPrivilegeLevelCount>;

// The kernel that the samples are of.
struct KernelInWords {
  std::string file;        // that was given; empty without
  bool was_seen = false;   // its code was found in the guest's memory
  bool is_guests = false;  // it is the kernel of a hypervisor's guest
};

// Notes for the user on who ran: that nearly all samples are firmware (most, where no kernel was
// seen), which may be an unrecognized kernel; and that there are samples of a hypervisor's guest.
[[nodiscard]] std::vector<std::string> levels_in_words(const SamplesByLevel& samples, Arch arch,
                                                       const KernelInWords& kernel);

}  // namespace ringside::session
