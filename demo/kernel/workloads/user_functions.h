#pragma once

#include "core/types.h"

enum : u32 { kUserFunction, kChecksumBlock, kEncryptBlock };

// The `work` system call: kind 0 computes checksums, kind 1 encrypts.
extern "C" void sys_work(u64 kind, u64 iterations);
