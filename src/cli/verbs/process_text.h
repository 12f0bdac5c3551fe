#pragma once

#include <string>
#include <string_view>

#include "guestos/process_source.h"

namespace ringside::cli {

// Lines for a list of threads: PID PPID TID STATE CPU TIME RSS COMM. TIME is [DD-]HH:MM:SS on a
// processor, RSS in KiB; kernel threads are in brackets.
[[nodiscard]] std::string thread_header();
[[nodiscard]] std::string thread_line(const guestos::GuestThread& thread);

// A process with the sums of its threads, as the line of `ps aux` has it.
struct ProcessUsage {
  guestos::GuestThread leader;
  std::uint64_t cpu_time_ns = 0;
  std::size_t threads = 1;
};
// By process id.
[[nodiscard]] std::vector<ProcessUsage> processes_of(const guestos::ProcessList& list);
// Lines for a list of processes: USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND. STAT is as
// ps(1) of procps has it: the state, then < or N for more or less than usual priority, L for locked
// pages, s for a session's leader, l for several threads, + in the foreground of its terminal. %CPU
// is the share of its life that it ran, START of the guest's clock, UTC; "-" where the kernel's
// symbols do not say. USER is as procps has it: a name that is longer than the column ends with +,
// a user without one is a number; where no names are known, user 0 is root. `arguments`: its
// command line.
[[nodiscard]] std::string process_header();
[[nodiscard]] std::string process_line(const ProcessUsage& process,
                                       const guestos::ProcessList& list,
                                       const guestos::UserNames& users, std::string_view arguments);

}  // namespace ringside::cli
