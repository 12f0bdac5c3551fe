#include "engines/ring/mapped_area.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ringside::engines::ring {
namespace {

// An area by the pieces of RAM that it lies in.
class MappedArea final : public AreaMemory {
 public:
  struct Piece {
    std::uint64_t offset = 0;  // in the area
    GuestPhys start;
    std::uint64_t bytes = 0;
  };
  MappedArea(PhysicalMemory& physical, std::vector<Piece> pieces)
      : physical_(physical), pieces_(std::move(pieces)) {}

  Result<std::size_t> read_up_to(AreaOffset offset, std::span<std::byte> destination) override {
    std::size_t done = 0;
    while (done < destination.size()) {
      const std::uint64_t at = offset.value + done;
      auto piece = std::upper_bound(
          pieces_.begin(), pieces_.end(), at,
          [](std::uint64_t value, const Piece& one) { return value < one.offset; });
      if (piece == pieces_.begin()) break;
      --piece;
      const std::uint64_t within = at - piece->offset;
      if (within >= piece->bytes) break;
      const std::size_t size =
          std::min<std::uint64_t>(piece->bytes - within, destination.size() - done);
      RINGSIDE_ASSIGN(const std::size_t got,
                      physical_.read_up_to(piece->start + within, destination.subspan(done, size)));
      done += got;
      if (got < size) break;
    }
    return done;
  }

 private:
  PhysicalMemory& physical_;
  std::vector<Piece> pieces_;  // by offset
};

}  // namespace

// Neighbours in RAM become one piece.
Result<std::unique_ptr<AreaMemory>> map_area(GuestVirt start, std::uint64_t bytes,
                                             const memory::PageTables& tables,
                                             PhysicalMemory& physical, std::uint64_t& walks_left) {
  std::vector<MappedArea::Piece> pieces;
  for (std::uint64_t offset = 0; offset < bytes;) {
    if (walks_left == 0) return nullptr;
    --walks_left;
    RINGSIDE_ASSIGN(const auto walk, tables.walk(physical, start + offset));
    if (walk.end != memory::WalkEnd::kMapped || walk.bytes == 0) return nullptr;
    const std::uint64_t size = std::min(walk.bytes, bytes - offset);
    const bool goes_on =
        !pieces.empty() && pieces.back().start + pieces.back().bytes == walk.address;
    if (goes_on)
      pieces.back().bytes += size;
    else
      pieces.push_back({offset, walk.address, size});
    offset += size;
  }
  return std::make_unique<MappedArea>(physical, std::move(pieces));
}

std::unique_ptr<AreaMemory> area_in_ram(GuestPhys start, std::uint64_t bytes,
                                        PhysicalMemory& physical) {
  return std::make_unique<MappedArea>(physical, std::vector<MappedArea::Piece>{{0, start, bytes}});
}

}  // namespace ringside::engines::ring
