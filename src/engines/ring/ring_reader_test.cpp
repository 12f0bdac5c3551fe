#include "engines/ring/ring_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "wire/testing/guest_rings.h"

namespace ringside::engines::ring {
namespace {

using ::testing::ElementsAre;
using namespace wire::testing;

constexpr std::uint64_t kNever = ~std::uint64_t{0};

class BufferMemory : public AreaMemory {
 public:
  explicit BufferMemory(Bytes bytes) : bytes_(bytes) {}
  Result<std::size_t> read_up_to(AreaOffset offset, std::span<std::byte> destination) override {
    if (offset.value >= bytes_.size()) return 0;
    const auto rest = bytes_.subspan(offset.value);
    const std::size_t size = std::min(rest.size(), destination.size());
    std::memcpy(destination.data(), rest.data(), size);
    return size;
  }

 private:
  Bytes bytes_;
};

struct Seen {
  std::vector<std::uint32_t> ids;
  RingReader::Visit visit() {
    return [this](const wire::GuestRecord& record, auto) -> Result<void> {
      expect_sample(record);
      ids.push_back(record.task.pid);
      return {};
    };
  }
};

TEST(RingReader, ReadsWhatAKernelRecords) {
  const GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 1);
  ASSERT_TRUE(reader.poll([](const auto&, auto) -> Result<void> { return {}; }));
  ringside_task task{};
  task.address_space = 0x1000;
  task.pid = 7;
  task.tid = 8;
  task.name = "a name of more than sixteen bytes";
  TrueStack kernel(1, 3);
  TrueStack user(2, 2);
  kernel.stack.stop = RINGSIDE_USER_MODE;
  kernel.stack.interruption_count = 1;
  kernel.stack.interruptions[0] = {1, 2, 0x100, 0x200, {11, 12, 0, 0}};
  ringside_sample(1, RINGSIDE_TIMER, &task, &kernel.stack, &user.stack);
  ringside_sample(1, RINGSIDE_TIMER, nullptr, nullptr, nullptr);
  const ringside_allocation moved{RINGSIDE_REALLOC, RINGSIDE_IN_PAGES, "buddy", 0x2000, 0x1000, 3};
  ringside_allocated(1, &moved, &task, &user.stack);
  const std::int64_t numbers[] = {-1, 2, 3, 4, 5, 6, 7};
  ringside_event(1, "queue length", numbers, 7, nullptr, nullptr);
  ringside_sample(0, RINGSIDE_TIMER, nullptr, nullptr, nullptr);  // another CPU's
  int seen = 0;
  ASSERT_TRUE(reader.poll([&](const wire::GuestRecord& record, auto) -> Result<void> {
    EXPECT_EQ(record.cpu, 1u);
    EXPECT_EQ(record.sequence, static_cast<std::uint32_t>(seen));
    if (seen == 0) {
      EXPECT_EQ(record.task.name, "a name of more t");
      EXPECT_EQ(record.task.address_space, 0x1000u);
      EXPECT_EQ(record.task.pid, 7u);
      EXPECT_EQ(record.task.tid, 8u);
      EXPECT_EQ(record.sample.kernel.interruption_count, 1u);
      EXPECT_THAT(record.sample.kernel.interruptions,
                  ElementsAre(1 | std::uint64_t{2} << 32, 0x100, 0x200, 11, 12));
      EXPECT_THAT(record.sample.kernel.addresses,
                  ElementsAre(kernel.frames[0], kernel.frames[1], kernel.frames[2]));
      EXPECT_EQ(record.sample.kernel.stop, StopReason::kUserMode);
      EXPECT_THAT(record.sample.user.addresses, ElementsAre(user.frames[0], user.frames[1]));
    } else if (seen == 1) {
      EXPECT_FALSE(record.task.is_known());
      EXPECT_TRUE(record.sample.kernel.addresses.empty() && record.sample.user.addresses.empty());
    } else if (seen == 2) {
      EXPECT_EQ(record.allocation.operation, wire::AllocationOperation::kRealloc);
      EXPECT_EQ(record.allocation.unit, wire::AllocationUnit::kPages);
      EXPECT_EQ(record.allocation.allocator, "buddy");
      EXPECT_EQ(record.allocation.pointer, 0x2000u);
      EXPECT_EQ(record.allocation.old, 0x1000u);
      EXPECT_EQ(record.allocation.size, 3u);
      EXPECT_EQ(record.allocation.stack.addresses.size(), 2u);
    } else {
      EXPECT_EQ(record.event.name, "queue length");
      EXPECT_THAT(record.event.numbers, ElementsAre(~std::uint64_t{0}, 2, 3, 4, 5, 6));
    }
    ++seen;
    return {};
  }));
  EXPECT_EQ(seen, 4);
  EXPECT_EQ(reader.counts().read, 4u);
  EXPECT_EQ(reader.counts().lost(), 0u);
}

TEST(RingReader, ReadsAllThatItKeepsUpWith) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  std::mt19937 random(1);
  Seen seen;
  ASSERT_TRUE(reader.poll(seen.visit()));
  std::uint32_t id = 0;
  for (int round = 0; round < 500; ++round) {
    for (std::uint32_t words = 0; words < 1024 - 140;) {
      const auto frames = static_cast<std::uint32_t>(random() % 129);
      put_sample(0, id++, frames);
      words += 8 + frames;
    }
    ASSERT_TRUE(reader.poll(seen.visit()));
    ASSERT_EQ(seen.ids.size(), id);
  }
  for (std::uint32_t i = 0; i < id; ++i) ASSERT_EQ(seen.ids[i], i);
  EXPECT_EQ(reader.counts().lost(), 0u);
}

