#include "recording/context_table.h"

#include <xxhash.h>

#include <algorithm>

namespace ringside::recording {
namespace {

// Two numbers that may be there, and whether they are.
std::uint64_t word_of(const std::optional<std::uint32_t>& number) {
  return number ? std::uint64_t{*number} | std::uint64_t{1} << 32 : 0;
}

}  // namespace

ContextTable::Key ContextTable::key_of(const SampleInfo& info, std::span<const StackRef> stacks) {
  words_.assign(
      {static_cast<std::uint64_t>(info.level) | static_cast<std::uint64_t>(info.disposition) << 8 |
           static_cast<std::uint64_t>(info.state) << 16 | std::uint64_t{info.vcpu.value} << 32,
       info.address_space, info.waits_for, word_of(info.pid), word_of(info.tid),
       info.thread_start_ns});
  for (const StackRef& stack : stacks) {
    words_.push_back(std::uint64_t{stack.node} | static_cast<std::uint64_t>(stack.stop) << 32 |
                     static_cast<std::uint64_t>(stack.role) << 40);
    words_.push_back(stack.stopped_at.value);
  }
  const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(words_[0]));
  return {hash.low64, hash.high64};
}

std::uint32_t ContextTable::intern(const SampleInfo& info, std::span<const StackRef> stacks) {
  stacks = stacks.first(std::min(stacks.size(), kMostStacks));
  const std::uint32_t next = numbers_.next();
  const std::uint32_t number = numbers_.number(key_of(info, stacks));
  if (number != next) return number;
  Context& context = pending_.emplace_back();
  context.vcpu = info.vcpu;
  context.level = info.level;
  context.disposition = info.disposition;
  context.state = info.state;
  context.waits_for = info.waits_for;
  context.address_space = info.address_space;
  if (info.pid || info.tid || info.thread_start_ns != 0)
    context.thread = threads_.intern({info.pid, info.tid, info.thread_start_ns});
  for (std::size_t i = stacks.size(); i-- > 0;)
    context.stacks = lists_.intern({stacks[i], context.stacks});
  return number;
}

void ContextTable::clear_pending() {
  threads_.clear_pending();
  lists_.clear_pending();
  pending_.clear();
}

}  // namespace ringside::recording
