#pragma once

#include <cstdint>
#include <vector>

#include "wire/capture.h"

namespace ringside::bench {

// One way to unwind captured stacks.
class Walker {
 public:
  Walker() = default;
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;
  virtual ~Walker() = default;

  // Returns how many frames it found, the leaf included. It may stop at `limit`.
  virtual std::size_t walk(const wire::Capture& capture, std::size_t limit) = 0;
  // Those of the last walk, leaf first; return addresses as they lie in memory.
  [[nodiscard]] virtual std::vector<std::uint64_t> addresses() const = 0;
  // How many of all its walks' stacks needed a slower way than the others.
  [[nodiscard]] virtual std::uint64_t slow_stacks() const { return 0; }
};

}  // namespace ringside::bench
