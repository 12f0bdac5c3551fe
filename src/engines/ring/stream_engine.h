#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "engines/engine.h"
#include "engines/patience.h"
#include "engines/ring/record_collector.h"
#include "wire/guest_stream.h"

namespace ringside::engines::ring {

// Gives the samples of a guest that drains its rings to a serial line while it runs: real hardware
// at a serial device, or a virtual machine's port at a socket. Nothing else of the guest can be
// reached: it has no memory and no registers here.
class StreamEngine final : public Engine, public SelfPaced {
 public:
  // `place` is a device's or FIFO's path, or a socket's as SocketAddress reads it. A serial device
  // passes bytes as they are from now on; its speed stays. Waits for the first record that says
  // what the guest is, up to patience.timeout. Errors: kNotFound where nothing is there, kTimeout
  // where no such record comes, kClosed where the line ends before.
  [[nodiscard]] static Result<std::unique_ptr<StreamEngine>> open(const std::string& place,
                                                                  const Patience& patience,
                                                                  double counter_hz);

  // The run-time address of a symbol of the guest's kernel; 0: it names none.
  [[nodiscard]] GuestVirt anchor() const { return facts_.anchor; }
  [[nodiscard]] const std::string& anchor_name() const { return facts_.anchor_name; }

  [[nodiscard]] Arch arch() const override { return facts_.arch; }
  [[nodiscard]] std::size_t vcpu_count() const override { return facts_.cpus; }
  [[nodiscard]] Result<bool> guest_is_running() override { return true; }
  // Error kClosed at the line's end.
  [[nodiscard]] Result<Tick> tick(const TickPlan& plan) override;
  [[nodiscard]] Result<arch::Registers> read_registers(VcpuId vcpu) override;
  [[nodiscard]] Result<PhysicalMemory*> physical_memory() override;
  [[nodiscard]] bool reads_memory() const override { return false; }
  [[nodiscard]] std::string explain_memory_access() const override { return {}; }
  [[nodiscard]] std::string explain_silence() const override;
  [[nodiscard]] MemoryPauses memory_pauses() const override { return {}; }
  [[nodiscard]] SelfPaced* self_paced() override { return this; }

  [[nodiscard]] Result<void> start(const Pace&) override;
  void stop() override { is_stopped_ = true; }
  [[nodiscard]] PaceCounts counts() const override;
  [[nodiscard]] bool counts_instructions() const override { return false; }

 protected:
  [[nodiscard]] Result<std::size_t> read_virtual(VcpuId, GuestVirt, std::span<std::byte>) override {
    return 0;
  }

 private:
  struct Lost {
    std::uint64_t all = 0;           // records, as far as their numbers show
    std::uint64_t samples = 0;       // of them
    std::uint64_t without_room = 0;  // as the guest says
  };
  StreamEngine(UniqueFd line, std::string place)
      : line_(std::move(line)), place_(std::move(place)) {}

  // Reads for that long at most; false at the line's end.
  [[nodiscard]] Result<bool> read_line(int timeout_ms);
  [[nodiscard]] Result<void> wait_for_facts(const Patience& patience);
  void take(const wire::GuestRecord& record, Bytes bytes);
  [[nodiscard]] Lost lost(bool at_end) const;

  UniqueFd line_;
  std::string place_;
  wire::GuestStream stream_;
  std::vector<std::byte> buffer_;  // that no whole record was found in yet
  std::uint64_t consumed_ = 0;     // bytes of the line before buffer_
  wire::GuestFacts facts_;
  std::optional<RecordCollector> records_;
  bool is_started_ = false;
  bool is_stopped_ = false;
  bool has_ended_ = false;
  Lost lost_before_;  // the start
  std::uint64_t skipped_before_ = 0;
  std::vector<std::uint64_t> words_;  // reused
};

}  // namespace ringside::engines::ring
