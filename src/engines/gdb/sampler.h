#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/gdb/inventory.h"
#include "engines/gdb/memory/memory_reads.h"
#include "engines/gdb/protocol/stub.h"
#include "wire/capture.h"
#include "wire/recipe.h"

namespace ringside::engines::gdb {

// One tick. Enters: the plan. Leaves: a capture for each vCPU.
//
// What is hard is to need few round trips, because the guest stands still for each: a round trip is
// 20 to 60 µs, an answer 5 to 10. The stop, all registers and all halted states go out in one
// write. Then come waves: the recipes of all vCPUs run as far as their next load, and all reads
// that they want go out in one write. The wave after which no recipe waits for a load carries the
// resume in the same write. Copied memory stays hexadecimal until the guest runs again.
class Sampler {
 public:
  // `captures_paused`: also a guest that its user has paused, and leaves it so.
  Sampler(Stub& stub, const Inventory& inventory, const MemoryReads& reads, bool captures_paused)
      : stub_(stub), inventory_(inventory), reads_(reads), captures_paused_(captures_paused) {}

  [[nodiscard]] Result<Tick> run(const TickPlan& plan, HoldPoint hold);

 private:
  struct RawCopy {
    std::uint32_t size;
    std::size_t piece;  // in Vcpu::pieces
    std::string reply;
  };
  struct Vcpu {
    const VcpuThread* thread;
    const VcpuPlan* plan;  // null: not wanted
    wire::Capture capture;
    std::optional<wire::RecipeRun> recipe;  // while it runs
    std::vector<wire::MemoryRequest> pieces = {};
    std::vector<RawCopy> copies = {};
    bool wants_kernel_registers = false;  // AskedFor::kKernelSample, in the next wave
  };
  // Where an answer of the batch that is under way belongs.
  struct Expected {
    enum class What { kNothing, kRegisters, kRegister, kExtra, kLoad, kCopy } what;
    std::size_t vcpu = 0;
    std::size_t index = 0;  // of the copy, or of the register in numbers_for_p()
    AskedFor asked_for = AskedFor::kEverySample;
    std::uint32_t size = 0;  // of the load, bytes
  };

  void request_registers();
  void take_registers(const std::vector<std::string>& replies, const TickPlan& plan);
  static void classify(Vcpu& vcpu, const TickPlan& plan);
  void request_by_number(std::size_t index, AskedFor when);
  [[nodiscard]] Result<void> run_waves();
  [[nodiscard]] bool build_wave();
  bool advance(std::size_t index);
  void take_wave(std::vector<std::string>& replies);
  void select(std::size_t index);
  [[nodiscard]] std::vector<std::size_t> asking_order() const;
  void add(std::string_view request, Expected expected);
  void decode_copies(Vcpu& vcpu) const;

  Stub& stub_;
  const Inventory& inventory_;
  const MemoryReads& reads_;
  bool captures_paused_;
  bool resumes_ = true;  // the guest ran before
  std::vector<Vcpu> vcpus_;
  Batch batch_;
  std::vector<Expected> expected_;
  // By the last Hg. Known within one stop only: on a loaded host QEMU 7.2 was seen to have chosen
  // another vCPU at the next.
  std::optional<VcpuId> selected_;
};

}  // namespace ringside::engines::gdb
