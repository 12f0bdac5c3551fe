#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "wire/ring.h"

namespace ringside::wire {

// Where the parts lie, each at a whole page: the header and the table of sources; for each vCPU its
// RingVcpu, what its sources have done, and its counters; the mailbox; the rings.
struct RingLayout {
  std::uint32_t vcpus = 0;
  std::uint32_t ring_bytes = 0;
  std::uint32_t sources = kUsualSources;
  std::uint32_t counters = kUsualCounters;

  [[nodiscard]] static constexpr std::size_t pages(std::size_t bytes) {
    return (bytes + kRingPage - 1) / kRingPage * kRingPage;
  }
  [[nodiscard]] constexpr std::size_t source(std::size_t n) const {
    return sizeof(RingHeader) + n * sizeof(RingSource);
  }
  [[nodiscard]] constexpr std::size_t vcpu(std::size_t n) const {
    return pages(source(sources)) + n * vcpu_bytes();
  }
  [[nodiscard]] constexpr std::size_t source_state(std::size_t vcpu_number, std::size_t n) const {
    return vcpu(vcpu_number) + sizeof(RingVcpu) + n * sizeof(RingSourceState);
  }
  [[nodiscard]] constexpr std::size_t counter(std::size_t vcpu_number, std::size_t n) const {
    return source_state(vcpu_number, sources) + n * sizeof(std::uint64_t);
  }
  [[nodiscard]] constexpr std::size_t mailbox() const { return vcpu(vcpus); }
  [[nodiscard]] constexpr std::size_t ring(std::size_t n) const {
    return mailbox() + kMailboxBytes + n * std::size_t{ring_bytes};
  }
  [[nodiscard]] constexpr std::size_t bytes() const { return ring(vcpus); }

 private:
  [[nodiscard]] constexpr std::size_t vcpu_bytes() const {
    return pages(sizeof(RingVcpu) + sources * sizeof(RingSourceState) +
                 counters * sizeof(std::uint64_t));
  }
};

// The parts, where they are mapped. Numbers are not checked.
class RingMemory {
 public:
  RingMemory() = default;
  RingMemory(std::byte* base, const RingLayout& layout) : base_(base), layout_(layout) {}

  // Begins a ring: all parts, and what the plugin writes once but `magic` and what is QEMU's own.
  void begin() const {
    RingHeader& first = *new (base_) RingHeader;
    for (std::size_t n = 0; n < layout_.sources; ++n) new (base_ + layout_.source(n)) RingSource;
    for (std::size_t n = 0; n < layout_.vcpus; ++n) {
      new (base_ + layout_.vcpu(n)) RingVcpu;
      for (std::size_t of = 0; of < layout_.sources; ++of)
        new (base_ + layout_.source_state(n, of)) RingSourceState;
      for (std::size_t of = 0; of < layout_.counters; ++of)
        new (base_ + layout_.counter(n, of)) std::atomic<std::uint64_t>(0);
    }
    first.version = kRingVersion;
    first.sizes = kRingSizes;
    first.vcpus = layout_.vcpus;
    first.ring_bytes = layout_.ring_bytes;
    first.sources = layout_.sources;
    first.counters = layout_.counters;
  }

  [[nodiscard]] const RingLayout& layout() const { return layout_; }
  [[nodiscard]] std::byte* base() const { return base_; }
  [[nodiscard]] RingHeader& header() const { return at<RingHeader>(0); }
  [[nodiscard]] RingSource& source(SourceId id) const {
    return at<RingSource>(layout_.source(static_cast<std::size_t>(id)));
  }
  [[nodiscard]] RingVcpu& vcpu(std::size_t n) const { return at<RingVcpu>(layout_.vcpu(n)); }
  [[nodiscard]] RingSourceState& state(std::size_t vcpu, SourceId id) const {
    return at<RingSourceState>(layout_.source_state(vcpu, static_cast<std::size_t>(id)));
  }
  [[nodiscard]] std::atomic<std::uint64_t>& counter(std::size_t vcpu, RingCounter which) const {
    return at<std::atomic<std::uint64_t>>(layout_.counter(vcpu, static_cast<std::size_t>(which)));
  }
  [[nodiscard]] std::span<std::byte> mailbox() const {
    return {base_ + layout_.mailbox(), kMailboxBytes};
  }
  [[nodiscard]] std::span<std::byte> ring(std::size_t n) const {
    return {base_ + layout_.ring(n), layout_.ring_bytes};
  }

 private:
  template <class T>
  [[nodiscard]] T& at(std::size_t offset) const {
    return *reinterpret_cast<T*>(base_ + offset);
  }

  std::byte* base_ = nullptr;
  RingLayout layout_;
};

}  // namespace ringside::wire
