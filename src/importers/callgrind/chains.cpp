#include "importers/callgrind/chains.h"

#include <algorithm>

namespace ringside::importers::callgrind {
namespace {

constexpr std::uint32_t kMostDepth = 511;       // with the leaf as many as a recording has
constexpr std::size_t kMostLinks = 8 << 20;     // 24 bytes each
constexpr std::size_t kMostAmounts = 16 << 20;  // of 8 bytes

}  // namespace

std::uint32_t CallerTree::add(std::uint32_t parent, const Spot& caller) {
  const std::uint32_t depth = links_[parent].depth + 1;
  if (depth > kMostDepth || links_.size() >= kMostLinks) return kCut;
  links_.push_back({caller, parent, depth});
  return static_cast<std::uint32_t>(links_.size() - 1);
}

bool CallerTree::append_to(std::vector<Spot>& spots, std::uint32_t link) const {
  for (; link > kCut; link = links_[link].parent) spots.push_back(links_[link].caller);
  return link == kCut;
}

bool Chains::has_room() const {
  return !free_.empty() || amounts_.size() + events_ <= kMostAmounts;
}

void Chains::add(std::uint32_t function, std::uint32_t callers, Costs amounts) {
  if (!has_room()) callers = CallerTree::kCut;
  const bool is_cut = callers == CallerTree::kCut;
  std::uint32_t entry = is_cut ? cut_[function] : kNone;
  if (entry == kNone) {
    entry = new_entry();
    entries_[entry] = {callers, first_[function]};
    first_[function] = entry;
    if (is_cut) cut_[function] = entry;
  }
  for (std::size_t event = 0; event < events_; ++event)
    amounts_[entry * events_ + event] += amounts[event];
}

std::uint32_t Chains::new_entry() {
  if (!free_.empty()) {
    const std::uint32_t entry = free_.back();
    free_.pop_back();
    return entry;
  }
  entries_.emplace_back();
  amounts_.resize(entries_.size() * events_);
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

void Chains::take(std::uint32_t function, std::vector<Chain>& out) {
  for (std::uint32_t entry = first_[function]; entry != kNone; entry = entries_[entry].next)
    out.push_back({entries_[entry].callers, entry});
  first_[function] = cut_[function] = kNone;
}

void Chains::release(const std::vector<Chain>& chains) {
  for (const Chain& chain : chains) {
    std::fill_n(amounts_.begin() + static_cast<std::ptrdiff_t>(chain.number * events_), events_, 0);
    free_.push_back(chain.number);
  }
}

}  // namespace ringside::importers::callgrind
