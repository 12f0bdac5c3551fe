#include "session/kernel_stack_users.h"

#include <algorithm>

namespace ringside::session {
namespace {

// An entry that switches threads itself is seen with the wrong address space, too, but rarely.
constexpr std::uint64_t kRare = 8;
// Samples of one pair in entry code: as many show how often it is seen there.
constexpr std::uint64_t kEnough = 4;

}  // namespace

bool KernelStackUsers::belong(GuestVirt slot, std::uint64_t address_space, bool in_entry) {
  if (stacks_.size() >= kMostStacks && !stacks_.contains(slot.value)) stacks_.clear();
  std::vector<User>& users = stacks_[slot.value];
  auto at = std::find_if(users.begin(), users.end(),
                         [=](const User& user) { return user.address_space == address_space; });
  if (at == users.end()) {
    if (users.size() >= kMostUsers) users.clear();
    at = users.insert(users.end(), {.address_space = address_space});
  }
  ++at->seen;
  if (in_entry) ++at->in_entry;
  std::uint64_t most = 0;
  User best;
  for (const User& user : users) {
    most = std::max(most, user.seen);
    if (user.in_entry > best.in_entry) best = user;
  }
  if (best.in_entry == 0) return at->seen == most;
  const bool is_often_there = at->in_entry > 0 && at->in_entry * kRare >= best.in_entry;
  // A stack that each vCPU has for all may be another's most of the time, or have been.
  const bool is_as_the_best =
      at->in_entry >= kEnough && at->in_entry * best.seen * kRare >= best.in_entry * at->seen;
  return is_often_there || is_as_the_best;
}

}  // namespace ringside::session
