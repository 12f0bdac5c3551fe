#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/gdb/inventory.h"
#include "engines/gdb/memory/memory_reads.h"
#include "engines/gdb/protocol/stub.h"
#include "engines/host_waits.h"
#include "engines/wave_sampler.h"

namespace ringside::engines::gdb {

// One tick through a gdb stub. A round trip is 20 to 60 µs, an answer 5 to 10. The stop, all
// registers and all halted states go out in one write, as do the reads of each wave. Answers stay
// hexadecimal until they are decoded.
//
// Where QEMU's own memory can be read, only registers go through the stub. On aarch64 and riscv64
// the first exchange asks for those that a page walk needs beside a sample's. A vCPU is read by the
// stub where one of them is missing, in modes that have no walk (EL2; firmware, but riscv64's), and
// where other tables than the kernel's count (a guest's guest, user code of EL2).
class StubTransport final : public WaveTransport {
 public:
  // `captures_paused`: also a guest that its user has paused, and leaves it so.
  // It polls `host_waits` again once the guest has stopped.
  // `ram`: QEMU's own memory, by way of `pages`; null where it cannot be read.
  StubTransport(Stub& stub, const Inventory& inventory, const MemoryReads& reads,
                bool captures_paused, HostWaits& host_waits, memory::RamMemory* ram,
                memory::StoppedPages& pages)
      : stub_(stub),
        inventory_(inventory),
        reads_(reads),
        captures_paused_(captures_paused),
        host_waits_(host_waits),
        ram_(ram),
        pages_(pages),
        vcpus_(inventory.threads.size()) {}
  ~StubTransport() override { pages_.stop(); }

  [[nodiscard]] Result<bool> stop(std::span<wire::Capture> captures) override;
  [[nodiscard]] bool ask_more(wire::Capture& capture, bool copies) override;
  [[nodiscard]] memory::StoppedMemory* direct_memory(VcpuId vcpu) override;
  [[nodiscard]] std::size_t read(VcpuId vcpu, GuestVirt address, std::size_t size) override;
  [[nodiscard]] Result<void> exchange(bool last) override;
  [[nodiscard]] std::size_t decode(std::size_t read,
                                   std::span<std::byte> destination) const override;
  [[nodiscard]] Pause pause() const override { return pause_; }

 private:
  // A request about one vCPU, and where its answer belongs.
  struct Request {
    enum class What { kRegisters, kRegister, kExtra, kOfWalk, kOtherTranslation, kChunk } what;
    VcpuId vcpu;
    std::string payload;
    std::size_t index = 0;  // of the register in numbers_for_p(), or of the chunk
    AskedFor asked_for = AskedFor::kEverySample;
  };
  struct Vcpu {
    arch::Registers of_walk = {};  // the capture's, and more
    bool translates_otherwise = false;
    std::unique_ptr<memory::PageTables> tables = {};
    std::optional<memory::StoppedMemory> memory = {};  // QEMU's own
  };
  struct Chunk {
    std::size_t size;   // bytes
    std::string reply;  // empty before it came
  };
  struct Read {
    std::size_t first;  // of its chunks
    std::size_t count;
  };

  void ask_registers(const wire::Capture& capture);
  void ask_by_number(const wire::Capture& capture, AskedFor when);
  [[nodiscard]] bool ask_for_walk(const wire::Capture& capture);
  void find_memory(const wire::Capture& capture);
  void write_requests();
  void select(VcpuId vcpu);
  void take(std::vector<std::string>& replies);
  void take(const Request& request, std::string& reply);

  Stub& stub_;
  const Inventory& inventory_;
  const MemoryReads& reads_;
  bool captures_paused_;
  HostWaits& host_waits_;
  memory::RamMemory* ram_;
  memory::StoppedPages& pages_;
  std::vector<Vcpu> vcpus_;
  std::vector<VcpuId> waiting_;  // for registers of a walk
  bool resumes_ = true;          // the guest ran before
  std::span<wire::Capture> captures_;
  std::vector<Request> requests_;  // of the next exchange
  std::vector<Read> all_reads_;
  std::vector<Chunk> chunks_;
  Batch batch_;
  std::vector<const Request*> expected_;  // by number in the batch; null: nothing to take
  // By the last Hg. Known within one stop only: on a loaded host QEMU 7.2 was seen to have chosen
  // another vCPU at the next.
  std::optional<VcpuId> selected_;
  Pause pause_;
};

}  // namespace ringside::engines::gdb
