#include "plugin/shared_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "wire/futex.h"
#include "wire/record.h"

namespace ringside::plugin {
namespace {

// All rings together, where there are not very many vCPUs.
constexpr std::size_t kAllRings = 32u << 20;
constexpr std::size_t kLargestRing = 8u << 20;
constexpr std::size_t kSmallestRing = 1u << 20;
// An empty ring is begun anew after so many bytes: what is written to again and again is mapped and
// in the processor's caches. The first write to a page of a file costs tens of microseconds.
constexpr std::size_t kUsualRing = 256u << 10;
constexpr std::uint64_t kPollReaderNs = 20'000'000;

bool refuse(const std::string& path, const char* what) {
  std::fprintf(stderr, "ringside: cannot %s %s: %s\n", what,
               path.empty() ? "memory for samples" : path.c_str(), std::strerror(errno));
  return false;
}

}  // namespace

bool SharedRing::create(const std::string& path, Arch arch, unsigned vcpus, unsigned api,
                        wire::RingClock clock) {
  wire::RingLayout layout;
  layout.vcpus = vcpus;
  layout.ring_bytes = static_cast<std::uint32_t>(
      std::bit_floor(std::clamp(kAllRings / vcpus, kSmallestRing, kLargestRing)));
  is_private_ = path.empty();
  fd_ = is_private_ ? ::memfd_create("ringside", MFD_CLOEXEC)
                    : ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) return refuse(path, "make");
  // With its pages: a full file system would end QEMU, later, with SIGBUS.
  errno = ::posix_fallocate(fd_, 0, static_cast<off_t>(layout.bytes()));
  if (errno != 0) return refuse(path, "find room for");
  void* const base = ::mmap(nullptr, layout.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (base == MAP_FAILED) return refuse(path, "map");
  memory_ = {static_cast<std::byte*>(base), layout};
  memory_.begin();
  memory_.source(wire::SourceId::kClock).kind = wire::RecordKind::kCapture;
  memory_.source(wire::SourceId::kCode).kind = wire::RecordKind::kMemory;
  wire::RingHeader& first = header();
  first.features = wire::kRingWaits;
  first.arch = static_cast<std::uint32_t>(arch);
  first.pid = static_cast<std::uint32_t>(::getpid());
  first.api = api;
  first.clock = clock;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = wire::kPluginLock;
  lock.l_len = 1;
  if (::fcntl(fd_, F_OFD_SETLK, &lock) != 0) return refuse(path, "lock");
  first.magic.store(wire::kRingMagic, std::memory_order_release);
  return true;
}

std::optional<SharedRing::Place> SharedRing::find_place(unsigned n, std::size_t bytes) const {
  const std::uint64_t head = vcpu(n).head.load(std::memory_order_relaxed);
  const std::uint64_t used = bytes_used(n);
  const std::size_t size = memory_.layout().ring_bytes;
  const std::size_t at = head % size;
  const std::size_t to_end = size - at;
  const bool begins_anew = used == 0 && at >= kUsualRing && bytes <= at;
  const Place place =
      bytes <= to_end && !begins_anew ? Place{.padding = 0, .offset = at} : Place{to_end, 0};
  if (used > size || place.padding + bytes > size - used) return std::nullopt;
  return place;
}

bool SharedRing::has_room(unsigned n, std::size_t bytes) const {
  return find_place(n, bytes).has_value();
}

wire::Backpressure SharedRing::backpressure(wire::SourceId id) const {
  return source(id).backpressure.load(std::memory_order_acquire);
}

template <class Done>
void SharedRing::wait_for_reader(wire::SourceId source, const Done& is_done,
                                 const Meanwhile& meanwhile) {
  std::atomic<std::uint32_t>& doorbell = header().doorbell;
  header().waiting.fetch_add(1);
  ring_bell();
  while (backpressure(source) != wire::Backpressure::kDrop) {
    const std::uint32_t seen = doorbell.load();
    meanwhile();
    if (is_done()) break;
    wire::futex_wait(doorbell, seen, monotonic_ns() + kPollReaderNs);
    if (abandon_if_reader_is_gone()) break;
  }
  header().waiting.fetch_sub(1);
}

SharedRing::Slot SharedRing::begin_record(unsigned n, wire::SourceId source, std::size_t bytes,
                                          const Meanwhile& meanwhile) {
  const auto fits = [&] { return has_room(n, bytes); };
  if (backpressure(source) == wire::Backpressure::kWait && bytes <= longest_record() && !fits())
    wait_for_reader(source, fits, meanwhile);
  wire::RingSourceState& state = memory_.state(n, source);
  Slot slot{.room = {}, .origin = {source, state.sequence.fetch_add(1, std::memory_order_relaxed)}};
  const auto place = find_place(n, bytes);
  if (!place) {
    state.lost.fetch_add(1, std::memory_order_relaxed);
    return slot;
  }
  const std::span<std::byte> ring = memory_.ring(n);
  if (place->padding != 0) {
    wire::write_padding(ring.last(place->padding));
    advance(n, place->padding);
  }
  slot.room = ring.subspan(place->offset, bytes);
  return slot;
}

void SharedRing::advance(unsigned n, std::size_t bytes) {
  vcpu(n).head.fetch_add(bytes, std::memory_order_release);
}

void SharedRing::commit(unsigned n, wire::SourceId source, std::size_t bytes,
                        const Meanwhile& meanwhile) {
  advance(n, bytes);
  // It takes what is there from time to time; this may be too late.
  const std::size_t alarm = memory_.layout().ring_bytes / 4;
  if (const std::uint64_t used = bytes_used(n); used >= alarm && used - bytes < alarm) ring_bell();
  if (backpressure(source) == wire::Backpressure::kLockstep)
    wait_for_reader(
        source, [&] { return is_drained(n); }, meanwhile);
}

std::uint64_t SharedRing::bytes_used(unsigned n) const {
  const wire::RingVcpu& state = vcpu(n);
  return state.head.load(std::memory_order_relaxed) - state.tail.load(std::memory_order_acquire);
}

Bytes SharedRing::record_at(unsigned n, std::uint64_t position) const {
  const Bytes ring = memory_.ring(n);
  const Bytes rest = ring.subspan(position % ring.size());
  return rest.first(wire::trusted_record_bytes(rest));
}

bool SharedRing::reader_is_there() const {
  if (is_private_) return true;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = wire::kReaderLock;
  lock.l_len = 1;
  return ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool SharedRing::abandon_if_reader_is_gone() {
  // In this order: another ringside may come in between, and its start is not over.
  const std::uint32_t start = header().start.load(std::memory_order_acquire);
  if (reader_is_there()) return false;
  abandoned_.store(start, std::memory_order_relaxed);
  return true;
}

bool SharedRing::is_wanted() const {
  return source(wire::SourceId::kClock).enabled.load(std::memory_order_acquire) != 0 &&
         header().one_thread.load(std::memory_order_relaxed) == 0 &&
         header().start.load(std::memory_order_relaxed) !=
             abandoned_.load(std::memory_order_relaxed);
}

void SharedRing::ring_bell() {
  header().bell.fetch_add(1, std::memory_order_release);
  wire::futex_wake(header().bell);
}

}  // namespace ringside::plugin
