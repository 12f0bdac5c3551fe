#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engines/engine.h"
#include "engines/migration_watch.h"
#include "engines/qemu_ram.h"
#include "engines/qmp/monitor.h"
#include "engines/tcg/mailbox.h"
#include "engines/tcg/ring_map.h"

namespace ringside::engines::tcg {

// Captures through ringside's plugin in a QEMU that translates the guest's code (TCG). The guest is
// never stopped: each vCPU copies what the recipe says and goes on.
class TcgEngine final : public Engine, public SelfPaced {
 public:
  // `ring`: the file that the plugin was asked to make. `monitor`: QEMU's, or empty, and how long
  // it is waited for; without it a guest that its user has paused looks idle, and there is no
  // physical memory. Errors: those of RingMap::open() and Monitor::connect().
  [[nodiscard]] static Result<std::unique_ptr<TcgEngine>> connect(
      const std::filesystem::path& ring, const std::optional<SocketAddress>& monitor,
      const Patience& patience = {std::chrono::seconds(5)});
  ~TcgEngine() override;

  [[nodiscard]] Arch arch() const override { return static_cast<Arch>(ring_.header().arch); }
  // How many there may ever be: vCPUs can be plugged in.
  [[nodiscard]] std::size_t vcpu_count() const override { return ring_.vcpus(); }
  [[nodiscard]] std::string qemu_version() const override {
    return monitor_ ? monitor_->qemu_version() : std::string();
  }
  [[nodiscard]] Result<bool> guest_is_running() override;
  // Gives the plugin the plan, and takes what has been sampled.
  [[nodiscard]] Result<Tick> tick(const TickPlan& plan) override;
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId vcpu) override;
  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override;
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId vcpu, GuestVirt address,
                                                 std::span<std::byte> destination) override;
  [[nodiscard]] std::string explain_memory_access() const override;
  [[nodiscard]] MemoryPauses memory_pauses() const override { return {}; }

  [[nodiscard]] SelfPaced* self_paced() override { return this; }
  [[nodiscard]] Result<void> start(const Pace& pace) override;
  void stop() override;
  [[nodiscard]] PaceCounts counts() const override;
  [[nodiscard]] bool counts_instructions() const override;

 private:
  struct Counted {
    std::uint64_t idle = 0;
    std::uint64_t skipped = 0;
    std::uint64_t stolen = 0;
    std::uint64_t ring_full = 0;
  };
  TcgEngine(RingMap ring, std::optional<qmp::Monitor> monitor);
  [[nodiscard]] wire::RingSource& clock() const { return ring_.source(wire::SourceId::kClock); }
  [[nodiscard]] Result<void> send(const TickPlan& plan);
  [[nodiscard]] std::uint64_t due_ticks() const;    // that were ever due
  [[nodiscard]] std::uint64_t known_ticks() const;  // that tick() has returned or counted as lost
  void wait_for_samples();
  [[nodiscard]] Result<void> take(Tick& tick);
  [[nodiscard]] Counted counts_of(std::size_t vcpu) const;
  void add_counted(std::size_t vcpu, wire::Disposition what, std::uint64_t ticks, Tick& tick);
  [[nodiscard]] bool has_ended() const;
  [[nodiscard]] LeftAlone left_alone();

  RingMap ring_;
  Mailbox mailbox_;
  std::optional<qmp::Monitor> monitor_;
  std::optional<QemuRam> ram_;
  Pace pace_;
  std::vector<Counted> counted_;       // what tick() has reported already
  std::vector<wire::RingPlan> plans_;  // as they were sent
  std::uint64_t due_before_ = 0;       // that an earlier ringside's ticks were
  std::uint64_t accounted_ = 0;        // ticks of what tick() has returned
  std::uint64_t stolen_ = 0;
  std::uint64_t ring_full_ = 0;
  std::uint32_t bell_seen_ = 0;  // before samples were taken last
  std::uint64_t taken_ns_ = 0;   // when that was
  std::uint64_t wait_ns_ = 0;    // for the next ones
  std::uint64_t next_status_ns_ = 0;
  Migration migration_ = Migration::kNone;  // at the last answer
  bool pauses_ = false;                     // sampling does, until the guest's user lets it go on
};

}  // namespace ringside::engines::tcg
