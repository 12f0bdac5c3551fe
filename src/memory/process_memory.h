#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "memory/guest_ram.h"
#include "memory/reader.h"

namespace ringside::memory {

// Guest-physical memory in the address space of the process that runs the guest: read with
// process_vm_readv, without a stop of the guest, so that what it returns may be half-way through a
// change. Needs the right to trace the process (its user or root, and what Yama's ptrace_scope
// says; see process_vm_readv(2)).
class ProcessMemory final : public PhysicalMemory {
 public:
  // `block`: where the RAM block begins in the process.
  ProcessMemory(pid_t process, std::uint64_t block, std::vector<RamRange> ranges)
      : process_(process), block_(block), ranges_(std::move(ranges)) {}

  // Errors: kClosed when the process has gone, kIo with the system's reason otherwise.
  [[nodiscard]] Result<std::size_t> read_up_to(GuestPhys address,
                                               std::span<std::byte> destination) override;

 private:
  pid_t process_;
  std::uint64_t block_;
  std::vector<RamRange> ranges_;
};

// Where in a process a block of `bytes` may begin: the starts of private or shared mappings that
// can be written and are as large, in the text of /proc/PID/maps (proc(5)); the best fit first.
[[nodiscard]] std::vector<std::uint64_t> block_candidates(std::string_view proc_maps,
                                                          std::uint64_t bytes);

// The piece of `ranges` that holds an address, cut to at most `bytes`: nothing outside of all.
struct RamPiece {
  std::uint64_t offset;  // in the block
  std::size_t bytes;
};
[[nodiscard]] std::optional<RamPiece> find_ram(const std::vector<RamRange>& ranges,
                                               GuestPhys address, std::size_t bytes);

}  // namespace ringside::memory