TEST(RingReader, CountsWhatWasOverwritten) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  Seen seen;
  ASSERT_TRUE(reader.poll(seen.visit()));
  for (std::uint32_t id = 0; id < 1000; ++id) put_sample(0, id, 42);  // 50 words each
  ASSERT_TRUE(reader.poll(seen.visit()));
  // The last 20 are whole.
  ASSERT_EQ(seen.ids.size(), 20u);
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(seen.ids[i], 980 + i);
  EXPECT_EQ(reader.counts().read, 20u);
  EXPECT_EQ(reader.counts().missed, 980u);
  put_sample(0, 1000, 3);
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.back(), 1000u);
  EXPECT_EQ(reader.counts().missed, 980u);
}

TEST(RingReader, ReadsARingThatIsExactlyFull) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  Seen seen;
  ASSERT_TRUE(reader.poll(seen.visit()));
  for (std::uint32_t id = 0; id < 64; ++id) put_sample(0, id, 8);  // 16 words each
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.size(), 64u);
  EXPECT_EQ(reader.counts().lost(), 0u);
}

TEST(RingReader, BeginsWithWhatComesNext) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  for (std::uint32_t id = 0; id < 100; ++id) put_sample(0, id, 8);
  RingReader reader(memory, rings.area(), 0);
  Seen seen;
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_THAT(seen.ids, ::testing::IsEmpty());
  put_sample(0, 100, 8);
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_THAT(seen.ids, ElementsAre(100));
  EXPECT_EQ(reader.counts().lost(), 0u);
}

// A writer that was interrupted, or has died, before its first word.
TEST(RingReader, WaitsForARecordThatIsNotWhole) {
  GuestRings rings(1, 4096, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  Seen seen;
  ASSERT_TRUE(reader.poll(seen.visit()));
  for (std::uint32_t id = 0; id < 10; ++id) put_sample(0, id, 8);
  const auto first_word = rings.writable().subspan(rings.area().ring_at(0) + 5 * 16 * 8, 8);
  const std::vector<std::byte> kept(first_word.begin(), first_word.end());
  std::fill(first_word.begin(), first_word.end(), std::byte{0});
  ASSERT_TRUE(reader.poll(seen.visit()));
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.size(), 5u);
  std::copy(kept.begin(), kept.end(), first_word.begin());
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.size(), 10u);
  EXPECT_EQ(reader.counts().lost(), 0u);

  for (std::uint32_t id = 10; id < 20; ++id) put_sample(0, id, 8);
  const auto second = rings.writable().subspan(rings.area().ring_at(0) + 15 * 16 * 8, 8);
  std::fill(second.begin(), second.end(), std::byte{0});
  for (unsigned i = 0; i < 3 * RingReader::kPatience; ++i) ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.size(), 15u);
  for (unsigned i = 0; i <= RingReader::kPatience; ++i) {
    put_sample(0, 20 + i, 8);
    ASSERT_TRUE(reader.poll(seen.visit()));
  }
  EXPECT_EQ(seen.ids.size(), 19u + RingReader::kPatience + 1);
  EXPECT_EQ(reader.counts().missed, 1u);
}

