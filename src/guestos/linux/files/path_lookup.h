#pragma once

#include <optional>
#include <string_view>

#include "guestos/linux/files/guest_file.h"
#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/linux_types.h"

namespace ringside::guestos {

// A struct list_head or hlist_head, and the node of it in each member.
struct ListFields {
  Field head;
  Field node;
  std::uint32_t member_bytes = 0;
};

// Where a kernel has what leads from a task to the files that it knows by name.
struct PathLookupFields {
  Field fs;           // task_struct
  Field root_mount;   // fs_struct.root.mnt: a struct vfsmount
  Field root_dentry;  // fs_struct.root.dentry
  std::uint32_t fs_bytes = 0;
  ListFields names;   // struct dentry: the names in a folder
  Field inode;        // struct dentry; null where the name is known not to be there
  ListFields mounts;  // struct mount: what is mounted on names of it
  Field mode;         // struct inode: S_IF* of stat(2)
  Field mapping;      // struct inode: a struct address_space
  std::uint32_t inode_bytes = 0;

  // Error kNotFound names what the kernel's types lack.
  [[nodiscard]] static Result<PathLookupFields> of(const elf::ElfFile& kernel,
                                                   const TypeSource& types);
};

// The regular file that a path leads to from the root of a task, with what is mounted on the way;
// symbolic links are not followed. Nothing where there is none, or the kernel has not looked it up
// of late. Read while the guest runs: a list that was changed meanwhile is error kDisturbed or
// kUnreadable, and a later try may succeed. kUnsupported: the kernel knows more than 20 000 names
// in the folders on the way. Others are those of `memory`.
[[nodiscard]] Result<std::optional<GuestFile>> find_guest_file(const LinuxTypes& types,
                                                               const PathLookupFields& fields,
                                                               const KernelReader& read,
                                                               GuestVirt task,
                                                               std::string_view path);

}  // namespace ringside::guestos
