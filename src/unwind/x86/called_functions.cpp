#include "unwind/x86/called_functions.h"

namespace ringside::unwind::x86 {
namespace {

constexpr std::size_t kMostAnalysed = 1024;  // functions that are remembered
constexpr std::size_t kMostKnown = 4096;     // and addresses

}  // namespace

std::vector<CalledFunctions::Candidate>& CalledFunctions::frames_at(ImageAddr at) {
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
    for (const CodeRange& range : ranges)
      if (const auto state = analysis_of(range).at(at); state && is_frame(*state))
        found.push_back({range.start, *state});
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
