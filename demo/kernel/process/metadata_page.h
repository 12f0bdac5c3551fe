#pragma once

#include "core/types.h"

// A page of each process that tells a profiler outside who runs, at the same address in all of
// them; ring 3 may read it. The first eight fields are Emerald's (libraries/kernel_user_link/src/
// process.rs), the last one is ours (docs/adding-a-guest-os.md of ringside). Addresses are the
// process's.
constexpr u64 kMetadataPage = 0xffffff7fffffe000;

struct ProcessMetadata {
  u64 pid;
  u64 image_base, image_size;
  u64 program_headers_offset;  // from image_base
  u64 eh_frame_address, eh_frame_size;
  u64 text_address, text_size;
  u64 user_registers;  // where the kernel saves what ring 3 had in its registers (arch/asm.h)
};
