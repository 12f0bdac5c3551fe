#pragma once

#include <cstdint>
#include <span>

#include "plugin/guest.h"
#include "wire/capture.h"

namespace ringside::plugin {

// Maestro's raw data holds 1 to 64 addresses a sample.
inline constexpr std::size_t kMostWalkedFrames = 64;

// Follows the chain of frame pointers from the capture's registers on. Returns the addresses that
// it finds, in `addresses`: the pc, then return addresses. It sees what that chain shows: not the
// caller of a function without a frame (or before its frame is set up), nor what an interrupt
// interrupted.
[[nodiscard]] std::span<std::uint64_t> walk_frame_pointers(
    Guest& guest, const wire::Capture& capture,
    std::span<std::uint64_t, kMostWalkedFrames> addresses);

}  // namespace ringside::plugin
