#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arch/arch_info.h"
#include "elf/elf_file.h"
#include "unwind/x86/decoder.h"
#include "unwind/x86/frame_analysis.h"
#include "unwind/x86/function_starts.h"

namespace ringside::unwind::x86 {

// Frames of functions that no symbol bounds, each by the flow from where a function may begin: a
// place that calls go to, or that compilers have padded. Many such places are none, so a frame is
// right only where its return address stands behind a call, and surely where that goes to the very
// place. Functions that never return are found this way, too.
class CalledFunctions {
 public:
  // The arguments must outlive it.
  CalledFunctions(const elf::ElfFile& file, const arch::ArchInfo& platform, Decoder& decoder)
      : file_(file), platform_(platform), decoder_(decoder), starts_(file) {}

  struct Candidate {
    ImageAddr start;
    FrameState state;
    bool is_swept = false;  // FrameAnalysis::is_swept
    // The code leads to an iret, or somewhere that was not looked at: hardware may enter it.
    bool may_be_entry = false;
  };
  // The frames that the instruction at `at` may have: those of places that are called, then of
  // others, the nearest first, eight of each at most. Valid until the next call.
  [[nodiscard]] const std::vector<Candidate>& frames_at(ImageAddr at);
  // The places that calls go to, and those whose address instructions take, in order.
  [[nodiscard]] const std::vector<ImageAddr>& starts() const { return starts_.all(); }

 private:
  [[nodiscard]] std::vector<Candidate> find(ImageAddr at);
  [[nodiscard]] const FrameAnalysis& analysis_of(CodeRange range);

  const elf::ElfFile& file_;
  const arch::ArchInfo& platform_;
  Decoder& decoder_;
  FunctionStarts starts_;
  std::unordered_map<std::uint64_t, std::vector<Candidate>> known_;            // by address
  std::map<std::pair<std::uint64_t, std::uint64_t>, FrameAnalysis> analysed_;  // by start and size
};

}  // namespace ringside::unwind::x86
