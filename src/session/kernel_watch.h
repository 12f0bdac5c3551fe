#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "elf/identity.h"
#include "elf/image_map.h"
#include "engines/engine.h"
#include "guestos/adapter.h"

namespace ringside::session {

// Waits for the kernel to run, then checks once that the kernel file is the kernel that runs, and
// lets the guest-OS adapter read what it needs, again and again until nothing is missing. Belongs
// to the thread that samples, which owns the engine.
class KernelWatch {
 public:
  // `images` holds the kernel, or nothing.
  KernelWatch(const elf::ImageMap& images, guestos::Adapter& adapter);

  // Looks at a tick. True if the adapter has found out something new, so that recipes change.
  [[nodiscard]] Result<bool> look(engines::Engine& engine, const engines::Tick& tick,
                                  std::uint64_t now_ns);

  // Nothing before it is sure.
  [[nodiscard]] const elf::Identity* identity() const { return settled_ ? &identity_ : nullptr; }
  // One sentence for people about what was found last; empty where all is well.
  [[nodiscard]] std::string explain_identity() const;
  // How long the guest stood still for this, and how often.
  [[nodiscard]] std::uint64_t paused_ns() const { return paused_ns_; }
  [[nodiscard]] std::uint64_t pauses() const { return pauses_; }

 private:
  [[nodiscard]] bool seen_once() const { return settled_ || tries_ > 0; }
  void settle();
  [[nodiscard]] Result<void> read_guest(VcpuId vcpu, std::size_t vcpus,
                                        const engines::ReadMemory& read);

  const elf::ImageMap* images_;
  guestos::Adapter* adapter_;
  bool prepared_ = false;
  unsigned tries_ = 0;
  bool settled_ = false;
  elf::Identity identity_;
  std::uint64_t next_try_ns_ = 0;
  std::uint64_t paused_ns_ = 0;
  std::uint64_t pauses_ = 0;
};

// True if the capture runs code of one of the images in kernel mode.
[[nodiscard]] bool runs_kernel(const wire::Capture& capture, const elf::ImageMap& images);

}  // namespace ringside::session
