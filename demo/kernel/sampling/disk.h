#pragma once

#include "core/types.h"

// virtio-blk disks without a file system, which are written from their beginning on.

constexpr u32 kMostDisks = 4;

// Makes the n-th ready, from 0 on; panics where there is none. To be called once for each.
void start_disk(u32 n);
// Writes bytes behind those before, and waits for them. The last sector waits until it is whole;
// panics where the disk is full.
void append_to_disk(u32 n, const char* bytes, size_t count);
// Writes the rest of the last sector, with zeros behind it, for good.
void end_disk(u32 n);
