#include "cli/other_spellings.h"

namespace ringside::cli {

Result<void> respell(std::vector<std::string>& words) {
  if (words.empty()) return {};
  if (words[0] == "version") words[0] = "--version";
  if (words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words[0] != "redox-kprofiling") return {};
  if (words.size() != 5)
    return fail(ErrorCode::kUsage,
                "redox-kprofiling takes four words, FILE NM OPTIONS GHZ: a ring, what 'nm -CS' "
                "prints for the kernel, letters of o, x and i or _ for none, and the GHz of the "
                "time stamp counter");
  words = {"export", "-i",         words[1], "--symbols", words[2],     "--redox-style",
           words[3], "--cpu-freq", words[4], "--format",  "perf-script"};
  return {};
}

}  // namespace ringside::cli
