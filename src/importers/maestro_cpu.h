#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "importers/format.h"

namespace ringside::importers {

// The raw data of Maestro's CPU profiler (maestro-os/kern-profile @ 32f201e4), which ringside's TCG
// plugin writes, too: no header; samples of a byte n (0 to 64) and n addresses of 8 bytes, leaf
// first. The first is the instruction that ran, the others are return addresses. A sample has
// neither time nor vCPU. One without an address is skipped, as Maestro's own program does.
class MaestroCpuReader {
 public:
  // `bytes` must outlive the reader.
  explicit MaestroCpuReader(Bytes bytes) : reader_(bytes) {}

  [[nodiscard]] std::size_t offset() const { return reader_.offset(); }
  // Samples without an address that next() has skipped.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  // The next sample; false at the end. Errors: kTruncated where the file ends inside of a sample,
  // kFormat where it cannot be such data, both with the offset.
  [[nodiscard]] Result<bool> next(std::vector<GuestVirt>& addresses);

 private:
  ByteReader reader_;
  std::uint64_t skipped_ = 0;
};

// kFits where all of it are samples whose first addresses are ones that code may have, and some of
// the kernel's code where that is known.
[[nodiscard]] Likeness maestro_likeness(const Input& input, const ImportOptions& options);

// Stacks stay whole, and their frames addresses. With options.maestro_name they are cut at each
// frame without a name, as Maestro's own program does it: each piece is a sample with the number of
// the stack that it is of, and its frames have names.
[[nodiscard]] Result<Imported> import_maestro(std::span<const Input> inputs,
                                              const ImportOptions& options, Target& target);

}  // namespace ringside::importers
