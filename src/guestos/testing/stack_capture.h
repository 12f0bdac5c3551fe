#pragma once

#include <vector>

#include "base/little_endian.h"
#include "wire/capture.h"

namespace ringside::guestos::testing {

// A capture of a 64-bit vCPU whose current stack has these words from `stack` on.
inline wire::Capture stack_capture(Arch arch, GuestVirt stack,
                                   const std::vector<std::uint64_t>& words) {
  wire::Capture capture;
  capture.arch = arch;
  for (const std::uint64_t word : words) append(word, sizeof(word), capture.bytes);
  const auto size = static_cast<std::uint32_t>(capture.bytes.size());
  capture.pieces.push_back({.address = stack,
                            .why = wire::PieceKind::kCurrentStack,
                            .requested = size,
                            .offset = 0,
                            .size = size});
  return capture;
}

}  // namespace ringside::guestos::testing
