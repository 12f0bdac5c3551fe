#pragma once

#include <cstdint>
#include <string>

#include "guestos/linux/kernel_reader.h"
#include "guestos/linux/types.h"

namespace ringside::guestos {

// An open or mapped file of the guest's, struct file.
struct GuestFile {
  std::string path;      // from the root of the file's mount namespace, as d_path() has it
  bool deleted = false;  // its name is gone
  GuestVirt inode;       // struct inode
  GuestVirt mapping;     // struct address_space: its page cache
  // What tells it from another file that had the same struct inode before.
  std::uint64_t device = 0;   // s_dev: minor number in bits 0 to 19
  std::uint64_t number = 0;   // i_ino
  std::uint64_t size = 0;     // bytes
  std::uint64_t changed = 0;  // seconds since 1970, i_ctime; 0: not known

  bool operator==(const GuestFile&) const = default;
};

// The struct file at `file`. Names are found through dentries and mounts (fs/d_path.c,
// prepend_path()); what lies over a mount point is found there, too. Error kDisturbed where names
// do not come to a root within 256 steps and 4 KiB, kUnreadable; others are those of `read`.
[[nodiscard]] Result<GuestFile> read_guest_file(const LinuxTypes& types, const KernelReader& read,
                                                GuestVirt file);

}  // namespace ringside::guestos
