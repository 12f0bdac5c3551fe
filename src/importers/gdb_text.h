#pragma once

#include <span>

#include "importers/format.h"

namespace ringside::importers {

// The text that gdb prints for `thread apply all bt`, once or many times over (gdb 8 to 16): of
// QEMU's vCPUs, as Asterinas' profiler collects it (asterinas @ 60494858,
// osdk/src/commands/profile.rs), or of any program's threads, as "poor man's profilers" do.
//
//   Thread 2 (Thread 1.2 (CPU#1 [running])):
//   #0  0xffffffff8826b205 in ostd::task::reschedule<T> (...) at src/task.rs:12
//   #1  ostd::task::yield_now ()
//   #2  0xffffffff882a3ea8 in ?? ()
//   -<!OSDK_PROF_BT_ROUND!>-
//
// A vCPU's stack is a sample of the source "cpu", whether the vCPU runs or is halted; that of
// another thread is one of the source "threads". Stacks without a thread's line are of "threads",
// too: frame #0 begins one. There are no times: the time of a sample is the number of its capture,
// which ends where a thread comes again, and at the mark that Asterinas' profiler puts between
// rounds.
//
// Names are as gdb prints them, without arguments. A frame without an address is a function into
// which the one before it was inlined, and has its address; addresses are those of gdb, so that of
// a caller is where it returns to. Code in the upper half of the address space is the kernel's.
// "<signal handler called>" is no function, and no frame: a handler's caller is the code that the
// signal interrupted.

// kCertain where the beginning has a thread's line and a frame behind it; kFits where it has
// frames #0 and #1 one behind the other.
[[nodiscard]] Likeness gdb_text_likeness(const Input& input, const ImportOptions& options);

// Takes several files, one after the other. Left out, and counted: lines of frames that cannot be
// read, and threads that have no frame. Local variables (`bt full`) and all else that gdb prints is
// no part of the format.
[[nodiscard]] Result<Imported> import_gdb_text(std::span<const Input> inputs,
                                               const ImportOptions& options, Target& target);

}  // namespace ringside::importers
