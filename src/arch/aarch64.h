#pragma once

#include <cstdint>

namespace ringside::arch::aarch64 {

// DWARF for the Arm 64-bit Architecture (AADWARF64), table 2: x0 … x30, sp, pc.
enum Register : std::uint8_t {
  kX0 = 0,
  kX18 = 18,
  kX19 = 19,
  kX28 = 28,
  kFp = 29,
  kLr = 30,
  kSp = 31,
  kPc = 32,
  kElrMode = 33,
  kRaSignState = 34,
  // Our own numbers from here on.
  kCpsr = 40,
  kSpEl0,
  kTtbr0El1,
  kTtbr1El1,
  kTcrEl1,
  kTpidrEl1,
  kTpidrEl0,
  kVbarEl1,
  kSctlrEl1,
  kElrEl1,  // in EL2 and EL3 that level's own, as the next is
  kSpsrEl1,
  kEsrEl1,
  kMairEl1,
  kTpidrroEl0,
  kFarEl1,
};

}  // namespace ringside::arch::aarch64
