#pragma once

#include <vector>

#include "base/memory_reader.h"
#include "guestos/linux/files/guest_file.h"
#include "guestos/linux/files/page_frames.h"

namespace ringside::guestos {

// A file's bytes as far as the guest has them in memory.
struct CachedFile {
  std::vector<std::byte> bytes;  // the file's size; 0 in pages that are missing
  std::vector<bool> present;     // by page
  std::uint64_t page_size = 0;
  std::size_t missing = 0;  // pages

  [[nodiscard]] bool whole() const { return missing == 0; }
};

// The largest file that is read, bytes.
inline constexpr std::uint64_t kMaxCachedFile = 256u << 20;

// Reads a file from the guest's page cache. In an initramfs or a tmpfs all of it is there, of a
// file on a disk what was used. A page is taken only if it says that it is that page of that file
// and up to date. Error kUnsupported: the file is larger than kMaxCachedFile; kDisturbed,
// kUnreadable: try again later; others are those of `memory` and `physical`.
[[nodiscard]] Result<CachedFile> read_cached_file(const LinuxTypes& types, const KernelReader& read,
                                                  const PageFrames& frames,
                                                  PhysicalMemory& physical, const GuestFile& file);

}  // namespace ringside::guestos
