#include "exporters/broken_in_words.h"

#include "exporters/stack_facts.h"
#include "findings/findings.h"

namespace ringside::exporters {

std::vector<std::string> broken_in_words(const profile::Profile& profile) {
  return findings::sentences(findings::of_broken_stacks(), stack_facts(profile));
}

}  // namespace ringside::exporters
