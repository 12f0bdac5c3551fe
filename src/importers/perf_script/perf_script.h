#pragma once

#include <span>

#include "importers/format.h"

namespace ringside::importers {

// The text of `perf script` (Linux 3.2 to 6.12), and what writes the same: ringside, and Redox'
// profiling tool. One block for each sample: a line with its owner, time and event, its frames leaf
// first, and an empty line:
//
//   dd 29776/29777 [001] 666709.771979:   10101010 cpu-clock:
//           ffffffff81616a50 vfs_read+0x9d ([kernel.kallsyms])
//                      1165 mid (inlined)
//                      1165 main+0x55 (/home/me/my prog)
//
// -F says which of its parts a line has; any of them may be missing. Without a call graph the one
// frame stands in the sample's line. Each event is a source, and its period the weight; the first
// source is the event that most samples have. A number alone is taken for the process and the
// thread: perf's default is the thread's. Frames are the kernel's by their file
// ("[kernel.kallsyms]", "[ext4]", vmlinux), else by their address. Offsets in functions are left
// out. perf has user code's address in its file (Linux 4.10 and later): a frame without a name
// keeps it. Java's "a->b" of perf-map-agent is two frames: b was inlined into a.
//
// Times are those of perf's clock. They count from the first sample; where that is in the first
// minute they are as they stand, because those of ringside and of `perf script --reltime` start
// near 0. Without times samples are numbered.
//
// Lines of other records ("PERF_RECORD_MMAP2 …") are no samples; those of lost ones count. Fields
// of tracepoints are left out.

// kCertain where the first sample has a process, an event, and a frame or a time; kFits where it
// has frames.
[[nodiscard]] Likeness perf_script_likeness(const Input& input, const ImportOptions& options);

// Takes one file. Memory grows with the number of distinct stacks. Left out, and counted: lines
// that are neither samples nor frames nor comments.
[[nodiscard]] Result<Imported> import_perf_script(std::span<const Input> inputs,
                                                  const ImportOptions& options, Target& target);

}  // namespace ringside::importers
