#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/types.h"
#include "wire/record.h"
#include "wire/ring_memory.h"

namespace ringside::plugin {

// Memory shared with ringside, made and mapped for good: QEMU's threads use it until the process
// ends.
class SharedRing {
 public:
  // Makes a new file, or where `path` is empty memory that the plugin itself reads; false, with a
  // line on standard error, where that fails.
  [[nodiscard]] bool create(const std::string& path, Arch arch, unsigned vcpus, unsigned api,
                            wire::RingClock clock);

  [[nodiscard]] wire::RingHeader& header() const { return memory_.header(); }
  [[nodiscard]] wire::RingVcpu& vcpu(unsigned n) const { return memory_.vcpu(n); }
  [[nodiscard]] wire::RingSource& source(wire::SourceId id) const { return memory_.source(id); }
  [[nodiscard]] std::span<std::byte> mailbox() const { return memory_.mailbox(); }
  [[nodiscard]] unsigned vcpus() const { return memory_.layout().vcpus; }
  [[nodiscard]] std::uint64_t counter(unsigned vcpu, wire::RingCounter which) const {
    return memory_.counter(vcpu, which).load(std::memory_order_relaxed);
  }
  void count(unsigned vcpu, wire::RingCounter which, std::uint64_t how_many = 1) const {
    memory_.counter(vcpu, which).fetch_add(how_many, std::memory_order_release);
  }

  struct Slot {
    std::span<std::byte> room;  // empty: the record is lost, and counted as such
    wire::RecordOrigin origin;
  };
  // Called again and again while a vCPU waits for ringside.
  using Meanwhile = std::function<void()>;
  // Numbers the next record of a source, and finds room for its `bytes` bytes. Called by the thread
  // of that vCPU, as are the following. Both wait as the source's Backpressure says, but not for a
  // ringside that is gone.
  [[nodiscard]] Slot begin_record(unsigned vcpu, wire::SourceId source, std::size_t bytes,
                                  const Meanwhile& meanwhile);
  // The record is written.
  void commit(unsigned vcpu, wire::SourceId source, std::size_t bytes, const Meanwhile& meanwhile);
  [[nodiscard]] bool has_room(unsigned vcpu, std::size_t bytes) const;
  // An empty ring has room for so many bytes, wherever its records ended.
  [[nodiscard]] std::size_t longest_record() const { return memory_.layout().ring_bytes / 2; }
  // True if ringside has taken out all records.
  [[nodiscard]] bool is_drained(unsigned vcpu) const { return bytes_used(vcpu) == 0; }

  // The record that begins `position` bytes after the first one ever: the reader's to ask for.
  [[nodiscard]] Bytes record_at(unsigned vcpu, std::uint64_t position) const;

  // True as long as ringside lives: it holds a lock on the file, which the system lets go of.
  [[nodiscard]] bool reader_is_there() const;
  // Where it is gone, what it has started is over, and the result is true. The next start counts
  // again.
  bool abandon_if_reader_is_gone();
  // Whether samples are to be taken.
  [[nodiscard]] bool is_wanted() const;
  void ring_bell();

 private:
  // Where a record goes: behind `padding` bytes that are left out at the ring's end.
  struct Place {
    std::size_t padding = 0;
    std::size_t offset = 0;
  };
  [[nodiscard]] std::optional<Place> find_place(unsigned vcpu, std::size_t bytes) const;
  // That ringside has not taken out.
  [[nodiscard]] std::uint64_t bytes_used(unsigned vcpu) const;
  void advance(unsigned vcpu, std::size_t bytes);
  [[nodiscard]] wire::Backpressure backpressure(wire::SourceId source) const;
  // Until that is so, the source's records need not wait any more, or ringside is gone.
  template <class Done>
  void wait_for_reader(wire::SourceId source, const Done& is_done, const Meanwhile& meanwhile);

  wire::RingMemory memory_;
  int fd_ = -1;
  std::atomic<std::uint32_t> abandoned_{0};  // which of ringside's starts
  bool is_private_ = false;
};

}  // namespace ringside::plugin
