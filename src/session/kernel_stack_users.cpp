#include "session/kernel_stack_users.h"

#include <algorithm>

namespace ringside::session {
namespace {

// An entry that switches threads itself is seen with the wrong address space, too, but rarely.
constexpr std::uint64_t kRare = 8;

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
  std::uint64_t most_in_entry = 0;
  for (const User& user : users) {
    most = std::max(most, user.seen);
    most_in_entry = std::max(most_in_entry, user.in_entry);
  }
  return most_in_entry > 0 ? at->in_entry * kRare >= most_in_entry && at->in_entry > 0
                           : at->seen == most;
}

}  // namespace ringside::session
