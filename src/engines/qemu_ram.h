#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "memory/host_mappings.h"
#include "memory/ram_reader.h"

namespace ringside::engines {

// Runs a command of QEMU's human monitor and returns what it prints.
using MonitorCommand = std::function<Result<std::string>(const std::string& command)>;

// Reads `size` bytes at each place of guest-physical memory by a way that is slow but right, and
// calls `visit` with what came at each: fewer bytes where they could not be read. If that stops the
// guest, `visit` is called while it stands still.
using VisitPhysical = std::function<Result<void>(
    const std::vector<GuestPhys>& places, std::size_t size,
    const std::function<void(GuestPhys, std::span<const std::byte>)>& visit)>;

// Finds QEMU's own copy of the guest's physical memory, so that reads need not stop the guest: in
// QEMU's address space, or in the file of a shared memory backend.
//
// Enters: what the monitor says of the machine's RAM. Leaves: a reader of physical memory. The
// difficulty is certainty. QEMU 7.2 does not report where a block lies in its address space, so
// mappings that are large enough are compared with what visit_physical gives at some 24 places that
// are not zero. Where QEMU says it (10.0), or a file is found, the same comparison makes sure that
// it is that process and that file.
class QemuRam {
 public:
  struct Access {
    MonitorCommand monitor_command;
    VisitPhysical visit_physical;
    // Makes the fallback reader; may be null. That reader is used where QEMU's copy cannot be.
    std::function<std::unique_ptr<PhysicalMemory>(const std::vector<memory::RamRange>&)>
        make_fallback;
    pid_t qemu = 0;  // 0: not known
    std::function<std::uint64_t()> now_ns = monotonic_ns;
  };
  explicit QemuRam(Access access);

  // Error kUnsupported: the machine's RAM is not known, or there is no way to it. The reader is
  // valid as long as this object. While the guest's memory is nearly all zero the fallback reader
  // is used, and a later call tries again, less and less often. So does one after a read that met
  // no RAM: x86 firmware moves some about, and memory can be plugged in.
  [[nodiscard]] Result<PhysicalMemory*> find();
  [[nodiscard]] bool was_asked() const { return map_ || unsupported_; }
  // Whether reads go to QEMU's copy, at least of the machine's largest block.
  [[nodiscard]] bool reads_qemu() const { return direct_ != nullptr; }
  // QEMU's copy, for reads in a stop of the guest: never the fallback reader, and nothing is asked
  // or searched for. Null where find() has not found it, or not again. Valid until the next find().
  [[nodiscard]] memory::RamMemory* direct() const { return direct_.get(); }
  // How, where it does: "QEMU's own memory (process 123)"; otherwise why it does not.
  [[nodiscard]] const std::string& explain() const { return explanation_; }

 private:
  struct Place {
    std::unique_ptr<memory::RamBlockReader> reader;
    std::string name;      // for people
    bool is_said = false;  // by QEMU; otherwise it may be any mapping or file
  };
  // The reader that find() returns: the same object, whatever changes behind it.
  class Front final : public PhysicalMemory {
   public:
    Result<std::size_t> read_up_to(GuestPhys address, std::span<std::byte> destination) override {
      return behind != nullptr ? behind->read_up_to(address, destination) : 0;
    }
    PhysicalMemory* behind = nullptr;  // null: not known just now
  };

  [[nodiscard]] Result<void> read_map();
  [[nodiscard]] Result<void> poll_again();
  [[nodiscard]] Result<void> find_blocks();
  void read_mappings();
  [[nodiscard]] Result<Place> find_block(std::size_t block);
  [[nodiscard]] std::vector<Place> places_of(std::size_t block);
  void add_mapping(std::vector<Place>& places, const memory::HostMapping& mapping,
                   std::uint64_t address) const;
  void add_backend_file(std::vector<Place>& places, const memory::RamBlock& block);
  [[nodiscard]] Result<bool> is_the_same(std::size_t block, const Place& place);

  Access access_;
  std::uint64_t next_try_ns_ = 0;
  std::uint64_t try_again_after_ns_ = 100'000'000;
  std::string explanation_;
  std::optional<Error> unsupported_;
  std::optional<memory::RamMap> map_;
  std::vector<memory::HostMapping> mappings_;
  std::unique_ptr<PhysicalMemory> fallback_;
  std::unique_ptr<memory::RamMemory> direct_;
  std::unique_ptr<Front> front_ = std::make_unique<Front>();  // stays where it is in a move
};

}  // namespace ringside::engines