// Timer signals are the NMIs of this process: they interrupt the writer at any instruction.
class Interrupts {
 public:
  explicit Interrupts(std::uint32_t first) {
    next_ = first;
    struct sigaction action {};
    action.sa_handler = [](int) { put_sample(0, next_++, 5); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &before_);
    const itimerval every{{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  ~Interrupts() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  [[nodiscard]] static std::uint32_t next() { return next_; }

 private:
  static inline std::atomic<std::uint32_t> next_;
  struct sigaction before_ {};
};

// Reads a ring in a thread of its own, which signals do not interrupt.
class Reading {
 public:
  explicit Reading(RingReader& reader) : reader_(reader) {
    sigset_t alarm;
    sigset_t before;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    thread_ = std::thread([this] {
      while (!ends_) EXPECT_TRUE(reader_.poll(seen_.visit()));
      EXPECT_TRUE(reader_.finish(seen_.visit(), kNever));
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  const std::vector<std::uint32_t>& finish() {
    ends_ = true;
    thread_.join();
    return seen_.ids;
  }

 private:
  RingReader& reader_;
  Seen seen_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

constexpr std::uint32_t kFirstInterrupt = 1u << 30;

// Returns how many records were written.
std::uint64_t write_with_interrupts(std::uint32_t least) {
  std::uint32_t id = 0;
  {
    const Interrupts interrupts(kFirstInterrupt);
    while (id < least || Interrupts::next() < kFirstInterrupt + 100) put_sample(0, id++, 20);
  }
  return id + std::uint64_t{Interrupts::next() - kFirstInterrupt};
}

TEST(RingReader, LosesNothingToWritersThatInterruptEachOther) {
  const GuestRings rings(1, 1 << 22, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  ASSERT_TRUE(reader.poll([](const auto&, auto) -> Result<void> { return {}; }));
  Reading reading(reader);
  const std::uint64_t written = write_with_interrupts(50'000);
  const auto& ids = reading.finish();
  ASSERT_LT(written * 28, 1u << 22);  // the ring had room for all
  EXPECT_EQ(ids.size(), written);
  EXPECT_EQ(reader.counts().read, written);
  EXPECT_EQ(reader.counts().lost(), 0u);
}

TEST(RingReaderLong, CountsWhatIsOverwrittenWhileItReads) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  ASSERT_TRUE(reader.poll([](const auto&, auto) -> Result<void> { return {}; }));
  Reading reading(reader);
  const std::uint64_t written = write_with_interrupts(2'000'000);
  const auto& ids = reading.finish();
  EXPECT_GT(ids.size(), 10u);
  EXPECT_GT(reader.counts().missed, 0u);
  EXPECT_EQ(reader.counts().read, ids.size());
  EXPECT_EQ(reader.counts().read + reader.counts().missed, written);
}

// As of a guest that writes what it likes into its counts. None of it is lost ticks.
TEST(RingReader, CountsThatCannotBeTrueAreDamaged) {
  for (const std::uint64_t at :
       {16u, 24u, 32u}) {  // those of a CPU's state, as GUEST_RING.md has it
    GuestRings rings(1, 1024, RINGSIDE_DROP);
    BufferMemory memory(rings.bytes());
    RingReader reader(memory, rings.area(), 0);
    Seen seen;
    ASSERT_TRUE(reader.poll(seen.visit()));
    put_sample(0, 1, 2);
    ASSERT_TRUE(reader.poll(seen.visit()));
    std::byte* const count = rings.writable().data() + rings.area().cpu_at(0) + at;
    std::uint32_t value = 0;
    for (unsigned jump = 1; jump <= 50; ++jump) {
      std::memcpy(&value, count, sizeof(value));
      value += 0x70000000;
      std::memcpy(count, &value, sizeof(value));
      ASSERT_TRUE(reader.poll(seen.visit()));
      EXPECT_EQ(reader.counts().damaged, jump) << at;
      EXPECT_EQ(reader.counts().lost(), 0u) << at;
    }
    put_sample(0, 2, 2);
    ASSERT_TRUE(reader.poll(seen.visit()));
    EXPECT_THAT(seen.ids, ElementsAre(1, 2)) << at;
    // Those of a ring that has begun anew, too.
    std::memset(count, 0, sizeof(value));
    std::memset(rings.writable().data() + rings.area().cpu_at(0), 0, 8);
    value = 0x70000000;
    std::memcpy(count, &value, sizeof(value));
    ASSERT_TRUE(reader.poll(seen.visit()));
    EXPECT_EQ(reader.counts().lost(), 0u) << at;
  }
}

// The same header, and counts that begin again.
TEST(RingReader, ReadsOnWhereTheKernelBeginsAnew) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  Seen seen;
  ASSERT_TRUE(reader.poll(seen.visit()));
  for (std::uint32_t id = 0; id < 40; ++id) put_sample(0, id, 8);
  ASSERT_TRUE(reader.poll(seen.visit()));
  // As ringside_start() leaves the CPU's state and the ring.
  const std::span<std::byte> all = const_cast<GuestRings&>(rings).writable();
  std::memset(all.data() + rings.area().cpu_at(0), 0, wire::GuestArea::kCpuBytes);
  std::memset(all.data() + rings.area().ring_at(0), 0, 1024 * 8);
  for (std::uint32_t id = 100; id < 130; ++id) put_sample(0, id, 8);
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.size(), 70u);
  EXPECT_EQ(seen.ids.back(), 129u);
  EXPECT_EQ(reader.counts().read, 70u);
  EXPECT_EQ(reader.counts().lost(), 0u);
}

// A writer has reserved words and is interrupted: the old record there is whole.
TEST(RingReader, ReadsNoRecordOfTheRoundBeforeAgain) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  Seen seen;
  ASSERT_TRUE(reader.poll(seen.visit()));
  for (std::uint32_t id = 0; id < 32; ++id) put_sample(0, id, 24);  // of 32 words: all of the ring
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.size(), 32u);
  const std::span<std::byte> all = const_cast<GuestRings&>(rings).writable();
  const auto add = [&](std::size_t at, std::uint64_t count) {
    std::uint64_t value = 0;
    std::memcpy(&value, all.data() + at, sizeof(value));
    value += count;
    std::memcpy(all.data() + at, &value, sizeof(value));
  };
  add(rings.area().cpu_at(0), 32);      // head
  add(rings.area().cpu_at(0) + 16, 1);  // begun
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.size(), 32u);
  ASSERT_TRUE(reader.finish(seen.visit(), kNever));
  EXPECT_EQ(seen.ids.size(), 32u);
  EXPECT_EQ(reader.counts().missed, 1u);
}

TEST(RingReader, ABudgetOfWordsLeavesTheRestForLater) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  BufferMemory memory(rings.bytes());
  RingReader reader(memory, rings.area(), 0);
  Seen seen;
  ASSERT_TRUE(reader.poll(seen.visit()));
  for (std::uint32_t id = 0; id < 40; ++id) put_sample(0, id, 8);  // of 16 words
  std::size_t budget = 320;
  ASSERT_TRUE(reader.poll(seen.visit(), budget));
  EXPECT_EQ(seen.ids.size(), 20u);
  EXPECT_EQ(budget, 0u);
  ASSERT_TRUE(reader.poll(seen.visit()));
  EXPECT_EQ(seen.ids.size(), 40u);
}

}  // namespace
}  // namespace ringside::engines::ring
