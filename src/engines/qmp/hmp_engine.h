#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/scheduling.h"
#include "engines/engine.h"
#include "engines/gdb/stub_thread.h"
#include "engines/guardian.h"
#include "engines/guest_claim.h"
#include "engines/held_time.h"
#include "engines/host_waits.h"
#include "engines/qmp/monitor.h"
#include "engines/qmp/monitor_ram.h"
#include "engines/qmp/wait_instructions.h"
#include "memory/stopped_pages.h"

namespace ringside::engines::qmp {

// Captures by what the human monitor prints (`info registers -a`, `x`): for a QEMU whose gdb stub
// is its user's, or that opens none. Registers that its text lacks are listed in hmp_registers.h. A
// guest that its user has paused is left alone. Memory outside of ticks is read while the guest
// runs.
class HmpEngine final : public Engine {
 public:
  struct Options {
    // Without, the guest is never stopped: registers and memory are of different moments, so that
    // stacks may be torn.
    bool stops_the_guest = true;
    // A tick also captures a guest that its user has paused, and leaves it so.
    bool captures_paused = false;
  };
  // Call it before threads are made: it forks. Errors: those of Monitor; kUnsupported for an
  // architecture that ringside does not know.
  [[nodiscard]] static Result<std::unique_ptr<HmpEngine>> start(Monitor monitor,
                                                                const Options& options);
  ~HmpEngine() override;
  [[nodiscard]] std::vector<std::string> caveats() const override;

  [[nodiscard]] Arch arch() const override { return arch_; }
  [[nodiscard]] std::size_t vcpu_count() const override { return vcpus_; }
  [[nodiscard]] std::string qemu_version() const override { return monitor_.qemu_version(); }
  [[nodiscard]] Result<bool> guest_is_running() override;
  [[nodiscard]] Result<Tick> tick(const TickPlan& plan) override;
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId vcpu) override;
  // QEMU's own copy, where there is a way to it.
  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override;
  [[nodiscard]] std::unique_ptr<memory::PageTables> machines_page_tables(VcpuId vcpu) override;
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId vcpu, GuestVirt address,
                                                 std::span<std::byte> destination) override;
  [[nodiscard]] bool tears_registers() const override { return !options_.stops_the_guest; }
  [[nodiscard]] std::string explain_memory_access() const override { return explanation_; }
  [[nodiscard]] MemoryPauses memory_pauses() const override { return {}; }
  [[nodiscard]] bool stops_share_processors() const override {
    return options_.stops_the_guest && host_waits_.sees_threads();
  }
  [[nodiscard]] std::uint64_t stood_still_ns() const override { return held_time_.total_ns(); }

 private:
  HmpEngine(Monitor monitor, std::unique_ptr<Guardian> guardian, const Options& options, Arch arch,
            std::size_t vcpus)
      : monitor_(std::move(monitor)),
        guardian_(std::move(guardian)),
        options_(options),
        arch_(arch),
        vcpus_(vcpus),
        watch_(gdb::stub_thread_behind(monitor_.socket())),
        ram_(ram_access(monitor_, monitor_.peer())) {}
  [[nodiscard]] Result<void> ask_migration();
  [[nodiscard]] LeftAlone left_alone() const;
  [[nodiscard]] PhysicalMemory* qemus_memory();
  [[nodiscard]] Result<std::size_t> read_once(VcpuId vcpu, GuestVirt address,
                                              std::span<std::byte> destination);
  [[nodiscard]] Result<std::size_t> read_translated(VcpuId vcpu, GuestVirt address,
                                                    std::span<std::byte> destination,
                                                    PhysicalMemory& physical);
  [[nodiscard]] Result<std::size_t> read_blocks(VcpuId vcpu, GuestVirt address,
                                                std::span<std::byte> destination);
  [[nodiscard]] Result<bool> may_be_hidden(VcpuId vcpu, GuestVirt address);

  GuestClaim claim_;  // ends after the guardian
  Monitor monitor_;
  std::unique_ptr<Guardian> guardian_;  // none where the guest is not stopped
  Options options_;
  Arch arch_;
  std::size_t vcpus_;
  MigrationWatch watch_;
  WaitInstructions wait_instructions_;
  HostWaits host_waits_;
  HeldTime held_time_;
  std::optional<Scheduling> scheduling_before_;  // of QEMU's main loop
  QemuRam ram_;
  memory::StoppedPages stopped_pages_;
  std::string explanation_;
};

}  // namespace ringside::engines::qmp
