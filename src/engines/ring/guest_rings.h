#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/types.h"
#include "engines/ring/record_collector.h"
#include "engines/ring/ring_reader.h"
#include "engines/ring/vcpu_tables.h"

namespace ringside::engines::ring {

// The rings of all CPUs of a guest, of one layout, while the guest fills them.
class GuestRings {
 public:
  virtual ~GuestRings() = default;

  [[nodiscard]] virtual Arch arch() const = 0;
  // The rate of the counter in records; 0: unknown.
  [[nodiscard]] virtual double counter_hz() const = 0;
  // All that was ever put into them is wanted, not only what comes after the first poll. Polls
  // before are forgotten.
  virtual void want_all() = 0;
  // Reads what has come since the last poll into `records`; null: it is of nobody's recording.
  // `is_last`: what is not whole in a moment is lost. Error kUnreadable: the rings are no longer
  // mapped.
  [[nodiscard]] virtual Result<void> poll(RecordCollector* records, bool is_last) = 0;
  // Whether they are still the same. A guest that begins anew makes others.
  [[nodiscard]] virtual Result<bool> are_there() = 0;
  // Whether page tables of now map them where they were found. Memory of before outlives a reset.
  [[nodiscard]] virtual Result<bool> are_mapped(const TablesOfVcpu& /*tables*/,
                                                PhysicalMemory& /*physical*/) const {
    return true;
  }
  // Whether something of theirs is elsewhere than it was, and page tables of now lead there. To be
  // asked before a poll.
  [[nodiscard]] virtual Result<bool> wants_tables() { return false; }
  [[nodiscard]] virtual Result<void> use_tables(const TablesOfVcpu& /*tables*/,
                                                PhysicalMemory& /*physical*/) {
    return {};
  }
  // Whether others that were found are the same ones again.
  [[nodiscard]] virtual bool are_same(const GuestRings& other) const = 0;
  // Those of all CPUs, since the first poll.
  [[nodiscard]] virtual RingCounts counts() const = 0;
};

}  // namespace ringside::engines::ring
