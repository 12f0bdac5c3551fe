#pragma once

#include "core/types.h"

// Copies the command line out of the PVH start info at this physical address, before anything
// reuses that memory.
void read_command_line(u64 start_info);

// The value of `key=value`, or null. Lives until the next call with the same `buffer`.
const char* option(const char* key, char (&buffer)[64]);

// The value as a number, or `fallback`.
u64 number_option(const char* key, u64 fallback);

bool same_text(const char* a, const char* b);
