#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "guestos/guest_memory.h"

namespace ringside::guestos::testing {

// Reads the test's own memory, any address of it, as if it were a guest's.
class OwnSpace : public GuestSpace {
 public:
  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt at, std::span<std::byte> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      constexpr std::size_t kPage = 4096;
      const std::uint64_t address = at.value + done;
      const std::size_t piece = std::min(into.size() - done, kPage - address % kPage);
      const iovec local{into.data() + done, piece};
      const iovec remote{reinterpret_cast<void*>(address), piece};
      const ssize_t got = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }
};

// The test's own memory as the kernel's; no process has any.
class OwnMemory : public GuestMemory {
 public:
  GuestSpace& kernel() override { return kernel_; }
  std::unique_ptr<GuestSpace> space_of(const wire::Capture&) override {
    return std::make_unique<EmptySpace>();
  }
  PhysicalMemory* physical() override { return nullptr; }

 private:
  OwnSpace kernel_;
};

}  // namespace ringside::guestos::testing
