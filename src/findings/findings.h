#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "findings/facts.h"

// All that is reported of a guest: a table of sentences, each with the condition that proves it.
// Nothing else makes such sentences, so that none is without its proof.
namespace ringside::findings {

template <class Facts>
struct Finding {
  std::string_view name;  // for tests
  bool (*is_proven)(const Facts& facts);
  // One for each thing that it is true of; called only if it is proven.
  std::vector<std::string> (*sentences)(const Facts& facts);
};

[[nodiscard]] std::span<const Finding<GuestFacts>> of_guest();
[[nodiscard]] std::span<const Finding<NameFacts>> of_names();
// Stacks that a bound has cut, and those that break off.
[[nodiscard]] std::span<const Finding<StackFacts>> of_cut_stacks();
[[nodiscard]] std::span<const Finding<StackFacts>> of_broken_stacks();

// All that the facts prove, in the order of the table.
template <class Facts>
[[nodiscard]] std::vector<std::string> sentences(std::span<const Finding<Facts>> table,
                                                 const Facts& facts) {
  std::vector<std::string> proven;
  for (const Finding<Facts>& finding : table) {
    if (!finding.is_proven(facts)) continue;
    for (std::string& sentence : finding.sentences(facts)) proven.push_back(std::move(sentence));
  }
  return proven;
}

}  // namespace ringside::findings
