#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/linux_types.h"

namespace ringside::guestos {

// Identity of a file: differs for any two files, and for one file before and after a change. A
// struct inode is used again when a file is gone, and so may its number be. Where a file is written
// anew with as many bytes between two ticks of the kernel's clock (some milliseconds) nothing
// shows.
struct FileIdentity {
  std::uint64_t device = 0;      // s_dev: minor number in bits 0 to 19
  std::uint64_t number = 0;      // i_ino
  std::uint64_t generation = 0;  // i_generation
  std::uint64_t size = 0;        // bytes
  std::uint64_t changed = 0;     // seconds since 1970, i_ctime; 0: not known
  std::uint64_t changed_ns = 0;  // of that second

  auto operator<=>(const FileIdentity&) const = default;
};

// An open or mapped file of the guest's, struct file.
struct GuestFile {
  std::string path;      // from the root of the file's mount namespace, as d_path() has it
  bool deleted = false;  // its name is gone
  GuestVirt inode;       // struct inode
  GuestVirt mapping;     // struct address_space: its page cache
  FileIdentity identity;

  bool operator==(const GuestFile&) const = default;
};

// Reads the identity from the struct file at `file`. Errors: kUnreadable, those of `memory`.
[[nodiscard]] Result<FileIdentity> read_file_identity(const LinuxTypes& types,
                                                      const KernelReader& read, GuestVirt file);

// Reads the identity from the struct inode at `inode`. Errors: the same.
[[nodiscard]] Result<FileIdentity> read_inode_identity(const LinuxTypes& types,
                                                       const KernelReader& read, GuestVirt inode);

// The struct file at `file`. Names are found through dentries and mounts (fs/d_path.c,
// prepend_path()); what lies over a mount point is found there, too. Error kDisturbed where names
// do not come to a root within 256 steps and 4 KiB, kUnreadable; others are those of `memory`.
[[nodiscard]] Result<GuestFile> read_guest_file(const LinuxTypes& types, const KernelReader& read,
                                                GuestVirt file);

}  // namespace ringside::guestos
