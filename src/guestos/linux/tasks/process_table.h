#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/linux_types.h"

namespace ringside::guestos {

// A thread, as ps(1) lists it.
struct LinuxThread {
  GuestVirt task;
  GuestVirt mm;  // null in kernel threads, and where a process has ended (state Z)
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
  // Of all ended threads of the process; the same in each of its threads.
  std::uint64_t ended_cpu_time_ns = 0;
  std::uint64_t started_ns = 0;  // since boot
  std::uint64_t resident = 0;    // bytes
  std::uint64_t size = 0;        // bytes of its mappings
  std::string terminal;          // "ttyS0", empty: none
  std::string comm;
  GuestVirt arguments;  // in its own memory
  GuestVirt arguments_end;
};

// Where a kernel keeps what ps(1) shows.
struct ProcessFields {
  Field state;
  Field exit_state;
  Field tasks;        // next process
  Field thread_node;  // next thread
  Field group_leader;
  Field real_parent;
  Field signal;
  Field credentials;
  Field run_time;  // ns
  Field start;     // ns since boot
  Field cpu;
  Field flags;
  std::optional<Field> priority;      // static_prio, 120 for nice 0
  std::optional<Field> kthread;       // struct kthread, whose name may be longer than comm:
  std::optional<Field> kthread_name;  // Linux 5.17 and later
  std::uint32_t task_bytes = 0;
  // struct signal_struct
  Field threads;
  Field ended_run_time;  // ns
  Field terminal;
  // Where the struct pid of its session and of its process group are; Linux 4.19 and later.
  struct Jobs {
    Field session;
    Field group;
    Field number;      // struct pid: in its first namespace
    Field foreground;  // struct tty_struct: the struct pid of a process group
  };
  std::optional<Jobs> jobs;
  std::uint32_t signal_bytes = 0;
  Field user;           // struct cred
  Field terminal_name;  // struct tty_struct
  // struct mm_struct
  Field total_pages;
  std::optional<Field> locked_pages;
  Field arguments;
  Field arguments_end;
  Field resident;                     // counts of file, anonymous, swap and shared pages
  std::uint64_t resident_stride = 0;  // bytes from one to the next
  std::uint32_t resident_at = 0;      // where the number is in each
  std::uint32_t mm_bytes = 0;

  // Error kNotFound names what the kernel's types lack.
  [[nodiscard]] static Result<ProcessFields> of(const elf::ElfFile& kernel,
                                                const TypeSource& types);
};

// All threads but the idle ones, by process and thread id, beginning from any task. Read while the
// guest runs: a list that was changed meanwhile is error kDisturbed or kUnreadable, and a later try
// may succeed; at most a million threads. Others are those of `memory`.
[[nodiscard]] Result<std::vector<LinuxThread>> read_threads(const LinuxTypes& types,
                                                            const ProcessFields& fields,
                                                            const KernelReader& read,
                                                            GuestVirt any_task);

}  // namespace ringside::guestos
