#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory_reader.h"
#include "base/result.h"
#include "base/types.h"
#include "memory/page_walk.h"
#include "wire/capture.h"
#include "wire/recipe.h"

namespace ringside::engines {

// Plan for one vCPU at a tick.
struct VcpuPlan {
  bool wanted = true;                      // --cpu
  std::span<const wire::RecipeOp> recipe;  // must stay valid during the tick
  wire::RecipeBudget kernel_budget;        // used where the vCPU runs the kernel …
  wire::RecipeBudget user_budget;          // … or user code
};

struct TickPlan {
  bool kernel = true;               // sample kernel code (not -u)
  bool user = true;                 // sample user code (not -k)
  std::span<const VcpuPlan> vcpus;  // by vCPU number; vCPUs behind the end are not wanted
  // Whose register numbers the recipes use. A vCPU that is captured as another architecture (a
  // 32-bit system on an x86_64 machine) gives its registers only. kUnknown: the recipes name none.
  Arch recipe_arch = Arch::kUnknown;
  bool halted = false;  // sample vCPUs that are halted, too: else those are idle
  // Each capture is the state of its vCPU, and none in shares: one that waits for the host has one.
  bool states = false;
};

// A record of an allocation or an event that the guest has written itself
// (wire/guest_record.h).
struct GuestEventWords {
  std::uint64_t host_time_ns = 0;
  std::vector<std::uint64_t> words;
};

// Why a guest is not sampled.
enum class LeftAlone {
  kNo,
  kPaused,     // its user has stopped it
  kMigrating,  // QEMU migrates it, or saves its state
  kIncoming,   // QEMU waits for it to come from elsewhere
};

struct Tick {
  // An engine that stops the guest gives at most one of each vCPU, in order; others give them in
  // order of time.
  std::vector<wire::Capture> captures;
  std::vector<GuestEventWords> events;  // in order of time
  // Code of the kernel that has reported one of the events, where no capture has code. It is no
  // sample, but it shows the kernel.
  std::optional<wire::Capture> reporter;
  std::uint64_t not_run = 0;   // samples left out, for the host did not run their vCPUs
  std::uint64_t waited = 0;    // states of such vCPUs (TickPlan::states)
  std::uint64_t pause_ns = 0;  // from when the guest had stopped until it was asked to go on
  LeftAlone left_alone = LeftAlone::kNo;  // else there are no captures

  [[nodiscard]] bool empty() const { return captures.empty() && events.empty(); }
  // The host's time of the earliest capture or event; it has one.
  [[nodiscard]] std::uint64_t first_time_ns() const {
    if (captures.empty()) return events.front().host_time_ns;
    const std::uint64_t first = captures.front().host_time_ns;
    return events.empty() ? first : std::min(first, events.front().host_time_ns);
  }

  [[nodiscard]] static Tick of_guest(LeftAlone left_alone) {
    Tick tick;
    tick.left_alone = left_alone;
    return tick;
  }
};

// When an engine that is SelfPaced is to sample.
struct Pace {
  std::uint64_t interval = 0;  // of host time in nanoseconds, or of guest instructions
  bool jitter = true;
  std::uint64_t seed = 1;
  // A vCPU goes on only when tick() has been called again after its sample was taken out.
  bool lockstep = false;
};

// Counts of vCPU ticks. Those that were due are those that tick() has returned and those that are
// lost.
struct PaceCounts {
  std::uint64_t due = 0;
  // Lost, because
  std::uint64_t stolen = 0;       // the host did not run the vCPU
  std::uint64_t ring_full = 0;    // ringside did not take out samples in time
  std::uint64_t delayed = 0;      // the vCPU had not taken the sample before; or none at the end
  std::uint64_t no_room = 0;      // the guest's own ring was full
  std::uint64_t overwritten = 0;  // in the guest's own ring, before ringside had read it

  std::uint64_t lost_events = 0;    // that the guest has recorded itself: no ticks
  std::uint64_t foreign_bytes = 0;  // of a serial line, that belong to no record
  std::uint64_t damaged = 0;        // times that a count of the guest's own could not be true

