#pragma once

#include <cstdint>

#include "arch/riscv64.h"

// Where firmware of riscv64 keeps the registers of the code that a trap to machine mode has
// interrupted, in words of 8 bytes: x0 to x31, mepc, mstatus (OpenSBI, include/sbi/sbi_trap.h,
// struct sbi_trap_regs).
namespace ringside::wire::firmware_frame {

inline constexpr std::uint32_t kWord = 8;
inline constexpr std::uint32_t kStatus = 33 * kWord;  // mstatus
inline constexpr std::uint32_t kBytes = 34 * kWord;

// A register x0 to x31, or the pc: mepc.
constexpr std::uint32_t offset_of(std::uint8_t reg) { return reg * kWord; }
static_assert(arch::riscv64::kPc == 32);

// The mode of the code that was interrupted, by mstatus: user 0, supervisor 1, machine 3 (The
// RISC-V Instruction Set Manual, volume II, "Machine Status Registers": MPP).
constexpr unsigned kModeShift = 11;
constexpr std::uint64_t kMachine = 3;
constexpr std::uint64_t mode_of(std::uint64_t status) { return status >> kModeShift & 3; }
// mstatus.MPV: the code is a guest's of the guest.
inline constexpr std::uint64_t kIsGuests = std::uint64_t{1} << 39;
// The stack pointer of what entry code has called, once it has saved everything, lies below the
// frame, and not further than this. On entry and on return an earlier trap's registers may be in
// the frame, with the same pc.
inline constexpr std::uint64_t kMostBelow = 64 * 1024;
constexpr bool is_below(std::uint64_t sp, std::uint64_t frame) {
  return frame - sp - 1 < kMostBelow;
}
// The instruction that calls firmware.
inline constexpr std::uint64_t kEcallBytes = 4;
// The bits of mtvec that are the address of the entry of all exceptions.
inline constexpr std::uint64_t kEntry = ~std::uint64_t{3};
// mstatus.MPRV: addresses are the interrupted code's, while firmware reads that code's memory.
inline constexpr std::uint64_t kReadsAsCaller = 1u << 17;
// The bits that firmware changes while it runs: MIE, MPRV, and SUM and MXR beside that.
inline constexpr std::uint64_t kChanges = 1u << 3 | kReadsAsCaller | 1u << 18 | 1u << 19;

// The tag of the piece that shows that a recipe has entered that code: its frame, or, where nothing
// has been saved yet, a value.
inline constexpr std::uint16_t kTag = 0xfffe;

}  // namespace ringside::wire::firmware_frame
