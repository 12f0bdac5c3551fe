#pragma once

#include "plugin/guest.h"
#include "wire/capture.h"

namespace ringside::plugin {

// Maestro's raw data holds 1 to 64 addresses a sample.
inline constexpr std::size_t kMostWalkedFrames = 64;

// Follows the chain of frame pointers from the capture's registers on, and puts the addresses that
// it finds into the capture's bytes in place of registers and memory, 8 bytes each: the pc, then
// return addresses. It sees what that chain shows: not the caller of a function without a frame (or
// before its frame is set up), nor what an interrupt interrupted.
void walk_frame_pointers(Guest& guest, wire::Capture& capture);

}  // namespace ringside::plugin
