#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/ring/area_finder.h"
#include "engines/ring/guest_rings.h"
#include "engines/ring/library_rings.h"
#include "engines/ring/record_collector.h"
#include "engines/ring/redox_rings.h"
#include "engines/ring/vcpu_tables.h"

namespace ringside::engines::ring {

struct RingOptions {
  std::optional<RedoxLayout> redox;  // the guest has Redox' rings; else the guest library's
  double counter_hz = 0;             // of the guest's counter; 0: as the guest says, or measured
  bool from_boot = false;            // what the guest has put into its rings before the start, too
};

// Gives the samples that a guest takes itself and puts into rings in its memory (guest/README.md,
// or as Redox does). Reads them while the guest runs, through another engine's reader of physical
// memory: the guest does not stand still where that reads QEMU's own copy. The guest decides when
// it samples.
//
// A guest without rings may still make them. A kernel that begins anew makes others.
class RingEngine final : public Engine, public SelfPaced {
 public:
  // Nothing is searched for before the first tick().
  RingEngine(std::unique_ptr<Engine> way_in, const RingOptions& options);

  [[nodiscard]] Arch arch() const override { return way_in_->arch(); }
  [[nodiscard]] std::size_t vcpu_count() const override { return way_in_->vcpu_count(); }
  [[nodiscard]] std::string qemu_version() const override { return way_in_->qemu_version(); }
  [[nodiscard]] Result<bool> guest_is_running() override { return way_in_->guest_is_running(); }
  [[nodiscard]] Result<Tick> tick(const TickPlan& plan) override;
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId vcpu) override {
    return way_in_->read_registers(vcpu);
  }
  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override {
    return way_in_->physical_memory();
  }
  [[nodiscard]] std::string explain_memory_access() const override {
    return way_in_->explain_memory_access();
  }
  [[nodiscard]] std::string explain_silence() const override;
  [[nodiscard]] bool memory_reads_stop_the_guest() const override {
    return way_in_->memory_reads_stop_the_guest();
  }
  [[nodiscard]] MemoryPauses memory_pauses() const override { return way_in_->memory_pauses(); }
  [[nodiscard]] std::uint64_t stood_still_ns() const override { return way_in_->stood_still_ns(); }
  void set_read_turns(ReadTurns* turns) override { way_in_->set_read_turns(turns); }
  [[nodiscard]] SelfPaced* self_paced() override { return this; }

  // SelfPaced. The pace is the guest's own.
  [[nodiscard]] Result<void> start(const Pace&) override;
  void stop() override;
  [[nodiscard]] PaceCounts counts() const override;
  [[nodiscard]] bool counts_instructions() const override { return false; }

  // Rings were found, and are read.
  [[nodiscard]] bool has_rings() const { return rings_ != nullptr; }

 protected:
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId vcpu, GuestVirt address,
                                                 std::span<std::byte> destination) override;

 private:
  // How the guest maps its memory at a moment.
  struct Paging {
    arch::Registers registers;  // of a vCPU
    TablesOfVcpu tables;        // its own
  };
  // Rings that are there besides those that are read.
  struct OtherRings {
    std::unique_ptr<LibraryRings> rings;
    std::uint64_t begun = 0;  // when they were found
    arch::Registers registers;
  };
  // Null where it cannot be read just now.
  [[nodiscard]] Result<PhysicalMemory*> ram();
  // Errors: kTimeout and the like where the vCPU does not answer just now.
  [[nodiscard]] Result<Paging> paging();
  [[nodiscard]] Result<std::unique_ptr<GuestRings>> look_for_rings(PhysicalMemory& ram,
                                                                   Paging& paging);
  [[nodiscard]] Result<void> find_rings();
  [[nodiscard]] Result<void> find_rings_at_last();
  // `now`: registers of a vCPU that maps them.
  [[nodiscard]] Result<void> use(std::unique_ptr<GuestRings> found, const arch::Registers& now);
  void rest_from_search();
  [[nodiscard]] Result<void> look_again();
  [[nodiscard]] Result<void> look_for_others(PhysicalMemory& ram, const Paging& now);
  [[nodiscard]] std::optional<OtherRings> others_in(FoundArea area, const Paging& now) const;
  [[nodiscard]] Result<void> look_whether_there();
  [[nodiscard]] Result<void> follow_moves();
  void leave_rings();
  [[nodiscard]] Result<void> poll_rings(bool is_last);
  [[nodiscard]] Result<Tick> poll(const TickPlan& plan);

  std::unique_ptr<Engine> way_in_;
  RingOptions options_;
  std::optional<AreaFinder> finder_;  // while a search goes on, also for others than rings_
  std::unique_ptr<GuestRings> rings_;
  bool have_given_ = false;           // rings_: something since the start
  std::optional<OtherRings> others_;  // while nothing comes from rings_
  // That were not there, or not mapped, or silent when others were not: none is read twice.
  std::vector<std::unique_ptr<GuestRings>> left_;
  std::optional<RecordCollector> records_;  // of the rings' guest
  Tick rest_;                               // of the records before those
  std::optional<Error> error_;              // that comes with the next tick
  bool is_started_ = false;
  bool is_stopped_ = false;
  std::string why_not_;  // rings were there, and could not be read
  std::uint64_t next_search_ns_ = 0;
  std::uint64_t started_ns_ = 0;
  std::size_t asked_ = 0;           // vCPUs, for their registers
  std::uint64_t search_ns_ = 0;     // that this search, or those for Redox' rings, took so far
  bool none_are_there_ = false;     // those that come are made while the guest is recorded
  std::uint64_t next_look_ns_ = 0;  // whether the rings are still there

  std::uint64_t next_move_ns_ = 0;  // when tables are asked for again
  std::uint64_t moves_rest_ns_ = 0;

  std::uint64_t next_poll_ns_ = 0;
  std::uint64_t silent_since_ns_ = 0;

  RingCounts before_;        // of rings that others have followed
  std::uint64_t taken_ = 0;  // captures of theirs
};

}  // namespace ringside::engines::ring
