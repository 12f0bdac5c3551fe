#pragma once

#include "core/types.h"

// Zeroed memory in the direct map, in whole pages, never given back. Physical addresses rise from
// the image's end.
void* allocate(u64 bytes);

extern "C" void* memcpy(void* to, const void* from, size_t bytes);
extern "C" void* memset(void* to, int value, size_t bytes);
