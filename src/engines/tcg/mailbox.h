#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.h"
#include "engines/tcg/ring_map.h"

namespace ringside::engines::tcg {

// Asks vCPUs for what no sample carries. A vCPU answers between two of its blocks: not while it is
// idle or stopped.
class Mailbox {
 public:
  explicit Mailbox(RingMap& ring) : ring_(&ring) {}

  // How many bytes from `address` up could be read; nothing where the vCPU has not answered in
  // time. At most wire::kMailboxBytes at once.
  [[nodiscard]] std::optional<std::size_t> read(VcpuId vcpu, wire::MailboxRequest kind,
                                                GuestVirt address, std::span<std::byte> destination,
                                                std::chrono::milliseconds patience);
  // All registers, as the machine's.
  [[nodiscard]] std::optional<arch::Registers> registers(VcpuId vcpu,
                                                         std::chrono::milliseconds patience);

 private:
  // The bytes of the answer.
  [[nodiscard]] std::optional<std::span<const std::byte>> ask(VcpuId vcpu,
                                                              wire::MailboxRequest kind,
                                                              GuestVirt address, std::size_t bytes,
                                                              std::chrono::milliseconds patience);

  RingMap* ring_;
  bool broken_ = false;  // a vCPU has begun to answer, and has not ended: as where QEMU is stopped
};

}  // namespace ringside::engines::tcg
