#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/types.h"
#include "wire/recipe.h"
#include "wire/seqlock.h"

// The memory that the TCG plugin inside QEMU shares with ringside: a file that the plugin makes and
// both map. Every field but `claimed` has one writer, named in its comment. The plugin never waits
// for ringside, except where `lockstep` asks it to. FORMAT.md describes the records in the rings.

namespace ringside::wire {

inline constexpr std::uint64_t kRingMagic = 0x3130'474e'4952'5352;  // "RSRING01"
inline constexpr std::uint32_t kRingVersion = 5;
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

struct alignas(64) RingVcpu {
  // The plugin's. Each tick that was due has a sample in the ring or is counted below, but for
  // those that a vCPU has not come to yet.
  std::atomic<std::uint64_t> head{0};  // bytes that were ever put into the ring
  std::atomic<std::uint64_t> due_ticks{0};
  std::atomic<std::uint64_t> idle_ticks{0};
  std::atomic<std::uint64_t> skipped_ticks{0};  // of a vCPU or mode that is not wanted
  std::atomic<std::uint64_t> lost_ticks{0};     // the ring was full
  std::atomic<std::uint64_t> stolen_ticks{0};   // the host did not run the vCPU
  // Due before the plugin's thread could raise the flag, or before the vCPU had come to a block
  // where it could take the sample of the one before.
  std::atomic<std::uint64_t> delayed_ticks{0};
  std::atomic<std::uint32_t> online{0};
  std::atomic<std::uint32_t> padding{0};

  // ringside's.
  alignas(64) std::atomic<std::uint64_t> tail{0};  // bytes that were ever taken out
  SeqLock<RingPlan> plan;
};

struct RingHeader {
  // Written once by the plugin; `magic` last.
  std::atomic<std::uint64_t> magic{0};
  std::uint32_t version = 0;
  std::uint32_t arch = 0;        // an Arch
  std::uint32_t vcpus = 0;       // how many there may ever be
  std::uint32_t ring_bytes = 0;  // per vCPU, a power of two
  std::uint32_t pid = 0;         // QEMU's
  std::uint32_t api = 0;         // version of QEMU's plugin interface
  RingClock clock = RingClock::kHostTime;
  std::uint32_t padding = 0;

  // The plugin's.
  alignas(64) std::atomic<std::uint32_t> bell{0};  // a futex: rung after an answer or a sample
  std::atomic<std::uint32_t> answered{0};          // the number of the last request answered
  std::atomic<std::uint32_t> answer_bytes{0};      // in the mailbox
  std::atomic<std::uint32_t> ended{0};             // QEMU ends in order
  std::atomic<std::uint32_t> one_thread{0};        // several vCPUs share one: nothing is sampled
  std::atomic<std::uint32_t> started{0};           // the start that sampling obeys

  // ringside's.
  alignas(64) std::atomic<std::uint32_t> doorbell{0};  // a futex
  std::atomic<std::uint32_t> start{0};  // counts: sampling is to begin (anew) with what follows
  std::atomic<std::uint32_t> running{0};
  std::atomic<std::uint32_t> jitter{0};
  std::atomic<std::uint32_t> lockstep{0};  // a vCPU waits until its sample has been taken out
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

// Where the parts lie: the header, the vCPUs, the mailbox, the rings, each at a whole page.
struct RingLayout {
  std::uint32_t vcpus = 0;
  std::uint32_t ring_bytes = 0;

  [[nodiscard]] static constexpr std::size_t pages(std::size_t bytes) {
    return (bytes + kRingPage - 1) / kRingPage * kRingPage;
  }
  [[nodiscard]] constexpr std::size_t vcpu(std::size_t n) const {
    return pages(sizeof(RingHeader)) + n * pages(sizeof(RingVcpu));
  }
  [[nodiscard]] constexpr std::size_t mailbox() const { return vcpu(vcpus); }
  [[nodiscard]] constexpr std::size_t ring(std::size_t n) const {
    return mailbox() + kMailboxBytes + n * std::size_t{ring_bytes};
  }
  [[nodiscard]] constexpr std::size_t bytes() const { return ring(vcpus); }
};

}  // namespace ringside::wire
