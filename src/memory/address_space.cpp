#include "memory/address_space.h"

#include <algorithm>

namespace ringside::memory {
namespace {

// All pages of a block are in the map of all RAM if one is.
constexpr std::uint64_t kLinearBlock = 2u << 20;

}  // namespace

Result<PageWalk> AddressSpace::walk(GuestVirt address) {
  const std::uint64_t block = address.value / kLinearBlock;
  if (linear_blocks_.contains(block)) {
    PageWalk known;
    known.end = WalkEnd::kMapped;
    known.address = {address.value - *linear_distance_};
    known.bytes = kLinearBlock - address.value % kLinearBlock;
    return known;
  }
  RINGSIDE_ASSIGN(const PageWalk found, tables_->walk(table_pages_, address));
  if (linear_distance_ && found.end == WalkEnd::kMapped &&
      found.address.value == address.value - *linear_distance_)
    linear_blocks_.insert(block);
  return found;
}

// Pages that lie side by side in physical memory are read at once.
Result<std::size_t> AddressSpace::read_up_to(GuestVirt address, std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    std::size_t run = 0;
    GuestPhys start;
    while (done + run < destination.size()) {
      RINGSIDE_ASSIGN(const PageWalk page, walk(address + (done + run)));
      if (page.end != WalkEnd::kMapped || (run > 0 && page.address != start + run)) break;
      if (run == 0) start = page.address;
      run += static_cast<std::size_t>(
          std::min<std::uint64_t>(page.bytes, destination.size() - done - run));
    }
    if (run == 0) break;
    RINGSIDE_ASSIGN(const std::size_t got,
                    physical_->read_up_to(start, destination.subspan(done, run)));
    done += got;
    if (got < run) break;
  }
  return done;
}

}  // namespace ringside::memory
