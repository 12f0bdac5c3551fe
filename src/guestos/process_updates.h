#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/registers.h"
#include "base/types.h"
#include "elf/elf_file.h"

namespace ringside::guestos {

// A program or a library of the guest.
struct UserImage {
  std::string name;                          // its file's, without folders: "libc.so.6", "[vdso]"
  std::string path;                          // in the guest; empty where that is not known
  std::shared_ptr<const elf::ElfFile> file;  // null where neither guest nor host has it
  bool from_guest = false;                   // made of guest memory: there is no such host file
};

// Code of an image in an address space. The same image object stands for the same file, in every
// address space.
struct UserMapping {
  GuestVirt start;
  GuestVirt end;      // behind the last byte
  FileOffset offset;  // of `start`
  std::shared_ptr<const UserImage> image;
};

// The executable mappings of an address space from now on; it has no others where they are
// complete.
struct AddressSpaceUpdate {
  std::uint64_t id = 0;  // from 1; never given twice, whatever becomes of page tables and pids
  Arch arch = Arch::kUnknown;  // of its code, unless a TaskAttribution says otherwise
  std::vector<UserMapping> mappings;
  bool is_complete = true;
};

struct ThreadNameUpdate {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t address_space = 0;
  std::string name;
  std::string cgroup = {};  // as recording::ThreadName has it
  bool is_number = false;   // there is no name: the process is shown by its pid
};

// Changes that were detected in the guest's processes, in the order in which they are to be taken
// in.
struct ProcessUpdates {
  std::vector<AddressSpaceUpdate> spaces;
  std::vector<ThreadNameUpdate> names;
  bool new_recipes = false;  // for the sampler: Adapter::recipe() says more from now on

  [[nodiscard]] bool empty() const { return spaces.empty() && names.empty(); }
};

// Where a thread's kernel stack lies.
struct KernelStack {
  GuestVirt start;
  std::uint64_t size = 0;  // bytes
};

// The task that the time of a capture is attributed to.
struct TaskAttribution {
  std::optional<std::uint32_t> pid;  // of the process
  std::optional<std::uint32_t> tid;
  std::uint64_t address_space = 0;  // 0: none, or not known
  // The registers that user code had when it entered the kernel, for a capture in kernel mode on
  // its behalf; by the numbers of the capture's architecture.
  std::optional<arch::Registers> user;
  // The stack of the thread that `user` was read from; nothing where that was not determined.
  std::optional<KernelStack> kernel_stack;
  // True for a capture in kernel mode where only unwinding of the kernel's stack finds user code's
  // registers.
  bool finds_user_by_unwinding = false;
  // Architecture of the user code that runs or that entered the kernel, where that is not its
  // address space's: i386 for 32-bit code on an x86_64 kernel; kUnknown: code that nothing unwinds.
  std::optional<Arch> user_arch;
  // The user stack that the capture copied is another process's: the vCPU was already switching to
  // that.
  bool user_stack_is_others = false;
  // Where the capture could not copy the user code's stack: from its stack pointer up.
  std::vector<std::byte> user_stack;
};

}  // namespace ringside::guestos
