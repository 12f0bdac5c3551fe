#pragma once

#include <cstddef>
#include <cstdint>

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

// The kernel is compiled with -fno-inline, so that the calls in the source are the frames on the
// stack. A function that must not be a frame is marked INLINE.
#define INLINE [[gnu::always_inline]] inline
