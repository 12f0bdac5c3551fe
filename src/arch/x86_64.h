#pragma once

#include <cstdint>

namespace ringside::arch::x86_64 {

// System V psABI for x86-64, figure 3.36: rax rdx rcx rbx rsi rdi rbp rsp r8 … r15, return address.
enum Register : std::uint8_t {
  kRax,
  kRdx,
  kRcx,
  kRbx,
  kRsi,
  kRdi,
  kRbp,
  kRsp,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRip,
  // Our own numbers from here on.
  kRflags = 32,
  kCs,
  kSs,
  kFsBase,
  kGsBase,
  kKernelGsBase,
  kCr0,
  kCr2,
  kCr3,
  kCr4,
  kCr8,
  kEfer,
};

}  // namespace ringside::arch::x86_64
