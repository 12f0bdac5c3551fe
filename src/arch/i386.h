#pragma once

#include <cstdint>

namespace ringside::arch::i386 {

// Intel386 psABI, table 2.14: eax ecx edx ebx esp ebp esi edi, return address.
enum Register : std::uint8_t {
  kEax,
  kEcx,
  kEdx,
  kEbx,
  kEsp,
  kEbp,
  kEsi,
  kEdi,
  kEip,
  // Our own numbers from here on.
  kEflags = 32,
  kCs,
  kSs,
  kFsBase,
  kGsBase,
  kCr0,
  kCr2,
  kCr3,
  kCr4,
};

}  // namespace ringside::arch::i386
