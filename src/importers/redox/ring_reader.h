#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "importers/format.h"
#include "importers/parts/faults.h"
#include "importers/redox/ring_format.h"

namespace ringside::importers::redox {

// Gives back the memory of what was read, now and then.
class PageRelease {
 public:
  explicit PageRelease(const Input& input) : input_(input) {}
  // All words below `word` were read.
  void reach(std::size_t word) {
    constexpr std::size_t kWords = (8 << 20) / RingWords::kBytes;
    if (word - released_ < kWords) return;
    released_ = word;
    if (input_.release) input_.release();
  }

 private:
  const Input& input_;
  std::size_t released_ = 0;
};

// Reads the samples of one CPU in order of time, of a file that is one of
//   * the words in the order in which they were taken out of the ring, from any of them on;
//   * the ring's memory, in which the oldest sample follows the newest one somewhere, and may have
//     lost its beginning to it.
// The second is known by its times: they go backwards once, and the file's last sample is older
// than its first; or, where a sample lies at both ends of the file, by its size.
//
// In format A nothing says where the newest sample of the ring's memory ends, as return addresses
// of an older one may follow: only where it ran is kept of it.
class RingReader {
 public:
  // `input` outlives the reader.
  RingReader(const Input& input, const RingFormat& format);

  // The next sample; null at the end. Its counter is not less than that of the one before.
  [[nodiscard]] const RingSample* next();

  // Samples of which too little is there.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // Sentences about what was left out or mended.
  [[nodiscard]] std::vector<std::string> warnings() const;
  // Why there is no sample at all.
  [[nodiscard]] std::string reason() const;

 private:
  void find_order();
  [[nodiscard]] bool read(RingSample& sample);
  void pass_over(const Found& found);
  void mend_newest(RingSample& sample);
  void mend_counter();

  const Input& input_;
  const RingFormat& format_;
  RingWords words_;
  bool is_memory_ = false;         // the file is the ring's memory
  std::size_t at_ = 0;             // the next word to read
  std::size_t behind_sample_ = 0;  // read last
  PageRelease release_;

  RingSample current_;
  RingSample ahead_;
  std::size_t current_at_ = 0;
  std::size_t ahead_at_ = 0;
  bool has_ahead_ = false;
  bool is_first_ = true;
  std::uint64_t last_counter_ = 0;

  std::uint64_t lost_ = 0;
  Faults faults_;
  std::uint64_t backwards_ = 0;      // counters that were mended
  std::size_t first_backwards_ = 0;  // offset
};

}  // namespace ringside::importers::redox
