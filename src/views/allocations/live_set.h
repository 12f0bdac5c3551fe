#pragma once

#include <cstdint>
#include <optional>

#include "base/dense_table.h"
#include "base/erasable_table.h"
#include "views/allocations/recent_frees.h"

namespace ringside::views {

// Blocks and their size together, in the allocator's unit.
struct BlockAmount {
  std::uint64_t count = 0;
  std::uint64_t size = 0;
  BlockAmount& operator+=(const BlockAmount& other) {
    count += other.count;
    size += other.size;
    return *this;
  }
  bool operator==(const BlockAmount&) const = default;
};

// Times of blocks, by the allocator's clock.
struct Spans {
  std::uint64_t count = 0;
  double sum = 0;
  std::uint64_t longest = 0;
  void add(std::uint64_t span);
  Spans& operator+=(const Spans& other);
  [[nodiscard]] double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

// Some blocks, and their ends. allocated = freed + replaced + live, in counts and in sizes.
struct BlockSums {
  BlockAmount live;       // at the end
  BlockAmount peak;       // live when the size of all live blocks of the allocator was largest
  BlockAmount before;     // live before LiveSet's `since`
  BlockAmount older;      // live at the end, for longer than finish() was given
  BlockAmount allocated;  // with what a realloc has added to a block
  BlockAmount freed;      // with what a realloc has taken away from one
  BlockAmount replaced;   // that ended unseen: another one was allocated at their pointer
  Spans lifetimes;        // of those freed
  Spans ages;             // at the end, of those live
  BlockSums& operator+=(const BlockSums& other);
};

// The events of an allocator.
struct AllocationEvents {
  std::uint64_t allocs = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t others = 0;            // of no operation that is known
  std::uint64_t unknown_reallocs = 0;  // of a block that is not live; it counts as an alloc
  std::uint64_t unknown_frees = 0;     // of a block that was never seen; it counts as nothing
  std::uint64_t double_frees = 0;      // of one that was freed last
  std::uint64_t too_large = 0;         // sizes that count as 0, for no sum may overflow
  [[nodiscard]] std::uint64_t all() const { return allocs + reallocs + frees + others; }
};

// Follows the blocks of one allocator from event to event. Its memory grows with the live blocks
// and the stacks that have allocated.
//
// A block is of the stack that has allocated it, from its alloc to its free; its size is the last
// one. Moments of many stacks cost nothing when they come: a stack keeps what it had then when it
// changes the first time after it.
class LiveSet {
 public:
  // The sums of a stack's blocks.
  struct Stack {
    std::uint32_t key = 0;
    BlockSums sums{};
    std::uint64_t seen_peak = 0;  // sums.peak is that of this peak
    bool has_before = false;      // sums.before is known
  };
  struct Hash {
    std::uint64_t operator()(std::uint32_t key) const { return mixed(key); }
  };
  using Stacks = DenseTable<std::uint32_t, Stack, Hash>;

  // `allocator` numbers those that share `frees`. `since`: the moment of BlockSums::before.
  LiveSet(std::uint32_t allocator, RecentFrees& frees, std::optional<std::uint64_t> since)
      : allocator_(allocator), frees_(&frees), since_(since) {}

  // In order of time, by the allocator's clock. `stack` is any number.
  void allocate(std::uint64_t pointer, std::uint64_t size, std::uint64_t time, std::uint32_t stack);
  // The block at `old`, which is at `pointer` now. Its time and its stack stay. One that is at 0
  // now, and was not, is freed.
  void reallocate(std::uint64_t old, std::uint64_t pointer, std::uint64_t size, std::uint64_t time,
                  std::uint32_t stack);
  void free(std::uint64_t pointer, std::uint64_t time);
  void add_other() { ++events_.others; }
  // To be called once, behind the last event; the blocks are forgotten. `older_than`: the ages of
  // BlockSums::older are larger.
  void finish(std::uint64_t end, std::optional<std::uint64_t> older_than);

  [[nodiscard]] const Stacks& stacks() const { return stacks_; }
  [[nodiscard]] const AllocationEvents& events() const { return events_; }
  [[nodiscard]] std::uint64_t peak_time() const { return peak_time_; }
  // The sums of all stacks together.
  [[nodiscard]] BlockSums total() const;

 private:
  struct Block {
    std::uint64_t size = 0;
    std::uint64_t time = 0;  // of the alloc
    std::uint32_t stack = 0;
  };

  void begin(std::uint64_t time);
  void end(std::uint64_t time);
  // The stack with that number in stacks_, whose live blocks are about to change.
  BlockSums& changing(std::uint32_t number);
  void insert(std::uint64_t pointer, const Block& block);
  void allocate_block(std::uint64_t pointer, std::uint64_t size, std::uint64_t time,
                      std::uint32_t stack);
  void free_block(std::uint64_t pointer, Block block, std::uint64_t time);
  // The size as it counts.
  [[nodiscard]] std::uint64_t bounded(std::uint64_t added);

  std::uint32_t allocator_;
  RecentFrees* frees_;  // null when all is followed
  std::optional<std::uint64_t> since_;
  bool is_since_ = false;  // the moment has come
  ErasableTable<Block> blocks_;
  Stacks stacks_;
  AllocationEvents events_;
  std::uint64_t live_size_ = 0;
  std::uint64_t allocated_size_ = 0;
  std::uint64_t peak_size_ = 0;
  std::uint64_t peak_number_ = 0;
  std::uint64_t peak_time_ = 0;
};

}  // namespace ringside::views
