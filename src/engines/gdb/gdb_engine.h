#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/scheduling.h"
#include "base/socket.h"
#include "engines/engine.h"
#include "engines/gdb/inventory.h"
#include "engines/gdb/memory/memory_reads.h"
#include "engines/gdb/memory/read_stops.h"
#include "engines/gdb/memory/virtual_reads.h"
#include "engines/gdb/protocol/handshake.h"
#include "engines/gdb/protocol/stub.h"
#include "engines/guest_claim.h"
#include "engines/host_waits.h"
#include "memory/stopped_pages.h"

namespace ringside::engines::gdb {

struct Options {
  Patience patience;
  // A tick also captures a guest that its user has paused, and leaves it so.
  bool captures_paused = false;
  // Whether the guest ran before the socket was connected, where the caller knows it (from QMP).
  // QEMU from 8.1 on does not report it; connect() finds it out where QEMU runs on this machine.
  std::optional<bool> guest_was_running;
  // The thread that serves the stub (QEMU's main loop: its process id); 0: the QEMU at the other
  // end of the socket. Where the vCPUs leave no processor free it is scheduled before them, if that
  // is allowed.
  pid_t stub_thread = 0;
  // Whether physical memory may be read from QEMU's own address space.
  bool reads_qemu_memory = true;
  // A process that lets the guest run again if this one is killed. Without: for tests.
  bool guardian = true;
  // Instead of one that looks at QEMU's threads: for tests.
  std::optional<MigrationWatch> migration_watch;
};

// Reads one vCPU's memory while the guest stands still. Returns how many bytes from the start could
// be read: fewer than asked where a page is not mapped. An error means that the engine itself
// failed.
using ReadMemory =
    std::function<Result<std::size_t>(VcpuId, GuestVirt, std::span<std::byte> destination)>;

// Captures through a gdb remote stub: QEMU's -gdb or -s, or any other stub of the protocol, which
// then costs a round trip for each request. One thread uses it.
class GdbEngine final : public Engine {
 public:
  // Connects to a stub. Call it before threads are made: it forks. The guardian is there before the
  // connection, because connecting already stops the guest. Afterwards the guest runs, except where
  // its user had paused it. Errors: kNotFound where nothing listens, kProtocol and kTimeout for
  // what is not a gdb stub or serves another client, kClosed, kUnsupported for an architecture that
  // ringside does not know. After an error, too, the guest runs: where the stub has not answered,
  // the guardian keeps the connection and lets the guest run when it does.
  [[nodiscard]] static Result<std::unique_ptr<GdbEngine>> connect(const SocketAddress& address,
                                                                  const Options& options = {});
  // The same with a stream socket that is connected already. It must be new, because the guest's
  // state before the connection is read from the first bytes that come. QEMU from 8.1 on does not
  // report: there the guest is taken to have run.
  [[nodiscard]] static Result<std::unique_ptr<GdbEngine>> attach(UniqueFd socket,
                                                                 const Options& options = {});
  // Detaches; the guest runs, except where its user has paused it.
  ~GdbEngine() override;
  // The same before its destruction, so that the stub serves another client. Afterwards the guest
  // cannot be reached; arch(), vcpu_count(), memory_pauses() and stood_still_ns() go on.
  void detach();

  [[nodiscard]] Arch arch() const override { return inventory_.layout.arch(); }
  [[nodiscard]] std::size_t vcpu_count() const override { return inventory_.threads.size(); }
  [[nodiscard]] Result<bool> guest_is_running() override;
  [[nodiscard]] Result<Tick> tick(const TickPlan& plan) override;
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId vcpu) override;
  // Stops the guest, calls `read` with a reader, and lets the guest run again. Where the guest's
  // user has stopped it, `read` is called and the guest stays stopped.
  [[nodiscard]] Result<void> with_memory(
      const std::function<Result<void>(const ReadMemory&)>& read);

  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override {
    return virtual_reads_.find_physical();
  }
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId vcpu, GuestVirt address,
                                                 std::span<std::byte> destination) override;
  [[nodiscard]] std::string explain_memory_access() const override {
    return virtual_reads_.explain();
  }
  [[nodiscard]] bool memory_reads_stop_the_guest() const override {
    return ram_.was_asked() && !ram_.reads_qemu();
  }
  [[nodiscard]] MemoryPauses memory_pauses() const override { return read_stops_.pauses(); }
  [[nodiscard]] bool stops_share_processors() const override { return waits_.sees_threads(); }
  [[nodiscard]] std::uint64_t stood_still_ns() const override {
    return stub_->held_time().total_ns();
  }
  // How many stops that was.
  [[nodiscard]] std::uint64_t stops() const { return stub_->held_time().count(); }
  void set_read_turns(ReadTurns* turns) override { read_stops_.set_turns(turns); }

  // For an engine that has QEMU's monitor beside the stub: what it says about a migration.
  void note_migration(Migration migration) { stub_->note_migration(migration); }
  // The guest stands for us while it is being migrated.
  [[nodiscard]] bool left_standing() const { return stub_->left_standing(); }

  [[nodiscard]] std::string qemu_version() const override { return qemu_version_; }
  [[nodiscard]] pid_t guardian_pid() const { return stub_->guardian_pid(); }

 private:
  [[nodiscard]] static Result<std::unique_ptr<GdbEngine>> attach(UniqueFd socket,
                                                                 std::unique_ptr<Guardian> guardian,
                                                                 const Options& options,
                                                                 const DidRun& did_run);
  GdbEngine(std::unique_ptr<Stub> stub, Inventory inventory, std::string qemu_version,
            pid_t stub_thread, bool reads_qemu_memory);
  [[nodiscard]] LeftAlone left_alone() const;
  void schedule_stub_first(pid_t thread);
  void restore_stub_scheduling();
  [[nodiscard]] QemuRam::Access ram_access(pid_t qemu);
  [[nodiscard]] Result<std::size_t> read_memory(VcpuId vcpu, GuestVirt address,
                                                std::span<std::byte> destination);

  GuestClaim claim_;  // ends after the stub's detach sequence
  std::unique_ptr<Stub> stub_;
  Inventory inventory_;
  MemoryReads reads_;
  ReadStops read_stops_;
  SlicedReads sliced_reads_;
  QemuRam ram_;
  memory::StoppedPages stopped_pages_;
  VirtualReads virtual_reads_;
  std::string qemu_version_;  // empty for a stub that is not QEMU's
  pid_t stub_thread_;
  std::optional<Scheduling> scheduling_before_;  // of the stub's thread
  HostWaits waits_;
  bool captures_paused_ = false;
};

}  // namespace ringside::engines::gdb
