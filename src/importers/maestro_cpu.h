#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "recording/writer.h"

namespace ringside::importers {

// The raw data of Maestro's CPU profiler (maestro-os/kern-profile @ 32f201e4), which ringside's TCG
// plugin writes, too: no header; samples of a byte n (1 to 64) and n addresses of 8 bytes, leaf
// first. The first is the instruction that ran, the others are return addresses. A sample has
// neither time nor vCPU.
class MaestroCpuReader {
 public:
  // `bytes` must outlive the reader.
  explicit MaestroCpuReader(Bytes bytes) : reader_(bytes) {}

  // The next sample; false at the end. Errors: kTruncated where the file ends inside of a sample,
  // kFormat where it cannot be such data, both with the offset.
  [[nodiscard]] Result<bool> next(std::vector<GuestVirt>& addresses);

 private:
  ByteReader reader_;
};

struct MaestroOptions {
  // Maestro's own counts: a stack is cut at each frame that has no name, and each piece counts as
  // a sample. Otherwise stacks stay whole.
  bool cut = false;
  // Whether the function at that address is known; asked where `cut`.
  std::function<bool(GuestVirt)> is_named;
};

struct MaestroResult {
  std::uint64_t samples = 0;  // in the raw data
  std::uint64_t stacks = 0;   // in the recording: more or fewer where stacks were cut
  std::string damage;         // why the rest of the data was left out; empty where all was read
};

// Puts all samples into a recording that holds the images already, and its statistics. Errors:
// the writer's, and kFormat where not even the first sample can be read.
[[nodiscard]] Result<MaestroResult> import_maestro_cpu(Bytes bytes, const MaestroOptions& options,
                                                       recording::Writer& writer);

}  // namespace ringside::importers
