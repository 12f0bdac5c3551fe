#include "memory/stopped_memory.h"

#include <algorithm>

namespace ringside::memory {

bool StoppedMemory::translate(GuestVirt address, std::size_t bytes) {
  pieces_.clear();
  for (std::size_t done = 0; done < bytes;) {
    const auto walk = tables_->walk(*pages_, address + done);
    if (!walk || walk->end == WalkEnd::kUnreadable) return false;
    if (walk->end != WalkEnd::kMapped) return true;
    std::uint64_t left = std::min<std::uint64_t>(walk->bytes, bytes - done);
    for (GuestPhys at = walk->address; left > 0; at = at + pieces_.back().bytes) {
      const std::uint64_t step = std::min<std::uint64_t>(left, kRamPage - at.value % kRamPage);
      pieces_.push_back({at, static_cast<std::size_t>(step)});
      left -= step;
      done += static_cast<std::size_t>(step);
    }
  }
  return true;
}

StoppedMemory::Read StoppedMemory::read(GuestVirt address, std::span<std::byte> destination) {
  Read read;
  read.is_certain = translate(address, destination.size());
  wanted_.clear();
  for (const Piece& piece : pieces_) wanted_.push_back(piece.address);
  pages_->fetch(wanted_);
  for (const Piece& piece : pieces_) {
    const auto got =
        pages_->read_up_to(piece.address, destination.subspan(read.bytes, piece.bytes));
    read.bytes += got.value_or(0);
    if (got.value_or(0) == piece.bytes) continue;
    read.is_certain = false;
    break;
  }
  read.is_certain |= no_ram_ == NoRam::kIsTheEnd;
  return read;
}

}  // namespace ringside::memory
