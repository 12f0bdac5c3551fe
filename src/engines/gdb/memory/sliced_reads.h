#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/memory_reader.h"
#include "base/result.h"
#include "engines/engine.h"
#include "engines/gdb/inventory.h"
#include "engines/gdb/memory/memory_reads.h"
#include "engines/gdb/memory/read_stops.h"
#include "engines/gdb/memory/slice_pace.h"
#include "engines/gdb/protocol/stub.h"
#include "memory/guest_ram.h"

namespace ringside::engines::gdb {

// Result of a read of virtual memory.
struct VirtualRead {
  std::size_t bytes = 0;
  // The level that the vCPU ran at when the read ended before all bytes had come.
  PrivilegeLevel level = PrivilegeLevel::kUnknown;
};

// Reads of any length that stop the guest for short moments only.
//
// A slice stops the guest, reads, and lets it run before its time is up: half a millisecond, so
// that with what a busy host adds it stays below one. A read in bulk, 32 KiB or more, has two
// milliseconds: a stop costs more than what it reads, on a busy host or through a relay ten times
// as much, and the guest has the same share of the time. One request goes out with the stop, a
// second one with the continue. Each further one would hold the guest for as long as a busy host
// keeps QEMU's main loop waiting. slice_pace.h chooses how much they ask for. Between two slices
// the guest runs, and is sampled (read_stops.h). The memory that is read may change between slices.
class SlicedReads {
 public:
  // `stub_thread`: QEMU's main loop, 0 where it is not known; see scoped_realtime_priority.h.
  SlicedReads(Stub& stub, const Inventory& inventory, const MemoryReads& reads, ReadStops& stops,
              pid_t stub_thread)
      : stub_(&stub),
        inventory_(&inventory),
        reads_(reads),
        stops_(&stops),
        stub_thread_(stub_thread) {}

  // As the vCPU sees it. Ends at the first page that is not mapped. Error kUsage: no such vCPU.
  [[nodiscard]] Result<VirtualRead> read(VcpuId vcpu, GuestVirt address,
                                         std::span<std::byte> destination);
  // In gdb's physical mode (QEMU's packet Qqemu.PhyMemMode), which is left again in the same write:
  // the mode belongs to QEMU, and would also hold for the next debugger. It also reads devices, so
  // the caller must keep to RAM.
  [[nodiscard]] Result<std::size_t> read(GuestPhys address, std::span<std::byte> destination);

  // Reads `size` bytes at each physical address in one stop, and calls `compare` while the guest
  // still stands: with fewer bytes where they could not be read.
  [[nodiscard]] Result<void> visit(
      const std::vector<GuestPhys>& places, std::size_t size,
      const std::function<void(GuestPhys, std::span<const std::byte>)>& compare);

 private:
  struct Slice;
  [[nodiscard]] Result<void> read_sliced(Slice& slice);
  [[nodiscard]] Result<PrivilegeLevel> level_of(VcpuId vcpu);
  [[nodiscard]] Result<bool> run_slice(Slice& slice);
  [[nodiscard]] Result<void> read_on_and_resume(Slice& slice, std::size_t bytes);
  [[nodiscard]] Batch make_batch(const Slice& slice, std::size_t bytes) const;
  [[nodiscard]] std::size_t take(const Slice& slice, const std::vector<std::string>& replies,
                                 std::size_t bytes) const;

  Stub* stub_;
  const Inventory* inventory_;
  MemoryReads reads_;
  ReadStops* stops_;
  pid_t stub_thread_;
  SlicePace pace_;
};

// RAM through SlicedReads.
class StubPhysicalMemory final : public PhysicalMemory {
 public:
  StubPhysicalMemory(SlicedReads& reads, std::vector<memory::RamRange> ranges)
      : reads_(&reads), ranges_(std::move(ranges)) {}
  [[nodiscard]] Result<std::size_t> read_up_to(GuestPhys address,
                                               std::span<std::byte> destination) override;

 private:
  SlicedReads* reads_;
  std::vector<memory::RamRange> ranges_;
};

}  // namespace ringside::engines::gdb
