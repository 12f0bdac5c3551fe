#include "views/allocations/live_set.h"

#include <algorithm>

namespace ringside::views {
namespace {

// All that was ever allocated is less, so that no sum over blocks overflows a signed number.
constexpr std::uint64_t kMostAllocated = std::uint64_t{1} << 62;

std::uint64_t span(std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); }

}  // namespace

void Spans::add(std::uint64_t span) {
  ++count;
  sum += static_cast<double>(span);
  longest = std::max(longest, span);
}

Spans& Spans::operator+=(const Spans& other) {
  count += other.count;
  sum += other.sum;
  longest = std::max(longest, other.longest);
  return *this;
}

BlockSums& BlockSums::operator+=(const BlockSums& other) {
  live += other.live;
  peak += other.peak;
  before += other.before;
  older += other.older;
  allocated += other.allocated;
  freed += other.freed;
  replaced += other.replaced;
  lifetimes += other.lifetimes;
  ages += other.ages;
  return *this;
}

void LiveSet::begin(std::uint64_t time) {
  if (since_ && time >= *since_) is_since_ = true;
}

void LiveSet::end(std::uint64_t time) {
  if (live_size_ <= peak_size_) return;
  peak_size_ = live_size_;
  peak_time_ = time;
  ++peak_number_;
}

BlockSums& LiveSet::changing(std::uint32_t number) {
  Stack& stack = stacks_[number];
  if (stack.seen_peak != peak_number_) {
    stack.sums.peak = stack.sums.live;
    stack.seen_peak = peak_number_;
  }
  if (is_since_ && !stack.has_before) {
    stack.sums.before = stack.sums.live;
    stack.has_before = true;
  }
  return stack.sums;
}

std::uint64_t LiveSet::bounded(std::uint64_t added) {
  if (added > kMostAllocated - allocated_size_) {
    ++events_.too_large;
    return 0;
  }
  allocated_size_ += added;
  return added;
}

// Another block that is still there has ended unseen.
void LiveSet::insert(std::uint64_t pointer, const Block& block) {
  if (const Block* const there = blocks_.find(pointer)) {
    BlockSums& sums = changing(there->stack);
    --sums.live.count;
    sums.live.size -= there->size;
    sums.replaced += {1, there->size};
    live_size_ -= there->size;
  }
  blocks_.set(pointer, block);
}

void LiveSet::allocate_block(std::uint64_t pointer, std::uint64_t asked, std::uint64_t time,
                             std::uint32_t stack) {
  const std::uint64_t size = bounded(asked);
  const std::uint32_t number = stacks_.find_or_add(stack);
  insert(pointer, {size, time, number});
  BlockSums& sums = changing(number);
  sums.live += {1, size};
  sums.allocated += {1, size};
  live_size_ += size;
}

void LiveSet::free_block(std::uint64_t pointer, Block block, std::uint64_t time) {
  BlockSums& sums = changing(block.stack);
  --sums.live.count;
  sums.live.size -= block.size;
  sums.freed += {1, block.size};
  sums.lifetimes.add(span(block.time, time));
  live_size_ -= block.size;
  blocks_.erase(pointer);
  frees_->add(allocator_, pointer);
}

void LiveSet::allocate(std::uint64_t pointer, std::uint64_t size, std::uint64_t time,
                       std::uint32_t stack) {
  begin(time);
  ++events_.allocs;
  allocate_block(pointer, size, time, stack);
  end(time);
}

void LiveSet::reallocate(std::uint64_t old, std::uint64_t pointer, std::uint64_t size,
                         std::uint64_t time, std::uint32_t stack) {
  begin(time);
  ++events_.reallocs;
  const Block* const known = blocks_.find(old);
  if (known == nullptr) {
    ++events_.unknown_reallocs;
    allocate_block(pointer, size, time, stack);
  } else if (pointer == 0 && old != 0) {
    free_block(old, *known, time);
  } else {
    Block block = *known;
    BlockSums& sums = changing(block.stack);
    if (size > block.size) {
      const std::uint64_t more = bounded(size - block.size);
      sums.allocated.size += more;
      sums.live.size += more;
      live_size_ += more;
      block.size += more;
    } else {
      const std::uint64_t less = block.size - size;
      sums.freed.size += less;
      sums.live.size -= less;
      live_size_ -= less;
      block.size = size;
    }
    if (pointer != old) {
      blocks_.erase(old);
      frees_->add(allocator_, old);
      insert(pointer, block);
    } else {
      blocks_.set(pointer, block);
    }
  }
  end(time);
}

void LiveSet::free(std::uint64_t pointer, std::uint64_t time) {
  begin(time);
  ++events_.frees;
  if (const Block* const known = blocks_.find(pointer))
    free_block(pointer, *known, time);
  else if (frees_->has(allocator_, pointer))
    ++events_.double_frees;
  else
    ++events_.unknown_frees;
}

void LiveSet::finish(std::uint64_t end, std::optional<std::uint64_t> older_than) {
  is_since_ = since_.has_value();
  for (std::uint32_t number = 0; number < stacks_.size(); ++number) changing(number);
  blocks_.for_each([&](std::uint64_t, const Block& block) {
    BlockSums& sums = stacks_[block.stack].sums;
    const std::uint64_t age = span(block.time, end);
    sums.ages.add(age);
    if (older_than && age > *older_than) sums.older += {1, block.size};
  });
  blocks_ = {};
  frees_ = nullptr;
}

BlockSums LiveSet::total() const {
  BlockSums total;
  for (const Stack& stack : stacks_) total += stack.sums;
  return total;
}

}  // namespace ringside::views
