#pragma once

#include <cstddef>
#include <vector>

#include "recording/records.h"

namespace ringside::profile {

// Where the kernel's images stand, for frames that were sampled before their code was found.
class KernelMappings {
 public:
  void add(const recording::Mapping& mapping);
  // The guest has booted again: nothing that was added before lies anywhere.
  void begin_epoch() { epochs_.emplace_back(); }
  // Gives a kernel frame without an image the one that lies there in its epoch, 0 being the first.
  // Where two images have lain at an address in one epoch nobody knows which one it was.
  void place(recording::RecordedFrame& frame, std::size_t epoch) const;

 private:
  // There are few, but many of processes.
  std::vector<std::vector<recording::Mapping>> epochs_{1};
};

}  // namespace ringside::profile
