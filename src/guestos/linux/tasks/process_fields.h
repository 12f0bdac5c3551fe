#pragma once

#include <cstdint>
#include <optional>

#include "elf/elf_file.h"
#include "guestos/linux/types/linux_types.h"

namespace ringside::guestos {

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

}  // namespace ringside::guestos
