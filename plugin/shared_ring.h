#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>

#include "base/types.h"
#include "wire/ring.h"

namespace ringside::plugin {

// Memory shared with ringside, made and mapped for good: QEMU's threads use it until the process
// ends.
class SharedRing {
 public:
  // Makes a new file, or where `path` is empty memory that the plugin itself reads; false, with a
  // line on standard error, where that fails.
  [[nodiscard]] bool create(const std::string& path, Arch arch, unsigned vcpus, unsigned api,
                            wire::RingClock clock);

  [[nodiscard]] wire::RingHeader& header() const { return *header_; }
  [[nodiscard]] wire::RingVcpu& vcpu(unsigned n) const {
    return *reinterpret_cast<wire::RingVcpu*>(base_ + layout_.vcpu(n));
  }
  [[nodiscard]] std::span<std::byte> mailbox() const {
    return {base_ + layout_.mailbox(), wire::kMailboxBytes};
  }
  [[nodiscard]] unsigned vcpus() const { return layout_.vcpus; }

  // Where the next record of `bytes` bytes goes; empty if there is no room. Called by the thread of
  // that vCPU.
  [[nodiscard]] std::span<std::byte> reserve(unsigned vcpu, std::size_t bytes);
  // The record is written.
  void commit(unsigned vcpu, std::size_t bytes);
  // True if ringside has taken out all records.
  [[nodiscard]] bool is_drained(unsigned vcpu) const;

  // The record that begins `position` bytes after the first one ever: the reader's to ask for.
  [[nodiscard]] std::span<const std::byte> record_at(unsigned vcpu, std::uint64_t position) const;

  // True as long as ringside lives: it holds a lock on the file, which the system lets go of.
  [[nodiscard]] bool reader_is_there() const;
  // ringside is gone: what it has started is over. The next start counts again.
  void abandon();
  // Whether samples are to be taken.
  [[nodiscard]] bool is_wanted() const;
  void ring_bell();

 private:
  std::byte* base_ = nullptr;
  wire::RingHeader* header_ = nullptr;
  wire::RingLayout layout_;
  int fd_ = -1;
  std::atomic<std::uint32_t> abandoned_{0};  // which of ringside's starts
  bool is_private_ = false;
};

}  // namespace ringside::plugin
