#pragma once

#include <vector>

#include "recording/records.h"

namespace ringside::profile {

// Where the kernel's images stand, for frames that were sampled before their code was found.
class KernelMappings {
 public:
  void add(const recording::Mapping& mapping);
  // Gives a kernel frame without an image the one that lies there. Where two images have lain at an
  // address nobody knows which one it was.
  void place(recording::RecordedFrame& frame) const;

 private:
  // There are few, but many of processes.
  std::vector<recording::Mapping> mappings_;
};

}  // namespace ringside::profile
