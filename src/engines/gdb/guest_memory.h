#pragma once

#include <sys/types.h>

#include <memory>

#include "engines/gdb/sliced_reads.h"

namespace ringside::engines::gdb {

// Finds the best way to the guest's physical memory: QEMU's own address space, else the stub.
//
// What is hard is to be sure of the former: where the RAM block lies in QEMU's address space is not
// said by QEMU 7.2, so each mapping that is large enough is compared, during one stop of the guest,
// with what the stub's physical mode gives at up to 24 places that are not zero.
class GuestMemory {
 public:
  // `qemu`: its process id, 0 where it is not known.
  GuestMemory(Stub& stub, SlicedReads& reads, bool has_physical_mode, pid_t qemu);

  // Error kUnsupported: the stub has no physical mode, or the machine's RAM is not where we know
  // it. The reader is valid as long as this object. While the guest's memory is nearly all zero the
  // stub is used, and a later call tries again, less and less often.
  [[nodiscard]] Result<memory::PhysicalMemory*> find();
  // Whether reads stop the guest.
  [[nodiscard]] bool stops_the_guest() const { return process_ == nullptr; }
  [[nodiscard]] const std::string& why_not_from_qemu() const { return why_not_; }
  [[nodiscard]] pid_t qemu() const { return qemu_; }

 private:
  [[nodiscard]] Result<void> find_layout();
  [[nodiscard]] Result<std::string> ask_monitor(std::string_view command);
  void find_in_process();
  [[nodiscard]] Result<bool> is_the_same(memory::PhysicalMemory& candidate);

  Stub* stub_;
  SlicedReads* reads_;
  pid_t qemu_;
  bool may_try_;
  std::uint64_t next_try_ns_ = 0;
  std::uint64_t try_again_after_ns_ = 100'000'000;
  std::string why_not_;
  std::optional<Error> unsupported_;
  std::uint64_t block_bytes_ = 0;
  std::vector<memory::RamRange> ranges_;
  std::unique_ptr<StubPhysicalMemory> by_stub_;
  std::unique_ptr<memory::ProcessMemory> process_;
};

}  // namespace ringside::engines::gdb
