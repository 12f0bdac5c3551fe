#pragma once

#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::kernel_image {

// Bytes of a kernel, and where they are: as linked, or as in the memory of a kernel that runs.
struct KernelSegment {
  ImageAddr address;
  Bytes bytes;
  std::uint64_t memory_size = 0;  // with what is zero behind the bytes (.bss); at least as many

  [[nodiscard]] bool contains(ImageAddr at) const { return at - address < memory_size; }
};

}  // namespace ringside::kernel_image