  [[nodiscard]] std::uint64_t lost() const {
    return stolen + ring_full + delayed + no_room + overwritten;
  }
};

// An engine whose samples are taken where the guest runs, at a pace that it is given once. Its
// tick() returns the captures that have been taken since the last call, in order of time, of any
// number of vCPUs; it waits for some milliseconds if there are none.
class SelfPaced {
 public:
  virtual ~SelfPaced() = default;
  [[nodiscard]] virtual Result<void> start(const Pace& pace) = 0;
  // Samples taken until then can still be fetched with tick().
  virtual void stop() = 0;
  // Counts the ticks that tick() has returned, and lost ones, since the first start().
  [[nodiscard]] virtual PaceCounts counts() const = 0;
  // Intervals are guest instructions.
  [[nodiscard]] virtual bool counts_instructions() const = 0;
};

// How often and how long the guest stood still for reads of memory outside of ticks.
struct MemoryPauses {
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
};

// A stretch of time (monotonic) in which the guest stood still for a read outside of ticks.
struct ReadStop {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;
};

// Permission that an engine asks for before it stops the guest for a read outside of ticks.
class ReadTurns {
 public:
  virtual ~ReadTurns() = default;
  // Returns when the guest may be stopped: at `from_ns` at the earliest. Ticks that come due until
  // then are taken, by Engine::tick(). `last` is the read's stop before. Error kDisturbed: sampling
  // has ended, and the read ends with it.
  [[nodiscard]] virtual Result<void> wait(const ReadStop& last, std::uint64_t from_ns) = 0;
};

class VcpuMemory;

// A way into a running guest. Captures, and knows nothing of ELF files, unwinding or guest systems.
class Engine {
 public:
  virtual ~Engine() = default;
  // The machine's. Captures say what their vCPU ran: i386 also on an x86_64 machine.
  [[nodiscard]] virtual Arch arch() const = 0;
  [[nodiscard]] virtual std::size_t vcpu_count() const = 0;
  // "7.2.22"; empty where it is not QEMU, or not known.
  [[nodiscard]] virtual std::string qemu_version() const { return {}; }
  // False while the guest is left alone. May stop the guest for a moment. Error kMoved: it stands
  // here, because it has been migrated.
  [[nodiscard]] virtual Result<bool> guest_is_running() = 0;
  // Stops the guest, captures what the plan says and lets the guest run again; an engine that is
  // SelfPaced does not stop it. A guest that its user has stopped, or migrates, is left alone.
  // Error kClosed: the guest has gone.
  [[nodiscard]] virtual Result<Tick> tick(const TickPlan& plan) = 0;
  // All registers of a vCPU that the engine can give, those too that a tick leaves out because they
  // hardly change (aarch64: TTBR1_EL1, TCR_EL1, VBAR_EL1 …; riscv64: stvec …), by the numbers of
  // arch(). Stops the guest for a moment.
  [[nodiscard]] virtual Result<arch::Registers> read_registers(VcpuId vcpu) = 0;
  // Guest-physical memory while the guest runs; reads may stop it, for two milliseconds or less at
  // a time, and what they return may be half-way through a change. The reader belongs to the engine
  // and to its thread. Error kUnsupported: there is no way to it. Reads that would stop a guest
  // that is being migrated are errors kMigrating.
  [[nodiscard]] virtual Result<PhysicalMemory*> physical_memory() = 0;
  // A vCPU's page tables of the moment of each walk, as the machine itself walks them: where its
  // registers do not say so (memory::page_tables_of()). Null where they do. Belongs to the engine
  // and to its thread.
  [[nodiscard]] virtual std::unique_ptr<memory::PageTables> machines_page_tables(VcpuId) {
    return nullptr;
  }
  // A vCPU's virtual memory, in the same manner. Reads of any length; each stops the guest once at
  // least, so ask for much at a time. The address space is the one that the vCPU is in at the
  // moment; where user code runs, and the kernel is not mapped meanwhile, the kernel's addresses
  // are tried again for some time. Error kUsage: there is no such vCPU.
  [[nodiscard]] VcpuMemory virtual_memory(VcpuId vcpu);
  // False: there is no way to the guest's memory, whose reads return nothing.
  [[nodiscard]] virtual bool reads_memory() const { return true; }
  // Samples' registers are of different moments, so that one proves nothing of another.
  [[nodiscard]] virtual bool tears_registers() const { return false; }
  // How memory was read last, and if that stopped the guest for all of its bytes, why; a sentence
  // for a person. Empty before the first read.
  [[nodiscard]] virtual std::string explain_memory_access() const = 0;
  // Why there may be no samples, where the engine knows: a sentence for a person. Empty else.
  [[nodiscard]] virtual std::string explain_silence() const { return {}; }
  // Whether reads of memory stop the guest for all of their bytes.
  [[nodiscard]] virtual bool memory_reads_stop_the_guest() const { return false; }
  // Pauses caused by physical_memory(), virtual_memory() and read_registers(), since the start.
  [[nodiscard]] virtual MemoryPauses memory_pauses() const = 0;
  // Whether samples are stops whose threads share this machine's processors with the vCPUs.
  [[nodiscard]] virtual bool stops_share_processors() const { return false; }
  // How long the guest has stood still for us, in ticks, lost ones too, and outside: nanoseconds.
  [[nodiscard]] virtual std::uint64_t stood_still_ns() const { return 0; }
  // To be called every 20 ms or more often between ticks, while the guest runs or is left alone:
  // for an engine that somebody else may want its way in of.
  virtual void attend() {}
  // ringside is about to be suspended, and cannot attend to anything for an unknown time.
  virtual void before_suspension() {}
  // Limitations of captures of this guest by this way, as far as they are known: a sentence each.
  [[nodiscard]] virtual std::vector<std::string> caveats() const { return {}; }
  // From now on reads that stop the guest let ticks go first; null: not any more. An engine that
  // does not stop the guest asks nobody.
  virtual void set_read_turns(ReadTurns*) {}
  // Null for an engine that samples when tick() is called.
  [[nodiscard]] virtual SelfPaced* self_paced() { return nullptr; }

 protected:
  friend class VcpuMemory;
  // VcpuMemory::read_up_to().
  [[nodiscard]] virtual Result<std::size_t> read_virtual(VcpuId vcpu, GuestVirt address,
                                                         std::span<std::byte> destination) = 0;
};

// See Engine::virtual_memory(). Valid as long as the engine, in its thread.
class VcpuMemory final : public VirtualMemory {
 public:
  VcpuMemory(Engine& engine, VcpuId vcpu) : engine_(&engine), vcpu_(vcpu) {}
  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt address,
                                               std::span<std::byte> destination) override {
    return engine_->read_virtual(vcpu_, address, destination);
  }

 private:
  Engine* engine_;
  VcpuId vcpu_;
};

inline VcpuMemory Engine::virtual_memory(VcpuId vcpu) { return {*this, vcpu}; }

}  // namespace ringside::engines
