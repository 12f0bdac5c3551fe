#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "guestos/guest_memory.h"
#include "wire/capture.h"

namespace ringside::guestos {

// A thread, as ps(1) lists it.
struct GuestThread {
  // The kernel's structures of it and of its memory; the latter is null in kernel threads, and
  // where a process has ended (state Z).
  GuestVirt task;
  GuestVirt space;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent = 0;
  std::uint32_t user = 0;  // effective user id
  std::uint32_t cpu = 0;   // that it runs or ran on
  char state = '?';        // R S D T t X Z P I, as /proc/PID/stat has them
  bool is_kernel_thread = false;
  int nice = 0;                   // -20 to 19
  bool leads_session = false;     // as a login shell does
  bool is_in_foreground = false;  // of its terminal
  bool locks_memory = false;      // has pages that may not be swapped out
  std::uint64_t cpu_time_ns = 0;  // user and system together
  // CPU time of all ended threads of the process; the same in each of its threads.
  std::uint64_t ended_cpu_time_ns = 0;
  std::uint64_t started_ns = 0;  // since boot
  std::uint64_t resident = 0;    // bytes
  std::uint64_t size = 0;        // bytes of its mappings
  std::string terminal;          // "ttyS0", empty: none
  std::string comm;
  GuestVirt arguments;  // in its own memory
  GuestVirt arguments_end;
};

// Values of the guest's clocks when its kernel set them last.
struct GuestClock {
  std::uint64_t boot_ns = 0;  // since it booted
  std::uint64_t real_ns = 0;  // since 1970, UTC
};

// The processes of a guest at one moment.
struct ProcessList {
  std::vector<GuestThread> threads;  // by process and thread id
  std::optional<GuestClock> clock;
  std::optional<std::uint64_t> memory_bytes;  // of the guest
};

// Names by user id.
using UserNames = std::map<std::uint32_t, std::string>;

// Reads from a guest that runs what ps(1) shows.
class ProcessSource {
 public:
  virtual ~ProcessSource() = default;

  // `running`: a capture of a vCPU that runs the kernel. Errors: where what was read did not fit
  // together, one of is_of_memory(), and a later try may succeed; kUnsupported for a kernel that
  // does not say where its processes are; others are those of `memory`.
  [[nodiscard]] virtual Result<ProcessList> read(const wire::Capture& running,
                                                 GuestMemory& memory) const = 0;

  // The command line of a thread of a list, its arguments separated by blanks; at most 4 KiB. Empty
  // where it has none, or it is not in memory. Errors: those of `memory`.
  [[nodiscard]] virtual Result<std::string> arguments(const GuestThread& thread,
                                                      GuestMemory& memory) const = 0;

  // The users of the system that process 1 of the list sees. Empty where the guest's memory does
  // not have all of them. Errors: those of `memory`.
  [[nodiscard]] virtual Result<UserNames> user_names(const ProcessList& list,
                                                     GuestMemory& memory) const = 0;
};

}  // namespace ringside::guestos
