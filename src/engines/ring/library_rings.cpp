#include "engines/ring/library_rings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"

namespace ringside::engines::ring {
namespace {

// A writer needs some microseconds for a record, and may have to wait for a processor.
constexpr std::uint64_t kWritersNs = 50'000'000;
constexpr std::uint64_t kRestNs = 1'000'000;
constexpr std::uint64_t kFinishNs = 1'000'000'000;  // of all CPUs
constexpr std::size_t kLeastPart = 4096;            // words that a poll may read of one CPU's ring

}  // namespace

LibraryRings::LibraryRings(FoundArea found, std::size_t cpus) : found_(std::move(found)) {
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(found_.area.cpus, cpus));
  readers_.reserve(count);
  for (std::uint32_t cpu = 0; cpu < count; ++cpu)
    readers_.emplace_back(*found_.memory, found_.area, cpu);
}

void LibraryRings::want_all() {
  for (RingReader& reader : readers_) reader.want_all();
}

// All CPUs share a budget of words. Each has its part, and in turns the first ones have more.
Result<void> LibraryRings::poll(RecordCollector* records, bool is_last) {
  const auto visit = [records](const wire::GuestRecord& record,
                               std::span<const std::uint64_t> words) -> Result<void> {
    if (records != nullptr) records->take(record, words);
    return {};
  };
  if (is_last) return finish(visit);
  const std::size_t part = std::max(RingReader::kMostWords / readers_.size(), kLeastPart);
  std::size_t budget = RingReader::kMostWords;
  for (std::size_t n = 0; n < readers_.size(); ++n) {
    std::size_t own = std::min(part, budget);
    budget -= own;
    RINGSIDE_TRY(readers_[(next_ + n) % readers_.size()].poll(visit, own));
    budget += own;
  }
  ++next_;
  return {};
}

// A guest that runs may be in the middle of a record: it is not lost, nor one that begins later.
Result<void> LibraryRings::finish(const RingReader::Visit& visit) {
  const std::uint64_t begin = monotonic_ns();
  const std::uint64_t end = begin + kWritersNs;
  for (RingReader& reader : readers_) {
    RINGSIDE_TRY(reader.poll(visit));
    while (reader.has_more() && monotonic_ns() < end) {
      sleep_ns(kRestNs);
      RINGSIDE_TRY(reader.poll(visit));
    }
    if (reader.has_more()) RINGSIDE_TRY(reader.finish(visit, begin + kFinishNs));
  }
  return {};
}

Result<bool> LibraryRings::are_mapped(const TablesOfVcpu& tables, PhysicalMemory& physical) const {
  RINGSIDE_ASSIGN(const auto* const used,
                  tables_that_map(found_.area.self, found_.start, tables, physical));
  return used != nullptr;
}

Result<bool> LibraryRings::are_there() {
  std::array<std::byte, wire::GuestArea::kHeaderBytes> header{};
  RINGSIDE_ASSIGN(const std::size_t got, found_.memory->read_up_to(AreaOffset{0}, header));
  const auto area = wire::read_guest_area(Bytes(header).first(got));
  return area && *area == found_.area;
}

Result<std::uint64_t> LibraryRings::begun() const {
  std::uint64_t sum = 0;
  for (const RingReader& reader : readers_) {
    RINGSIDE_ASSIGN(const std::uint32_t begun, reader.begun());
    sum += begun;
  }
  return sum;
}

bool LibraryRings::are_same(const GuestRings& other) const {
  const auto* const rings = dynamic_cast<const LibraryRings*>(&other);
  return rings != nullptr && rings->found_.start == found_.start &&
         rings->found_.area == found_.area;
}

RingCounts LibraryRings::counts() const {
  RingCounts sum;
  for (const RingReader& reader : readers_) sum += reader.counts();
  return sum;
}

}  // namespace ringside::engines::ring
