#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "guestos/adapter_options.h"
#include "guestos/guest_memory.h"
#include "guestos/linux/files/user_images.h"
#include "guestos/linux/tasks/current_task.h"
#include "guestos/process_updates.h"

namespace ringside::guestos {

// The address spaces of a Linux guest's processes, each with the code that is mapped in it. One
// that maps other code than before is another one from then on.
//
// A process may end before its mappings are read. The main program's are then reported if they were
// seen in another process: execve() places a file's segments as the file specifies. All of them are
// moved by the same distance, and start_code (the first executable segment; load_elf_binary() in
// fs/binfmt_elf.c) shows how far. The file must be the same (FileIdentity), and so must the number
// of executable pages: a process that has replaced its program's code since is not reported for
// another's.
class LinuxAddressSpaces {
 public:
  LinuxAddressSpaces(const LinuxTypes& types, UserImages images,
                     std::shared_ptr<AddressSpaceIds> ids)
      : types_(types), images_(std::move(images)), ids_(std::move(ids)) {}

  // The number of a task's address space; what is new is added to `updates`. 0 where it could not
  // be read: its process has ended since the capture, or is in the middle of a change. Errors:
  // those of `memory`.
  [[nodiscard]] Result<std::uint64_t> find(const TaskView& task, GuestMemory& memory,
                                           ProcessUpdates& updates);
  // As UserImages has it.
  [[nodiscard]] std::string caveat() const { return images_.caveat(); }

 private:
  // TaskView's space and program: without randomization two programs' may have the same numbers.
  using Key = std::pair<std::array<std::uint64_t, 5>, std::optional<FileIdentity>>;
  struct Known {
    std::uint64_t id = 0;      // 0: not known yet
    bool is_complete = false;  // all of its mappings were read
    unsigned tries = 0;
    std::uint64_t last_use = 0;
  };
  // Where a process has its main program.
  struct Program {
    std::uint64_t start_code = 0;
    std::vector<UserMapping> mappings;  // without their image, which may be forgotten
    std::uint64_t last_use = 0;
  };
  using ProgramKey = std::pair<FileIdentity, std::uint64_t>;  // and exec_vm

  [[nodiscard]] Result<std::optional<AddressSpaceUpdate>> read(const TaskView& task,
                                                               GuestMemory& memory);
  void remember_program(const TaskView& task, const AddressSpaceUpdate& space);
  // The main program alone; nothing where it was not seen in another process, or was forgotten.
  [[nodiscard]] std::optional<AddressSpaceUpdate> by_program(const TaskView& task);
  // The task's struct mm_struct, if it is still the one of its space.
  [[nodiscard]] Result<std::optional<KernelObject>> read_space(const TaskView& task,
                                                               const KernelReader& read) const;
  // It is, and the program is the same.
  [[nodiscard]] Result<bool> is_unchanged(const TaskView& task, const KernelReader& read) const;

  LinuxTypes types_;
  UserImages images_;
  std::shared_ptr<AddressSpaceIds> ids_;
  std::map<Key, Known> known_;
  std::map<ProgramKey, Program> programs_;
  std::uint64_t uses_ = 0;
};

}  // namespace ringside::guestos
