#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/host_waits.h"
#include "engines/qmp/guest_hold.h"
#include "engines/qmp/wait_instructions.h"
#include "engines/wave_sampler.h"
#include "memory/stopped_memory.h"

namespace ringside::engines::qmp {

// One tick through the human monitor's text. A command costs 0.2 to 0.5 ms, during which the guest
// stands still, and hardly more where it prints much. So the stop and the registers of all vCPUs
// are one write, and every read is one command. Where QEMU's own memory can be read, and the
// registers give a vCPU's page tables (not on aarch64), its memory is read directly.
class HmpTransport final : public WaveTransport {
 public:
  // `ram`: QEMU's own memory, by way of `pages`; null where it cannot be read. It polls
  // `host_waits` again once the guest has stopped.
  HmpTransport(GuestHold& hold, Arch arch, std::size_t vcpus, WaitInstructions& waits,
               HostWaits& host_waits, memory::RamMemory* ram, memory::StoppedPages& pages)
      : hold_(hold),
        arch_(arch),
        waits_(waits),
        host_waits_(host_waits),
        ram_(ram),
        pages_(pages),
        vcpus_(vcpus) {}
  ~HmpTransport() override { pages_.stop(); }

  [[nodiscard]] Result<bool> stop(std::span<wire::Capture> captures) override;
  [[nodiscard]] bool ask_more(wire::Capture& capture, bool copies) override;
  [[nodiscard]] memory::StoppedMemory* direct_memory(VcpuId vcpu) override;
  [[nodiscard]] std::size_t read(VcpuId vcpu, GuestVirt address, std::size_t size) override;
  [[nodiscard]] Result<void> exchange(bool last) override;
  [[nodiscard]] std::size_t decode(std::size_t read,
                                   std::span<std::byte> destination) const override;
  [[nodiscard]] Pause pause() const override { return {hold_.began_ns(), hold_.pause_ns()}; }

 private:
  struct Vcpu {
    std::unique_ptr<memory::PageTables> tables = {};
    std::optional<memory::StoppedMemory> memory = {};  // QEMU's own
    std::optional<std::size_t> before_pc = {};         // the read of what is there, to be taken
    bool may_wait = false;                             // what is before its pc is not known yet
  };
  struct Read {
    GuestVirt address;
    std::string text;  // empty before it came
  };

  void take_registers(const std::string& text);
  void probe_wait(wire::Capture& capture);
  void take_wait(wire::Capture& capture);

  GuestHold& hold_;
  Arch arch_;
  WaitInstructions& waits_;
  HostWaits& host_waits_;
  memory::RamMemory* ram_;
  memory::StoppedPages& pages_;
  std::vector<Vcpu> vcpus_;
  std::span<wire::Capture> captures_;
  Requests requests_;        // of the next exchange, one a read
  std::vector<Read> reads_;  // of the tick
  std::size_t taken_ = 0;    // so many have been exchanged
};

}  // namespace ringside::engines::qmp
