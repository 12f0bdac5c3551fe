#pragma once

#include "process/address_space.h"
#include "process/metadata_page.h"
#include "process/process.h"

// Copies the loaded segments of a static 64-bit program into `space`, and says in `metadata` where
// its parts are. Returns the entry point; panics on anything else.
u64 load_elf(const Program& program, AddressSpace& space, ProcessMetadata& metadata);
