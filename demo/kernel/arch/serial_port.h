#pragma once

#include "core/types.h"

// The serial ports besides the console's. Written by waiting: there are no interrupts.
constexpr u16 kCom2 = 0x2f8, kCom3 = 0x3e8, kCom4 = 0x2e8;

void start_port(u16 port);
extern "C" void write_port(u16 port, const char* bytes, size_t count);
