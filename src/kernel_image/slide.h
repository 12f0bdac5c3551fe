#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel_image/identity.h"

namespace ringside::kernel_image {

// How far a kernel that relocated itself is from where it is linked (guest address minus linked
// address, modulo 2^64), found by looking for the code around `pc`, where the guest runs, in the
// file. Nothing where that code is not the file's.
//
// Reads three pages. Code that the kernel has patched, or adjusted for its new place, does no harm:
// each piece of 16 bytes votes on its own. The slide is a multiple of 4 KiB. Errors: those of
// `memory`.
[[nodiscard]] Result<std::optional<std::uint64_t>> find_slide(const elf::ElfFile& file,
                                                              GuestVirt pc, VirtualMemory& memory);

// The slides for which any piece votes, at most four, those with the most votes first: a kernel of
// a hundred bytes has few pieces. Each is still to be proved (check_identity).
[[nodiscard]] Result<std::vector<std::uint64_t>> possible_slides(const elf::ElfFile& file,
                                                                 GuestVirt pc,
                                                                 VirtualMemory& memory);

}  // namespace ringside::kernel_image
