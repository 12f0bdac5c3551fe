#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/ram_reader.h"

namespace ringside::memory {

// Pages of the guest's RAM in one stop of the guest, each read once, for physical reads of a
// stopped guest.
//
// Enters: QEMU's RAM, anew at each stop. The difficulty: a call of the system costs as much as ten
// pages of one. So start() reads those pages in one call that the last stop needed in which any
// was; a guest that is stopped in the same code has the same page tables, stack and thread mostly.
// The bytes are always of this stop: only which pages it may need is remembered.
class StoppedPages final : public PhysicalMemory {
 public:
  // The guest stands still: forgets what was read before, and reads ahead. `ram` must stay until
  // the next start(), or stop().
  void start(RamMemory& ram);
  // From now on nothing can be read.
  void stop() { ram_ = nullptr; }

  // Ends where a page is no RAM. Never an error: a source that fails has no pages.
  [[nodiscard]] Result<std::size_t> read_up_to(GuestPhys address,
                                               std::span<std::byte> destination) override;
  // Reads those of the pages (by any address in each) that are not there yet, in one call.
  void fetch(std::span<const GuestPhys> addresses);

 private:
  static constexpr std::size_t kUnreadable = ~std::size_t{0};
  struct Page {
    std::size_t slot;  // of its bytes, or kUnreadable
    bool used;         // by a read of this stop
  };

  // Its index in `pages_`; their number where it was not read.
  [[nodiscard]] std::size_t find(GuestPhys page) const;
  void read_missing();
  [[nodiscard]] const std::byte* use(GuestPhys page);

  RamMemory* ram_ = nullptr;
  std::vector<GuestPhys> starts_;  // of pages, beside `pages_`
  std::vector<Page> pages_;
  std::vector<std::byte> bytes_;    // of all slots
  std::size_t slots_ = 0;           // in use
  std::vector<GuestPhys> missing_;  // to be read
  std::vector<GuestPhys> ahead_;    // by the next start(), sorted
};

}  // namespace ringside::memory
