#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "engines/engine.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/qmp/monitor.h"

namespace ringside::engines::qmp {

// Captures from a QEMU of which only the monitor can be reached: has it open a gdb stub for
// ringside alone (HMP "gdbserver unix:PATH"), and close it at the end. A guest that its user has
// paused stays paused.
class QmpEngine final : public Engine {
 public:
  // Takes the monitor only where it succeeds. `stub_folder`: where QEMU is to make the stub's
  // socket, a folder that QEMU may write to and nobody else may enter. Errors: kUnsupported where
  // the VM has a gdb stub already, which is its user's, or QEMU cannot make one; and those of
  // Monitor and GdbEngine::connect().
  [[nodiscard]] static Result<std::unique_ptr<QmpEngine>> attach(Monitor& monitor,
                                                                 const std::string& stub_folder,
                                                                 const gdb::Options& stub = {});
  // Through a stub that is there and is left there: its user's, who does not use it. Takes the
  // monitor only where it succeeds.
  [[nodiscard]] static Result<std::unique_ptr<QmpEngine>> attach_to(Monitor& monitor,
                                                                    const SocketAddress& stub,
                                                                    const gdb::Options& options);
  ~QmpEngine() override;
  // Detaches from the stub, as GdbEngine::detach(), and gives the monitor away.
  [[nodiscard]] Monitor give_back();

  [[nodiscard]] Arch arch() const override { return gdb_->arch(); }
  [[nodiscard]] std::size_t vcpu_count() const override { return gdb_->vcpu_count(); }
  [[nodiscard]] std::string qemu_version() const override { return monitor_.qemu_version(); }
  [[nodiscard]] Result<bool> guest_is_running() override;
  [[nodiscard]] Result<Tick> tick(const TickPlan& plan) override;
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId vcpu) override {
    return gdb_->read_registers(vcpu);
  }
  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override {
    return gdb_->physical_memory();
  }
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId vcpu, GuestVirt address,
                                                 std::span<std::byte> destination) override {
    return gdb_->virtual_memory(vcpu).read_up_to(address, destination);
  }
  [[nodiscard]] std::string explain_memory_access() const override {
    return gdb_->explain_memory_access();
  }
  [[nodiscard]] bool memory_reads_stop_the_guest() const override {
    return gdb_->memory_reads_stop_the_guest();
  }
  [[nodiscard]] MemoryPauses memory_pauses() const override { return gdb_->memory_pauses(); }
  [[nodiscard]] bool stops_share_processors() const override {
    return gdb_->stops_share_processors();
  }
  // By QEMU's events, up to the last tick; the stub alone is far from them where the host is busy.
  [[nodiscard]] std::uint64_t stood_still_ns() const override {
    return held_ns_ + gdb_->stood_still_ns() - counted_by_stub_ns_;
  }
  void set_read_turns(ReadTurns* turns) override { gdb_->set_read_turns(turns); }

 private:
  [[nodiscard]] Result<bool> is_migrating();
  void count_held();

  QmpEngine(Monitor monitor, std::unique_ptr<gdb::GdbEngine> gdb, bool opened_stub, bool guest_ran);

  Monitor monitor_;
  bool has_monitor_ = true;
  std::unique_ptr<gdb::GdbEngine> gdb_;
  bool closes_stub_;
  bool was_under_way_ = false;  // a migration, at the last answer
  bool was_left_alone_;         // the guest, so that the stop that ends next is not ours
  bool has_counted_ = false;
  // Counted so far: RESUME events beyond those of our own stops, all stops by events, ours by the
  // stub.
  std::int64_t others_resumes_ = 0;
  std::uint64_t counted_ns_ = 0;          // Monitor::stopped_ns()
  std::uint64_t counted_by_stub_ns_ = 0;  // gdb_'s own figure
  std::uint64_t held_ns_ = 0;             // of that, for us
};

}  // namespace ringside::engines::qmp
