#include "unwind/x86/called_functions.h"

namespace ringside::unwind::x86 {
namespace {

constexpr std::size_t kMostAnalysed = 32;  // functions, of up to 10,000 instructions
constexpr std::size_t kMostKnown = 4096;   // addresses

}  // namespace

const std::vector<CalledFunctions::Candidate>& CalledFunctions::frames_at(ImageAddr at) {
  if (known_.size() >= kMostKnown) known_.clear();
  const auto [known, added] = known_.try_emplace(at.value);
  if (added) known->second = find(at);
  return known->second;
}

std::vector<CalledFunctions::Candidate> CalledFunctions::find(ImageAddr at) {
  std::vector<Candidate> found;
  // Code that pops what it has not pushed does not begin there.
  const auto is_frame = [word = platform_.roles.pointer_size](const FrameState& state) {
    return !state.knows_depth() || state.depth >= word;
  };
  for (const auto& ranges : {starts_.find_around(at), starts_.find_padded(at)})
    for (const CodeRange& range : ranges) {
      const FrameAnalysis& analysis = analysis_of(range);
      if (const auto state = analysis.at(at); state && is_frame(*state))
        found.push_back({range.start, *state, analysis.is_swept(at),
                         analysis.returns_from_interrupt() || !analysis.tail_jumps().empty()});
    }
  return found;
}

const FrameAnalysis& CalledFunctions::analysis_of(CodeRange range) {
  if (analysed_.size() >= kMostAnalysed) analysed_.clear();
  const std::pair key(range.start.value, range.size);
  if (const auto known = analysed_.find(key); known != analysed_.end()) return known->second;
  return analysed_.emplace(key, FrameAnalysis(file_, CodeUnit{{range}, true}, platform_, decoder_))
      .first->second;
}

}  // namespace ringside::unwind::x86
