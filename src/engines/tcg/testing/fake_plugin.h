#pragma once

#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <span>

#include "base/fd.h"
#include "wire/capture.h"
#include "wire/ring.h"

namespace ringside::engines::tcg::testing {

// The plugin's side of a ring, in this process: what the real one does with the same memory.
class FakePlugin {
 public:
  explicit FakePlugin(unsigned vcpus, std::uint32_t ring_bytes = 64 * 1024);
  ~FakePlugin();

  [[nodiscard]] std::filesystem::path path() const { return path_; }
  [[nodiscard]] wire::RingHeader& header() const {
    return *reinterpret_cast<wire::RingHeader*>(base_);
  }
  [[nodiscard]] wire::RingVcpu& vcpu(std::size_t n) const {
    return *reinterpret_cast<wire::RingVcpu*>(base_ + layout_.vcpu(n));
  }
  [[nodiscard]] std::span<std::byte> ring(std::size_t n) const {
    return {base_ + layout_.ring(n), layout_.ring_bytes};
  }
  [[nodiscard]] std::span<std::byte> mailbox() const {
    return {base_ + layout_.mailbox(), wire::kMailboxBytes};
  }

  // As the end of QEMU does.
  void die() { set_lock(F_UNLCK); }
  // Puts a sample into the ring; false if there is no room.
  bool put(const wire::Capture& capture);

 private:
  void set_lock(short type);

  std::filesystem::path path_;
  wire::RingLayout layout_;
  UniqueFd fd_;
  std::byte* base_ = nullptr;
};

}  // namespace ringside::engines::tcg::testing
