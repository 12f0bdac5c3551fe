#pragma once

#include <vector>

#include "engines/ring/area_finder.h"
#include "engines/ring/guest_rings.h"

namespace ringside::engines::ring {

// Those of the guest library.
class LibraryRings final : public GuestRings {
 public:
  // Rings of CPUs from `cpus` on are of CPUs that the machine does not have: they are not read.
  LibraryRings(FoundArea found, std::size_t cpus);

  [[nodiscard]] Arch arch() const override { return found_.area.arch; }
  [[nodiscard]] double counter_hz() const override {
    return static_cast<double>(found_.area.clock_hz);
  }
  void want_all() override;
  [[nodiscard]] Result<void> poll(RecordCollector* records, bool is_last) override;
  [[nodiscard]] Result<bool> are_there() override;
  [[nodiscard]] Result<bool> are_mapped(const TablesOfVcpu& tables,
                                        PhysicalMemory& physical) const override;
  [[nodiscard]] bool are_same(const GuestRings& other) const override;
  [[nodiscard]] RingCounts counts() const override;

  [[nodiscard]] GuestPhys start() const { return found_.start; }
  // Records that the guest has begun: the sum of counts of 32 bits. Errors: as of poll().
  [[nodiscard]] Result<std::uint64_t> begun() const;

 private:
  [[nodiscard]] Result<void> finish(const RingReader::Visit& visit);

  FoundArea found_;
  std::vector<RingReader> readers_;  // of its CPUs
  std::size_t next_ = 0;             // that is polled first
};

}  // namespace ringside::engines::ring
