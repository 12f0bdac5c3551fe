#pragma once

#include <sys/types.h>

#include <memory>
#include <utility>

#include "base/fd.h"
#include "base/memory_reader.h"
#include "memory/guest_ram.h"

namespace ringside::memory {

using RamOffset = Address<struct RamOffsetTag>;  // in one of QEMU's blocks of RAM
using RamBlockReader = MemoryReader<RamOffset>;

// A block in the address space of the process that runs the guest: read with process_vm_readv,
// without a stop of the guest, so that what it returns may be half-way through a change. Needs the
// right to trace the process (its user or root, and what Yama's ptrace_scope says; see
// process_vm_readv(2)).
class ProcessBlock final : public RamBlockReader {
 public:
  // `start`: where the block begins in the process.
  ProcessBlock(pid_t process, std::uint64_t start) : process_(process), start_(start) {}
  // Errors: kClosed when the process has gone, kIo with the system's reason otherwise.
  [[nodiscard]] Result<std::size_t> read_up_to(RamOffset offset,
                                               std::span<std::byte> destination) override;

 private:
  pid_t process_;
  std::uint64_t start_;
};

// A block that QEMU shares through a file (memory-backend-file or -memfd with share=on).
class FileBlock final : public RamBlockReader {
 public:
  // `start`: where the block begins in the file.
  FileBlock(UniqueFd file, std::uint64_t start) : file_(std::move(file)), start_(start) {}
  // Error kIo with the system's reason.
  [[nodiscard]] Result<std::size_t> read_up_to(RamOffset offset,
                                               std::span<std::byte> destination) override;

 private:
  UniqueFd file_;
  std::uint64_t start_;
};

// Guest-physical memory from QEMU's blocks. A block that has no reader is read by `rest`, which may
// be null: then memory ends there.
class RamMemory final : public PhysicalMemory {
 public:
  RamMemory(std::vector<RamRange> ranges, std::vector<std::unique_ptr<RamBlockReader>> blocks,
            PhysicalMemory* rest)
      : ranges_(std::move(ranges)), blocks_(std::move(blocks)), rest_(rest) {}
  // Errors: those of the readers.
  [[nodiscard]] Result<std::size_t> read_up_to(GuestPhys address,
                                               std::span<std::byte> destination) override;

  // Whether anything was asked for since that has no reader, or lies in none of the ranges: the
  // machine's memory may have changed.
  [[nodiscard]] bool take_missed() { return std::exchange(missed_, false); }

 private:
  bool missed_ = false;
  std::vector<RamRange> ranges_;
  std::vector<std::unique_ptr<RamBlockReader>> blocks_;
  PhysicalMemory* rest_;
};

}  // namespace ringside::memory
