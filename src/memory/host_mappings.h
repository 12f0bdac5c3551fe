#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::memory {

// A mapping in a process's address space.
struct HostMapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;  // 0: no file
  bool shared = false;
  std::string path;  // as the process saw it; may end in " (deleted)"
};

// The mappings that can be read and written, in the text of /proc/PID/maps (proc(5)).
[[nodiscard]] std::vector<HostMapping> parse_mappings(std::string_view proc_maps);

// The one that holds `bytes` from `address` up; null where none does.
[[nodiscard]] const HostMapping* find_mapping(const std::vector<HostMapping>& mappings,
                                              std::uint64_t address, std::uint64_t bytes);

// Those in which a block of `bytes` may begin, the best fit first: as large at least.
[[nodiscard]] std::vector<HostMapping> block_candidates(const std::vector<HostMapping>& mappings,
                                                        std::uint64_t bytes);

}  // namespace ringside::memory
