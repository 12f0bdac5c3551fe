#pragma once

#include "sampling/saved_registers.h"

// Rings as Redox' kernel has them (redox-os/kernel @ 663e6641, src/profiling.rs): words of one
// sample after the other, at most 32 each.
//   A: the pc with bit 63 cleared, the time stamp counter, return addresses of the kernel; samples
//      of user code are counted only.
//   B: 0xfedfac00 | words, the pc, the time stamp counter, the context, return addresses of the
//      kernel and of the user code below.
// Unlike there, kernel code with interrupts on is sampled, too.
enum class RedoxFormat { kA, kB };

// Makes the rings of that many vCPUs. To be called once.
void make_redox_rings(RedoxFormat format, u32 cpus, u32 words, bool in_array);

// Takes a sample of this vCPU, in the handler of its timer or NMI.
void take_redox_sample(const SavedRegisters& interrupted);

// Copies words out of a vCPU's ring, in bytes, and gives their room back.
size_t drain_redox_ring(u32 cpu, void* destination, size_t bytes);

// Samples of kernel and user code on this vCPU, those without room too.
u64 redox_kernel_count(u32 cpu);
u64 redox_user_count(u32 cpu);
// Samples that a full ring had no room for, or not for all of their words.
u64 redox_cut_count(u32 cpu);
