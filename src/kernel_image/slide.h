#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel_image/identity.h"

namespace ringside::kernel_image {

// How far a kernel that relocated itself may be from where it is linked (guest address minus linked
// address, modulo 2^64): multiples of 4 KiB. Each is still to be proved (check_identity).
struct SlideVotes {
  // The slides for which any piece of code votes, at most four, those with the most votes first: a
  // kernel of a hundred bytes has few pieces.
  std::vector<std::uint64_t> possible;
  std::optional<std::uint64_t> likely;  // the first, if it has several votes, and more than others
};

// Looks for the code around `pc`, where the guest runs, in the file's code. Reads three pages. Code
// that the kernel has patched, or adjusted for its new place, does no harm: each piece of 16 bytes
// votes on its own. Errors: those of `memory`.
[[nodiscard]] Result<SlideVotes> votes_around(const elf::ElfFile& file, GuestVirt pc,
                                              VirtualMemory& memory);

// The likely one alone; nothing where that code is not the file's.
[[nodiscard]] Result<std::optional<std::uint64_t>> find_slide(const elf::ElfFile& file,
                                                              GuestVirt pc, VirtualMemory& memory);

}  // namespace ringside::kernel_image
