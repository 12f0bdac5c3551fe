#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace ringside::guestos {

// A word that an entry's code stores at a fixed place before its first call.
struct PushedWord {
  enum class From : std::uint8_t {
    kUserPc,        // where hardware has saved the pc of user code
    kStackPointer,  // of the entry's code at that call
  };
  From from = From::kUserPc;
  std::int64_t offset = 0;  // bytes
  std::uint64_t value = 0;

  bool operator==(const PushedWord&) const = default;
};

// Where hardware enters the kernel.
struct KernelEntry {
  GuestVirt address;
  // From user code by an interrupt alone: by no system call and no exception.
  bool is_interrupts = false;
  std::vector<PushedWord> pushed = {};

  bool operator==(const KernelEntry&) const = default;
};

}  // namespace ringside::guestos
