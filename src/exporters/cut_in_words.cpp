#include "exporters/cut_in_words.h"

#include "exporters/lost_in_words.h"
#include "exporters/stack_facts.h"
#include "findings/findings.h"

namespace ringside::exporters {

std::vector<std::string> cut_in_words(const profile::Profile& profile) {
  return findings::sentences(findings::of_cut_stacks(), stack_facts(profile));
}

std::vector<std::string> all_in_words(const profile::Profile& profile) {
  std::vector<std::string> words = cut_in_words(profile);
  if (std::string lost = lost_in_words(profile); !lost.empty())
    words.insert(words.begin(), std::move(lost));
  return words;
}

}  // namespace ringside::exporters
