#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/types.h"
#include "wire/recipe.h"
#include "wire/record.h"
#include "wire/seqlock.h"

// The memory that the TCG plugin inside QEMU shares with ringside: a file that the plugin makes and
// both map. Every field but `claimed` is written by one side, which its comment names. A vCPU never
// waits for ringside, except where a source's Backpressure asks it to. FORMAT.md describes the
// records in the rings.
//
// Plugin and ringside may be of different builds. They agree on the following:
// * `magic` and `version` are where they are in all versions, and another version is refused.
// * The plugin says how large the parts are, how many sources it has and how many counters. Parts
//   of another size are refused; sources and counters that a side does not have are not used.
// * `features` is what the plugin can do; ringside asks for what it needs. `demands` is what a
//   reader must know; ringside refuses a ring with a demand that it does not know.

namespace ringside::wire {

inline constexpr std::uint64_t kRingMagic = 0x3130'474e'4952'5352;  // "RSRING01"
inline constexpr std::uint32_t kRingVersion = 6;
inline constexpr std::size_t kMaxRecipeOps = 512;
inline constexpr std::uint32_t kMailboxBytes = 256 * 1024;
inline constexpr std::size_t kRingPage = 4096;
// Bytes of the file that each side keeps locked (fcntl(2), open file description locks) as long as
// it lives, so that the other one knows.
inline constexpr std::uint32_t kReaderLock = 0;
inline constexpr std::uint32_t kPluginLock = 1;

enum class RingClock : std::uint32_t {
  kHostTime,      // intervals are nanoseconds of the host
  kInstructions,  // intervals are guest instructions that the vCPU has executed
};

// ringside's requests to a vCPU, beside samples.
enum class MailboxRequest : std::uint32_t {
  kNone,          // nothing was ever asked
  kMemory,        // its virtual memory, in whatever mode it runs
  kKernelMemory,  // the same as soon as it runs the kernel
  kRegisters,     // a record without memory
};

struct RingPlan {
  std::uint32_t wanted = 0;
  std::uint32_t kernel = 0;  // sample kernel code
  std::uint32_t user = 0;    // sample user code
  std::uint32_t recipe_arch = 0;
  RecipeBudget kernel_budget;
  RecipeBudget user_budget;
  std::uint32_t ops = 0;  // of `recipe` that count
  std::uint32_t padding = 0;
  std::array<RecipeOp, kMaxRecipeOps> recipe{};
};

// Abilities of a plugin beyond those that each ring of this version needs.
enum RingFeature : std::uint32_t {
  kRingWaits = 1u << 0,  // each source obeys its Backpressure
};
inline constexpr std::uint32_t kKnownDemands = 0;

// Says what a vCPU does with a record where ringside is behind.
enum class Backpressure : std::uint32_t {
  kDrop,      // the record is lost where the ring is full, and counted
  kWait,      // the vCPU waits until there is room
  kLockstep,  // the vCPU waits after each record until that has been taken out
};

// An entry of the table of sources, by SourceId: where records come from.
struct RingSource {
  // The plugin's, before `magic`: the kind of its records; 0: there is no such source.
  RecordKind kind{};
  std::uint16_t padding = 0;
  // ringside's.
  std::atomic<std::uint32_t> enabled{0};
  std::atomic<Backpressure> backpressure{Backpressure::kDrop};
};

// State of a source on one vCPU. The plugin's.
struct RingSourceState {
  std::atomic<std::uint32_t> sequence{0};  // of the next record
  std::atomic<std::uint32_t> padding{0};
  std::atomic<std::uint64_t> lost{0};  // records that have a sequence, and found no room
};

// Numbers in a vCPU's block of counters. The plugin's; they only grow. Each tick that was due has a
// sample in the ring or is counted here, but for those that a vCPU has not come to yet. A tick
// counts as due first, and each count is a release: a reader that acquires what became of a tick
// reads it as due afterwards.
enum class RingCounter : std::uint32_t {
  kDueTicks,
  kIdleTicks,
  kSkippedTicks,  // of a vCPU or mode that is not wanted
  kLostTicks,     // the ring was full
  kStolenTicks,   // the host did not run the vCPU
  // Due before the plugin's thread could raise the flag, or before the vCPU had come to a block
  // where it could take the sample of the one before.
  kDelayedTicks,
};
inline constexpr std::uint32_t kUsualCounters = 6;

struct alignas(64) RingVcpu {
  // The plugin's.
  std::atomic<std::uint64_t> head{0};  // bytes that were ever put into the ring
  std::atomic<std::uint32_t> online{0};
  std::atomic<std::uint32_t> padding{0};

  // ringside's.
  alignas(64) std::atomic<std::uint64_t> tail{0};  // bytes that were ever taken out
  SeqLock<RingPlan> plan;
};

// Sizes of the parts, by which two builds of one version recognize that they differ.
struct RingSizes {
  std::uint32_t header = 0;
  std::uint32_t vcpu = 0;
  std::uint32_t source = 0;
  std::uint32_t source_state = 0;

  friend bool operator==(const RingSizes&, const RingSizes&) = default;
};

struct RingHeader {
  // Written once by the plugin; `magic` last.
  std::atomic<std::uint64_t> magic{0};
  std::uint32_t version = 0;
  std::uint32_t arch = 0;  // an Arch
  RingSizes sizes;
  std::uint32_t features = 0;    // RingFeature
  std::uint32_t demands = 0;     // of a reader
  std::uint32_t vcpus = 0;       // how many there may ever be
  std::uint32_t ring_bytes = 0;  // per vCPU, a power of two
  std::uint32_t sources = 0;
  std::uint32_t counters = 0;  // per vCPU
  std::uint32_t pid = 0;       // QEMU's
  std::uint32_t api = 0;       // version of QEMU's plugin interface
  RingClock clock = RingClock::kHostTime;
  std::uint32_t padding = 0;

  // The plugin's.
  alignas(64) std::atomic<std::uint32_t> bell{0};  // a futex: rung after an answer or a sample
  std::atomic<std::uint32_t> answered{0};          // the number of the last request answered
  std::atomic<std::uint32_t> answer_bytes{0};      // in the mailbox
  std::atomic<std::uint32_t> ended{0};             // QEMU ends in order
  std::atomic<std::uint32_t> one_thread{0};        // several vCPUs share one: nothing is sampled
  std::atomic<std::uint32_t> started{0};           // the start that sampling obeys
  std::atomic<std::uint32_t> waiting{0};           // vCPUs that wait for ringside at the doorbell

  // ringside's. Samples are taken while SourceId::kClock is enabled.
  alignas(64) std::atomic<std::uint32_t> doorbell{0};  // a futex
  std::atomic<std::uint32_t> start{0};  // counts: sampling is to begin (anew) with what follows
  std::atomic<std::uint32_t> jitter{0};
  std::atomic<std::uint64_t> interval{0};
  std::atomic<std::uint64_t> seed{0};
  std::atomic<std::uint32_t> requested{0};  // number of the request below
  std::atomic<MailboxRequest> request{MailboxRequest::kNone};
  std::atomic<std::uint32_t> request_vcpu{0};
  std::atomic<std::uint32_t> request_bytes{0};
  std::atomic<std::uint64_t> request_address{0};

  // Either's: the number of the last request that a vCPU has begun to answer, or that ringside has
  // taken back. Who sets it first has it.
  alignas(64) std::atomic<std::uint32_t> claimed{0};
};
inline constexpr RingSizes kRingSizes{sizeof(RingHeader), sizeof(RingVcpu), sizeof(RingSource),
                                      sizeof(RingSourceState)};

}  // namespace ringside::wire
