#pragma once

#include <cstdint>

namespace ringside::arch::riscv64 {

// RISC-V ELF psABI, "DWARF Register Numbers": x0 … x31. The pc has none there: it is ours.
enum Register : std::uint8_t {
  kZero,
  kRa,
  kSp,
  kGp,
  kTp,
  kT0,
  kT1,
  kT2,
  kFp,  // s0
  kS1,
  kA0,
  kS2 = 18,
  kS11 = 27,
  kT6 = 31,
  // Our own numbers from here on.
  kPc,
  kPriv,  // 0 user, 1 supervisor, 3 machine
  kSatp,
  kSstatus,  // in machine mode mstatus
  kSepc,     // in machine mode mepc
  kScause,
  kStvec,  // in a sample of machine mode mtvec
  kSscratch,
  kStval,
};

}  // namespace ringside::arch::riscv64
