#pragma once

#include <cstdarg>

// Formats one message to COM1, whole messages at a time. Knows %s, %u (u64), %x (u64, with 0x), %c
// and %p (percent: an u64 in hundredths).
void print(const char* format, ...);
void print_arguments(const char* format, va_list arguments);
