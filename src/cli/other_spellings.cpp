#include "cli/other_spellings.h"

#include <cctype>
#include <cstddef>
#include <string_view>

#include "cli/verbs/call_graph_mode.h"

namespace ringside::cli {

namespace {

// "-ng": flags of one letter, and a -g without a mode behind them.
bool is_cluster_with_g(const std::string& word) {
  constexpr std::string_view kFlags = "nGxvku";
  return word.size() > 2 && word[0] == '-' && word.back() == 'g' &&
         word.find_first_not_of(kFlags, 1) == word.size() - 1;
}

// Behind -g its mode may stand as a word of its own, and a file may, too.
void respell_report(std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    std::string& word = words[i];
    const bool is_separator = word.starts_with("-x") && word.size() > 2 &&
                              std::isalnum(static_cast<unsigned char>(word[2])) == 0;
    if (word == "-g" || word == "--call-graph") {
      const bool has_mode = i + 1 < words.size() && is_call_graph_mode(words[i + 1]);
      word = "--call-graph=" + (has_mode ? words[i + 1] : std::string("graph"));
      if (has_mode) words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else if (is_cluster_with_g(word)) {
      word.pop_back();
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(++i), "--call-graph=graph");
    } else if (word.starts_with("-g") && word.size() > 2) {
      word = "--call-graph=" + word.substr(2);
    } else if (is_separator) {
      word = "--field-separator=" + word.substr(2);
    }
  }
}

}  // namespace

Result<void> respell(std::vector<std::string>& words) {
  if (words.empty()) return {};
  if (words[0] == "version") words[0] = "--version";
  if (words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words[0] == "report") respell_report(words);
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
