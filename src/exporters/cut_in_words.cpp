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
  for (std::string first : {lost_in_words(profile), bent_in_words(profile)})
    if (!first.empty()) words.insert(words.begin(), std::move(first));
  return words;
}

}  // namespace ringside::exporters
