#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::engines::gdb {

// Chooses how many chunks of memory the two requests of a slice ask for (sliced_reads.h), so that
// their answers take no longer than the slice may. Reads no clock.
//
// A request is sized by how long a chunk took: by the last one where that was slower than those
// before, else by the mean of both. It has at most four times the chunks of the largest one so far.
// So a stub that is slow from the start is asked for little, and a slice takes ten times as long as
// it may only if a chunk takes ten times as long as the one before.
class SlicePace {
 public:
  // The request that goes out with the stop has half of the time, and one chunk at least.
  [[nodiscard]] std::size_t with_stop(std::uint64_t limit_ns) const;
  // The request that goes out with the continue has the rest, after the guest stood still for so
  // long: 0 where the time is over.
  [[nodiscard]] std::size_t with_continue(std::uint64_t limit_ns, std::uint64_t stood_ns) const;
  // The answers to a request that went out with a stop had come so long after the stop. Answers to
  // the other request say little: QEMU's main loop has to get a processor before it looks at that.
  void took(std::size_t chunks, std::uint64_t ns);

 private:
  [[nodiscard]] std::size_t within(std::uint64_t ns) const;

  std::uint64_t ns_per_chunk_ = 0;
  std::size_t largest_ = 0;
};

}  // namespace ringside::engines::gdb
