#pragma once

#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <span>

#include "base/fd.h"
#include "wire/capture.h"
#include "wire/record.h"
#include "wire/ring_memory.h"

namespace ringside::engines::tcg::testing {

// The plugin's side of a ring, in this process: what the real one does with the same memory.
class FakePlugin {
 public:
  explicit FakePlugin(unsigned vcpus, std::uint32_t ring_bytes = 64 * 1024)
      : FakePlugin(wire::RingLayout{vcpus, ring_bytes}) {}
  explicit FakePlugin(const wire::RingLayout& layout);
  ~FakePlugin();

  [[nodiscard]] std::filesystem::path path() const { return path_; }
  [[nodiscard]] wire::RingHeader& header() const { return memory_.header(); }
  [[nodiscard]] wire::RingVcpu& vcpu(std::size_t n) const { return memory_.vcpu(n); }
  [[nodiscard]] wire::RingSource& clock() const { return memory_.source(wire::SourceId::kClock); }
  [[nodiscard]] wire::RingSourceState& clock_state(std::size_t vcpu) const {
    return memory_.state(vcpu, wire::SourceId::kClock);
  }
  [[nodiscard]] std::atomic<std::uint64_t>& counter(std::size_t vcpu,
                                                    wire::RingCounter which) const {
    return memory_.counter(vcpu, which);
  }
  [[nodiscard]] std::span<std::byte> ring(std::size_t n) const { return memory_.ring(n); }
  [[nodiscard]] std::span<std::byte> mailbox() const { return memory_.mailbox(); }

  // As the end of QEMU does.
  void die() { set_lock(F_UNLCK); }
  // Puts a sample, or an event of the clock's, into the ring; false if there is no room.
  bool put(const wire::Capture& capture) { return put_any(capture); }
  bool put(const wire::Event& event) { return put_any(event); }

 private:
  void set_lock(short type);
  template <class What>
  bool put_any(const What& what);

  std::filesystem::path path_;
  UniqueFd fd_;
  wire::RingMemory memory_;
};

}  // namespace ringside::engines::tcg::testing
