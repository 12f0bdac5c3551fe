#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/fd.h"
#include "base/memory_reader.h"
#include "memory/guest_ram.h"

namespace ringside::memory {

using RamOffset = Address<struct RamOffsetTag>;  // in one of QEMU's blocks of RAM

inline constexpr std::size_t kRamPage = 4096;  // what read_pages() reads at a time, bytes

class RamBlockReader : public MemoryReader<RamOffset> {
 public:
  // False where a read would make the host provide the page: it holds zeros. A page of a shared
  // mapping may also hold what another process, or the page cache, has of it.
  [[nodiscard]] virtual bool is_populated(RamOffset) { return true; }
  // Reads whole pages. `destination` has kRamPage bytes for each. Returns how many of them, from
  // the first on, could be read. Errors as read_up_to(), of the first.
  [[nodiscard]] virtual Result<std::size_t> read_pages(std::span<const RamOffset> pages,
                                                       std::span<std::byte> destination);
};

// A block in the address space of the process that runs the guest: read with process_vm_readv,
// without a stop of the guest, so that what it returns may be half-way through a change. Needs the
// right to trace the process (its user or root, and what Yama's ptrace_scope says; see
// process_vm_readv(2)).
class ProcessBlock final : public RamBlockReader {
 public:
  // `start`: where the block begins in the process.
  ProcessBlock(pid_t process, std::uint64_t start) : process_(process), start_(start) {}
  // By the process's pagemap (proc(5)); true for each page where that cannot be read.
  [[nodiscard]] bool is_populated(RamOffset offset) override;
  // Errors: kClosed when the process has gone, kIo with the system's reason otherwise.
  [[nodiscard]] Result<std::size_t> read_up_to(RamOffset offset,
                                               std::span<std::byte> destination) override;
  // One call for up to IOV_MAX pages.
  [[nodiscard]] Result<std::size_t> read_pages(std::span<const RamOffset> pages,
                                               std::span<std::byte> destination) override;

 private:
  [[nodiscard]] Result<std::size_t> read_vector(std::span<const iovec> remote,
                                                std::span<std::byte> destination) const;

  pid_t process_;
  std::uint64_t start_;
  std::optional<UniqueFd> pagemap_;  // opened when it is asked for; invalid where it cannot be
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

  // Reads whole pages, at addresses that are their starts. `destination` has kRamPage bytes for
  // each. Returns how many of them, from the first on, could be read: a page that lies outside of
  // the blocks ends it, and so does one of a block without a reader, which `rest` is not asked for.
  [[nodiscard]] Result<std::size_t> read_pages(std::span<const GuestPhys> pages,
                                               std::span<std::byte> destination);

  // Whether anything was asked for since that has no reader, or lies in none of the ranges: the
  // machine's memory may have changed.
  [[nodiscard]] bool take_missed() { return std::exchange(missed_, false); }

 private:
  // The start of a page in its block; nothing where it has no reader.
  [[nodiscard]] std::optional<RamPiece> find_page(GuestPhys page) const;

  bool missed_ = false;
  std::vector<RamRange> ranges_;
  std::vector<std::unique_ptr<RamBlockReader>> blocks_;
  PhysicalMemory* rest_;
};

}  // namespace ringside::memory
