#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/host_waits.h"
#include "engines/qmp/guest_hold.h"
#include "engines/qmp/wait_instructions.h"
#include "memory/address_space.h"
#include "wire/capture.h"
#include "wire/recipe.h"

namespace ringside::engines::qmp {

// One tick through the human monitor's text. Enters: the plan. Leaves: a capture for each vCPU.
//
// A command costs 0.2 to 0.5 ms, during which the guest stands still, and hardly more where it
// prints much. So there are few: the stop and the registers of all vCPUs in one write; then waves,
// in which the recipes of all vCPUs run as far as their next load, and every piece of memory that
// they want is one command. The last wave carries the continue. Copied memory stays text until the
// guest runs again. Where QEMU's own memory can be read, and the registers tell a vCPU's page
// tables (not on aarch64), its recipe needs no wave.
class HmpSampler {
 public:
  // `qemu_memory`: guest-physical memory that is read without QEMU's doing; may be null.
  // It looks again at `host_waits` once the guest has stopped.
  HmpSampler(GuestHold& hold, Arch arch, std::size_t vcpus, WaitInstructions& waits,
             HostWaits& host_waits, PhysicalMemory* qemu_memory)
      : hold_(hold),
        arch_(arch),
        vcpus_(vcpus),
        waits_(waits),
        host_waits_(host_waits),
        qemu_memory_(qemu_memory) {}

  [[nodiscard]] Result<Tick> run(const TickPlan& plan);

 private:
  struct Copy {
    wire::MemoryRequest request;
    std::string text;
  };
  struct Vcpu {
    const VcpuPlan* plan = nullptr;  // null: not wanted
    wire::Capture capture;
    std::optional<wire::RecipeRun> recipe;  // while it runs
    std::vector<Copy> copies;               // one a piece; none where `space` has them
    std::unique_ptr<memory::PageTables> tables;
    std::optional<memory::AddressSpace> space;  // over QEMU's own memory; else the monitor is asked
    bool may_wait = false;                      // what is before its pc is not known yet
  };
  // Where an answer of the wave that is under way belongs.
  struct Expected {
    enum class What { kBeforePc, kLoad, kCopy } what;
    std::size_t vcpu;
    GuestVirt address;
    std::size_t size;  // bytes
    std::size_t copy;  // its index
  };

  void take_registers(const std::string& text, const TickPlan& plan);
  void classify(Vcpu& vcpu, const TickPlan& plan);
  void probe_wait(Vcpu& vcpu);
  [[nodiscard]] Result<void> run_waves();
  [[nodiscard]] bool build_wave();
  bool advance(std::size_t index);
  void take_wave(std::vector<nlohmann::json>& answers);
  void add(const Expected& expected);
  static void copy_now(Vcpu& vcpu, const wire::MemoryRequest& request);
  static void decode_copies(Vcpu& vcpu);

  GuestHold& hold_;
  Arch arch_;
  std::vector<Vcpu> vcpus_;
  WaitInstructions& waits_;
  HostWaits& host_waits_;
  PhysicalMemory* qemu_memory_;
  Requests requests_;
  std::vector<Expected> expected_;
};

}  // namespace ringside::engines::qmp
