#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

// The lines of gdb's backtraces. Facts: gdb/stack.c (print_frame), gdb/thread.c and QEMU's
// gdbstub.c, which names a vCPU's thread "CPU#0 [running]" or "CPU#0 [halted ]".
namespace ringside::importers {

struct GdbFrame {
  std::uint32_t number = 0;
  std::optional<GuestVirt> address;  // none where the pc is at the beginning of a source line
  std::string_view function;         // empty: gdb knows none, "??"
  std::string_view file;             // as gdb prints it; empty: not said
  std::uint32_t line = 0;
  std::string_view library;  // of "from lib.so"
  bool is_signal = false;    // "<signal handler called>": the frame before it ran for a signal
};

struct GdbThread {
  std::uint32_t number = 0;          // as gdb counts
  std::optional<std::uint32_t> cpu;  // of a vCPU of QEMU
  std::optional<std::uint32_t> lwp;  // the thread's number in Linux
  std::string_view name;             // empty: not said
};

// "#3  0xffffffff8826b205 in ostd::task::reschedule<T> (...) at src/task.rs:12". Arguments are left
// out, whatever is in them; a function's own round brackets stay: "std::function<int
// ()>::operator() (int) const". None where the line does not begin with '#' and a number, and a
// name.
[[nodiscard]] std::optional<GdbFrame> parse_gdb_frame(std::string_view line);

// Whether a line goes on with `next`, which gdb indents where it wraps lines: at arguments, and
// before "at FILE:LINE" and "from LIBRARY". Local variables are indented, too, and no part of it.
[[nodiscard]] bool is_gdb_continuation(std::string_view line, std::string_view next);

// "Thread 2 (Thread 1.2 (CPU#1 [running])):" or "Thread 2 (Thread 0x7f41 (LWP 6643) "name"):".
[[nodiscard]] std::optional<GdbThread> parse_gdb_thread(std::string_view line);

// Without the colours that gdb gives terminals: ESC "[" … "m".
[[nodiscard]] std::string without_colors(std::string_view line);

}  // namespace ringside::importers
