#pragma once

#include "core/types.h"

// Values that the guest writes to isa-debug-exit at port 0xf4; QEMU exits with twice that plus one
// (hw/misc/debugexit.c): 33 and 35.
constexpr u8 kExitSuccess = 0x10;
constexpr u8 kExitPanic = 0x11;

[[noreturn]] void exit_guest(u8 value);
[[noreturn]] void panic(const char* format, ...);
