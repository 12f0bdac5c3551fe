#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/registers.h"
#include "base/byte_reader.h"
#include "base/little_endian.h"
#include "base/types.h"

namespace ringside::wire {

// Why a piece of memory was copied.
enum class PieceKind : std::uint8_t {
  kCurrentStack,      // from the stack pointer up
  kInterruptedStack,  // the stack that the current one was entered from
  kUserStack,         // of the user code below
  kStackLink,         // 8 bytes: a slot that a stack switch pops the old stack pointer from
  kSystem,            // no stack: what the guest's system knows of who runs
  kValue,             // no memory: 8 bytes that a recipe has computed
  kKernelFrames,      // no memory: a stack that the guest itself has walked (walked_frames.h)
  kUserFrames,        // the same, of user code
  kTask,              // no memory: who ran, as the guest says (guest_capture.h)
};
inline constexpr std::size_t kPieceKindCount = 9;

// A value piece with this tag says who runs, in whatever way: the same value for the same process.
// Where nobody waits for captures, those of a process that is new are passed on at once.
inline constexpr std::uint16_t kRunnerTag = 0xffff;

struct MemoryPiece {
  GuestVirt address;
  PieceKind why;
  std::uint32_t requested;  // bytes that were asked for; fewer are there where memory ends
  std::uint32_t offset;     // of its bytes in Capture::bytes
  std::uint32_t size;
  std::uint16_t tag = 0;  // that the recipe gave to this copy, for who wrote it

  // The piece is memory of the guest, at its address.
  [[nodiscard]] bool is_memory() const { return why < PieceKind::kValue; }
  // The piece is a stack, as far as that was copied.
  [[nodiscard]] bool is_stack() const {
    return why == PieceKind::kCurrentStack || why == PieceKind::kInterruptedStack ||
           why == PieceKind::kUserStack;
  }
};

// Outcome of a tick for a vCPU.
enum class Disposition : std::uint8_t {
  kSampled,
  kIdle,     // halted: no memory was copied
  kSkipped,  // not asked for (-k, -u, --cpu): no memory was copied
  kFailed,   // its registers could not be read
};

// The machine state of one vCPU at one moment.
struct Capture {
  VcpuId vcpu;
  Arch arch = Arch::kUnknown;
  PrivilegeLevel level = PrivilegeLevel::kUnknown;
  Disposition disposition = Disposition::kSampled;
  std::uint64_t host_time_ns = 0;  // monotonic clock, when the guest had stopped
  std::uint64_t pause_ns = 0;  // how long the guest stood still for this tick, all vCPUs together
  std::uint64_t weight = 1;    // ticks this capture stands for
  arch::Registers registers;
  // The vCPU was in firmware, and this is the code that firmware had interrupted.
  struct Firmware {
    GuestVirt pc;
    // Physical: where it keeps that code's registers (firmware_frame.h); nothing where it had not
    // saved them yet, and where no frame is found.
    std::optional<GuestVirt> frame;
  };
  std::optional<Firmware> firmware;
  std::vector<MemoryPiece> pieces;
  std::vector<std::byte> bytes;

  [[nodiscard]] Bytes bytes_of(const MemoryPiece& piece) const {
    return Bytes(bytes).subspan(piece.offset, piece.size);
  }

  // The first piece that the recipe tagged so; null if it was not copied.
  [[nodiscard]] const MemoryPiece* tagged(std::uint16_t tag) const {
    for (const MemoryPiece& piece : pieces)
      if (piece.tag == tag) return &piece;
    return nullptr;
  }

  // A little-endian value from the copied memory, nothing if it was not copied.
  template <class T>
  [[nodiscard]] std::optional<T> read(GuestVirt address) const {
    for (const MemoryPiece& piece : pieces) {
      if (!piece.is_memory()) continue;
      const std::uint64_t offset = address - piece.address;
      if (offset <= piece.size && piece.size - offset >= sizeof(T)) {
        const auto value = load<T>(bytes, piece.offset + offset);
        return value;
      }
    }
    return std::nullopt;
  }
};

}  // namespace ringside::wire
