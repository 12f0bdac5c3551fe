#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// The line that begins a sample in the text of `perf script`:
//   comm 1234/1235 [003] 4794564.109216:   10101010 cycles:ppp:
// Any of its parts may be missing, as -F says (tools/perf/builtin-script.c of Linux 3.2 to 6.12).
namespace ringside::importers::perf_script {

struct HeaderLine {
  std::string_view owner;  // what stands before the time, or before the event: see parse_owner()
  std::optional<std::uint64_t> time_ns;
  std::optional<std::uint64_t> period;
  std::string_view event;  // without the colon at its end; empty: not said
  // The rest: the address of a sample without call graph, or the fields of a tracepoint.
  std::string_view rest;
};

// Takes any line, without its end. One that is no header mostly has neither time nor event.
[[nodiscard]] HeaderLine parse_header_line(std::string_view line);

// Whether it is of a sample without time and call graph, whose frame stands behind its owner or
// event: "dd 12 cycles:  ffffffff8226ec67 f", "dd 12  ffffffff8226ec67 f".
[[nodiscard]] bool has_owner_and_frame(std::string_view line);

// Whether it is of a sample of which nothing else is said: "    250000 cycles:". Its number may
// look like an address.
[[nodiscard]] bool is_period_and_event(std::string_view line);

// Whether it has a time: that no other line has.
[[nodiscard]] bool has_time(std::string_view line);

struct Owner {
  std::string_view comm;  // may hold spaces; empty: not said
  // A number alone is the thread's (perf's default) or the process' (-F pid): it is taken for both.
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint32_t> cpu;
};

// "comm 1234/1235 [003] " with columns of flags behind it (-F misc; "d..1." of ftrace, whose text
// has "comm-1234"), which are left out. A cpu without brackets is understood of the comm "kernel",
// which Redox' profiling tool writes.
[[nodiscard]] Owner parse_owner(std::string_view text);

// The comm of all that Redox' profiling tool writes: names stand there in place of files.
inline constexpr std::string_view kRedoxComm = "kernel";

}  // namespace ringside::importers::perf_script
