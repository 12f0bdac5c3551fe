#pragma once

#include <vector>

#include "unwind/compact_rule.h"

namespace ringside::unwind {

// From a code address to its compact rule. Two ways of 8 bytes a slot, so that the slots of
// thousands of addresses, and the few hundred different rules, stay near the processor.
//
// A key is multiplied by an odd number, which loses nothing: the product's top bits choose the set,
// the others are compared. Below them a slot has room for the rule's number, which is not 0.
class RuleCache {
 public:
  RuleCache() { forget(); }

  // Null where it is not known; valid until the next add().
  [[nodiscard]] const CompactRule* find(std::uint64_t key) const {
    const std::uint64_t hash = key * kMultiplier;
    const Set& set = sets_[hash >> (64 - kSetBits)];
    const std::uint64_t tag = hash << kSetBits;
    for (const std::uint64_t slot : set.slots) {
      const std::uint64_t number = slot ^ tag;
      if (number - 1 < kNumbers - 1) return &rules_[static_cast<std::uint16_t>(number)];
    }
    return nullptr;
  }

  // The older of the set's two slots gives way.
  const CompactRule& add(std::uint64_t key, const CompactRule& rule) {
    if (rules_.size() == kNumbers) forget();
    const std::uint16_t number = *rules_.add(rule);
    const std::uint64_t hash = key * kMultiplier;
    Set& set = sets_[hash >> (64 - kSetBits)];
    set.slots[1] = set.slots[0];
    set.slots[0] = hash << kSetBits | number;
    return rules_[number];
  }

  void forget() {
    sets_.assign(std::size_t{1} << kSetBits, {});
    rules_ = {};
    (void)rules_.add({});  // number 0
  }

 private:
  static constexpr unsigned kSetBits = 13;
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << kSetBits;
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio

  struct Set {
    std::uint64_t slots[2] = {};
  };
  std::vector<Set> sets_;
  RuleSet rules_;
};

}  // namespace ringside::unwind
