#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/socket.h"
#include "engines/engine.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/guest_claim.h"
#include "engines/qmp/hmp_engine.h"
#include "engines/qmp/monitor.h"
#include "engines/qmp/qmp_engine.h"

namespace ringside::engines::qmp {

// Captures from a QEMU with a monitor and a gdb stub that is its user's, through that stub for as
// long as nobody else wants it: a stop by it is shorter than one by the monitor (docs/cost.md). A
// client that connects later waits in QEMU's queue, where attend() and tick() see it. It gets the
// stub, for good, and from then on samples are by what the monitor prints (HmpEngine).
class LentStubEngine final : public Engine, private ReadTurns {
 public:
  // Takes the monitor only where it succeeds. Call it before threads are made: it forks. Errors:
  // kNotFound where there is no such stub; kUnsupported where it serves a client, or one that comes
  // could not be seen; and those of Monitor, GuestClaim and GdbEngine::connect().
  [[nodiscard]] static Result<std::unique_ptr<LentStubEngine>> attach(
      Monitor& monitor, const gdb::Options& options = {});

  [[nodiscard]] Arch arch() const override { return way().arch(); }
  [[nodiscard]] std::size_t vcpu_count() const override { return way().vcpu_count(); }
  [[nodiscard]] std::string qemu_version() const override { return way().qemu_version(); }
  [[nodiscard]] Result<bool> guest_is_running() override;
  [[nodiscard]] Result<Tick> tick(const TickPlan& plan) override;
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId vcpu) override;
  // The same reader before and after the stub was given back.
  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override;
  [[nodiscard]] std::unique_ptr<memory::PageTables> machines_page_tables(VcpuId vcpu) override {
    return way().machines_page_tables(vcpu);
  }
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId vcpu, GuestVirt address,
                                                 std::span<std::byte> destination) override;
  [[nodiscard]] std::string explain_memory_access() const override {
    return way().explain_memory_access();
  }
  [[nodiscard]] bool memory_reads_stop_the_guest() const override {
    return way().memory_reads_stop_the_guest();
  }
  [[nodiscard]] MemoryPauses memory_pauses() const override;
  [[nodiscard]] bool stops_share_processors() const override {
    return way().stops_share_processors();
  }
  [[nodiscard]] std::uint64_t stood_still_ns() const override;
  void set_read_turns(ReadTurns* turns) override { turns_ = turns; }
  void attend() override;
  // Gives the stub back: a client would wait for as long.
  void before_suspension() override;
  [[nodiscard]] std::vector<std::string> caveats() const override;

  [[nodiscard]] bool has_stub() const { return stub_ != nullptr; }

 private:
  // Reads by the way that is there at the moment.
  class Physical final : public PhysicalMemory {
   public:
    explicit Physical(LentStubEngine& engine) : engine_(&engine) {}
    [[nodiscard]] Result<std::size_t> read_up_to(GuestPhys address,
                                                 std::span<std::byte> destination) override;

   private:
    LentStubEngine* engine_;
  };

  LentStubEngine(GuestClaim claim, std::unique_ptr<QmpEngine> stub, SocketAddress address,
                 bool captures_paused);
  [[nodiscard]] Engine& way() { return stub_ ? static_cast<Engine&>(*stub_) : *text_; }
  [[nodiscard]] const Engine& way() const {
    return stub_ ? static_cast<const Engine&>(*stub_) : *text_;
  }
  [[nodiscard]] Result<void> wait(const ReadStop& last, std::uint64_t from_ns) override;
  void look_for_client();
  [[nodiscard]] Result<void> give_back_if_wanted();
  template <class Read>
  [[nodiscard]] auto reading(const Read& read) -> decltype(read());

  GuestClaim claim_;                 // of both ways
  std::unique_ptr<QmpEngine> stub_;  // null: given back
  std::unique_ptr<HmpEngine> text_;  // from then on
  SocketAddress address_;            // the stub's
  bool captures_paused_;
  ReadTurns* turns_ = nullptr;
  unsigned reads_ = 0;               // that are under way, and need the way that they began with
  std::uint64_t looked_ns_ = 0;      // for clients
  std::uint64_t look_after_ns_ = 0;  // the last look
  bool is_wanted_ = false;           // there is one
  std::optional<Error> failure_;     // why there is no way any more
  Physical physical_{*this};
  std::uint64_t began_ns_;
  std::uint64_t given_back_ns_ = 0;
  MemoryPauses pauses_before_;  // by the stub that was given back
  std::uint64_t stood_still_before_ns_ = 0;
};

}  // namespace ringside::engines::qmp
