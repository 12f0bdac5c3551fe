#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/memory_reader.h"
#include "base/result.h"
#include "engines/engine.h"
#include "memory/stopped_memory.h"
#include "wire/capture.h"
#include "wire/recipe.h"

namespace ringside::engines {

// How a sampler reaches the guest for one tick: what a protocol does its own way.
class WaveTransport {
 public:
  virtual ~WaveTransport() = default;

  // Stops the guest, and gives each capture that is not kSkipped its registers, as the machine's,
  // and its disposition: kSampled, kIdle or kFailed. False: the guest was found stopped by its
  // user, and there is nothing to capture. Captures are by vCPU number; they stay where they are
  // until the last exchange().
  [[nodiscard]] virtual Result<bool> stop(std::span<wire::Capture> captures) = 0;
  // Called once for each vCPU that was to be captured, after its level was found. It may ask for
  // more in the first exchange(), which may still find that the vCPU is idle. `copies`: a recipe is
  // to be run for it. True: direct_memory() is found by that exchange only.
  [[nodiscard]] virtual bool ask_more(wire::Capture& capture, bool copies) = 0;
  // A vCPU's memory that can be read without an exchange; what it is not certain of is read by
  // read(). Null: all is.
  [[nodiscard]] virtual memory::StoppedMemory* direct_memory(VcpuId vcpu) = 0;
  // Adds a read to the next exchange(). Returns its number, for decode(); they count from 0 in each
  // tick.
  [[nodiscard]] virtual std::size_t read(VcpuId vcpu, GuestVirt address, std::size_t size) = 0;
  // Carries out what was asked for since the last one, in one round trip. The last one lets the
  // guest run again, where it ran before; it takes place also where nothing is asked for.
  [[nodiscard]] virtual Result<void> exchange(bool last) = 0;
  // The bytes of a read that was exchanged; how many came from its start. May be called after the
  // guest has gone on.
  [[nodiscard]] virtual std::size_t decode(std::size_t read,
                                           std::span<std::byte> destination) const = 0;

  // How long the guest stood still; length 0 where it ran. Valid after the last exchange().
  struct Pause {
    std::uint64_t began_ns = 0;  // monotonic
    std::uint64_t length_ns = 0;
  };
  [[nodiscard]] virtual Pause pause() const = 0;
};

// Takes one tick. Enters: the plan. Leaves: a capture for each vCPU.
//
// The difficulty is to need few round trips, because the guest stands still for each. The stop and
// all registers are one. Then come waves: the recipes of all vCPUs run as far as their next load,
// and all reads that they want are one round trip. The wave after which no recipe waits for a load
// carries the resume. The bytes that a wave copies stay as they came until the guest runs again. A
// vCPU whose memory can be read directly needs no wave.
class WaveSampler {
 public:
  // For a guest with `vcpus` of that architecture.
  WaveSampler(WaveTransport& transport, Arch arch, std::size_t vcpus);

  // Errors: those of the transport.
  [[nodiscard]] Result<Tick> run(const TickPlan& plan);

 private:
  struct Copy {
    wire::MemoryRequest request;
    std::optional<std::size_t> read;  // its number; nothing for a value
  };
  struct Run {
    std::optional<wire::RecipeRun> recipe = {};  // while it runs
    bool waits = false;                          // for the first exchange
    std::vector<Copy> copies = {};  // one a piece, behind those that were read directly
    std::optional<Copy> load = {};  // that the recipe waits for
  };

  [[nodiscard]] bool plan_captures(const TickPlan& plan);
  void classify(std::size_t vcpu, const TickPlan& plan);
  void take_halted();
  [[nodiscard]] Result<void> run_waves(const TickPlan& plan);
  [[nodiscard]] bool advance(std::size_t vcpu);
  [[nodiscard]] bool load_now(std::size_t vcpu, const wire::MemoryRequest& request);
  [[nodiscard]] bool copy_now(std::size_t vcpu, const wire::MemoryRequest& request);
  void take_load(std::size_t vcpu);
  void decode_copies(std::size_t vcpu);

  WaveTransport& transport_;
  std::vector<wire::Capture> captures_;  // by vCPU, as `runs_`
  std::vector<Run> runs_;
};

}  // namespace ringside::engines
