#include "plugin/shared_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

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

bool refuse(const std::string& path, const char* what) {
  std::fprintf(stderr, "ringside: cannot %s %s: %s\n", what,
               path.empty() ? "memory for samples" : path.c_str(), std::strerror(errno));
  return false;
}

}  // namespace

bool SharedRing::create(const std::string& path, Arch arch, unsigned vcpus, unsigned api,
                        wire::RingClock clock) {
  layout_.vcpus = vcpus;
  layout_.ring_bytes = static_cast<std::uint32_t>(
      std::bit_floor(std::clamp(kAllRings / vcpus, kSmallestRing, kLargestRing)));
  is_private_ = path.empty();
  fd_ = is_private_ ? ::memfd_create("ringside", MFD_CLOEXEC)
                    : ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) return refuse(path, "make");
  // With its pages: a full file system would end QEMU, later, with SIGBUS.
  errno = ::posix_fallocate(fd_, 0, static_cast<off_t>(layout_.bytes()));
  if (errno != 0) return refuse(path, "find room for");
  void* const base = ::mmap(nullptr, layout_.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (base == MAP_FAILED) return refuse(path, "map");
  base_ = static_cast<std::byte*>(base);
  header_ = new (base_) wire::RingHeader;
  for (unsigned n = 0; n < vcpus; ++n) new (base_ + layout_.vcpu(n)) wire::RingVcpu;
  header_->version = wire::kRingVersion;
  header_->arch = static_cast<std::uint32_t>(arch);
  header_->vcpus = vcpus;
  header_->ring_bytes = layout_.ring_bytes;
  header_->pid = static_cast<std::uint32_t>(::getpid());
  header_->api = api;
  header_->clock = clock;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = wire::kPluginLock;
  lock.l_len = 1;
  if (::fcntl(fd_, F_OFD_SETLK, &lock) != 0) return refuse(path, "lock");
  header_->magic.store(wire::kRingMagic, std::memory_order_release);
  return true;
}

std::span<std::byte> SharedRing::reserve(unsigned n, std::size_t bytes) {
  wire::RingVcpu& state = vcpu(n);
  const std::uint64_t head = state.head.load(std::memory_order_relaxed);
  const std::uint64_t used = head - state.tail.load(std::memory_order_acquire);
  const std::size_t size = layout_.ring_bytes;
  const std::size_t at = head % size;
  const std::size_t to_end = size - at;
  const bool begins_anew = used == 0 && at >= kUsualRing && bytes <= at;
  const bool goes_on = bytes <= to_end && !begins_anew;
  const std::size_t needed = goes_on ? bytes : to_end + bytes;
  if (used > size || needed > size - used) return {};
  std::byte* const ring = base_ + layout_.ring(n);
  if (goes_on) return {ring + at, bytes};
  wire::write_padding({ring + at, to_end});
  state.head.store(head + to_end, std::memory_order_release);
  return {ring, bytes};
}

void SharedRing::commit(unsigned n, std::size_t bytes) {
  vcpu(n).head.fetch_add(bytes, std::memory_order_release);
}

bool SharedRing::is_drained(unsigned n) const {
  const wire::RingVcpu& state = vcpu(n);
  return state.tail.load(std::memory_order_acquire) == state.head.load(std::memory_order_relaxed);
}

std::span<const std::byte> SharedRing::record_at(unsigned n, std::uint64_t position) const {
  const std::byte* const at = base_ + layout_.ring(n) + position % layout_.ring_bytes;
  return {at, wire::trusted_record_bytes({at, wire::kRecordAlignment})};
}

bool SharedRing::reader_is_there() const {
  if (is_private_) return true;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = wire::kReaderLock;
  lock.l_len = 1;
  return ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void SharedRing::abandon() {
  abandoned_.store(header_->start.load(std::memory_order_acquire), std::memory_order_relaxed);
}

bool SharedRing::is_wanted() const {
  return header_->running.load(std::memory_order_acquire) != 0 &&
         header_->one_thread.load(std::memory_order_relaxed) == 0 &&
         header_->start.load(std::memory_order_relaxed) !=
             abandoned_.load(std::memory_order_relaxed);
}

void SharedRing::ring_bell() {
  header_->bell.fetch_add(1, std::memory_order_release);
  wire::futex_wake(header_->bell);
}

}  // namespace ringside::plugin
