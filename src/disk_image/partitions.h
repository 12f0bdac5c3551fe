#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside::disk_image {

inline constexpr const char* kRedoxFs = "redoxfs";  // libblkid does not know it

// A part of a disk: a partition, or all of a disk that has none.
struct Partition {
  unsigned number = 0;  // from 1, as in sda1; 0: the disk itself
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // bytes
  bool is_cut = false;     // it ends behind the end of the image
  std::string file_system =
      {};                  // libblkid's name of what it holds, or kRedoxFs; empty: none is known
  std::string label = {};  // of the file system, else of the partition; may be empty

  // "2: ext4 'root', 9.5 GiB", for a list.
  [[nodiscard]] std::string to_string() const;
};

// The partitions of a disk (MBR, GPT and what else libblkid knows) in the order of their numbers;
// the disk itself where it has no table of them. `fd` holds `size` bytes. Error kIo where it cannot
// be read.
[[nodiscard]] Result<std::vector<Partition>> find_partitions(int fd, std::uint64_t size,
                                                             const std::string& name);

}  // namespace ringside::disk_image
