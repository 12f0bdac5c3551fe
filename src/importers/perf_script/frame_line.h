#pragma once

#include <optional>
#include <string_view>

#include "base/stack.h"

// The lines of call chains in the text of `perf script` (tools/perf/util/evsel_fprintf.c).
namespace ringside::importers::perf_script {

// "ffffffff81616a50 vfs_read+0x9d ([kernel.kallsyms])", or "1165 mid (inlined)". A symbol may hold
// spaces and brackets, and so may the name of a file, which ends in "(deleted)" where it is gone.
struct FrameLine {
  GuestVirt address;        // of user code in the file, where perf knows that: since Linux 4.10
  std::string_view symbol;  // without its offset; empty: not known
  std::string_view file;    // of the code; empty: not known, or not said
  bool inlined = false;     // into the function of the next frame
};

// Whether the line of a frame is all of a sample without call graph. perf writes addresses in 16
// columns behind a blank there, and behind a tab in call chains.
[[nodiscard]] bool stands_alone(std::string_view line);

// Blanks in front are left out. None where no number stands at the beginning.
[[nodiscard]] std::optional<FrameLine> parse_frame_line(std::string_view line);

// Whether an address of 16 columns, blanks in front of it included, is what comes first. It takes
// the time of that word, however long the rest is.
[[nodiscard]] bool begins_with_address(std::string_view rest);

// The frame that stands behind the event of a sample without call graph: where a branch came from.
// Empty where the fields of a tracepoint stand there.
[[nodiscard]] std::string_view frame_in_line(std::string_view rest);

struct SourceLine {
  std::string_view file;  // empty: perf did not find it
  std::uint32_t line = 0;
  bool inlined = false;  // the frame above is
};

// "  file.c:12", the line below a frame's with -F srcline. Where perf finds none it has "  :0" or
// "  libc.so.6[27b25]".
[[nodiscard]] std::optional<SourceLine> parse_source_line(std::string_view line);

// Whether a frame's code is the kernel's: by its file, or by its address in the upper half where
// the file says nothing.
[[nodiscard]] bool is_kernel(const FrameLine& frame);

// Whether the file lists code that was compiled while the program ran: "/tmp/perf-12.map".
[[nodiscard]] bool is_jit_map(std::string_view file);

// Whether the file is all of the kernel, not a module.
[[nodiscard]] bool is_whole_kernel(std::string_view file);

}  // namespace ringside::importers::perf_script
