#pragma once

#include <cstdint>

namespace ringside::guestos {

// The tags of what a capture of a Linux guest has copied of its task.
enum TaskPiece : std::uint16_t {
  kTaskTag = 1,         // struct task_struct: mm, pid, tgid
  kNameTag,             // its comm
  kSpaceTag,            // struct mm_struct
  kUserRegistersTag,    // struct pt_regs of user code, in kernel mode
  kStackEntryTag,       // the page-table entry of the user stack, where that was found by a walk
  kInodeTag,            // struct inode of the program
  kInodeGenerationTag,  // its generation, which lies far behind the rest
  kInodeDeviceTag,      // struct super_block: the device
  kGraphStateTag,       // return_hooks.h, from here on
  kGraphRecordsTag,
  kRethookStateTag,
  kRethookRecordTag,
  kKretprobeStateTag,
  kKretprobeRecordTag,
};

}  // namespace ringside::guestos
