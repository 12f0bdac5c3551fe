#include "wire/seqlock.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace ringside::wire {
namespace {

struct Pair {
  std::uint64_t number = 0;
  std::array<std::uint64_t, 100> copies{};
};

Pair pair(std::uint64_t number) {
  Pair result{number, {}};
  result.copies.fill(number);
  return result;
}

TEST(SeqLock, NothingUntilSomethingIsStored) {
  const SeqLock<Pair> lock;
  std::uint32_t seen = 0;
  Pair value = pair(5);
  EXPECT_FALSE(lock.load_newer(seen, value));
  EXPECT_EQ(value.number, 5u);
}

TEST(SeqLock, EachValueIsReadOnce) {
  SeqLock<Pair> lock;
  std::uint32_t seen = 0;
  Pair value;
  lock.store(pair(1));
  lock.store(pair(2));
  EXPECT_TRUE(lock.load_newer(seen, value));
  EXPECT_EQ(value.number, 2u);
  EXPECT_FALSE(lock.load_newer(seen, value));
}

TEST(SeqLock, AWriterThatWasKilledStopsNeitherReaderNorTheNextWriter) {
  SeqLock<Pair> lock;
  lock.store(pair(1));
  std::uint32_t sequence = 0;
  std::memcpy(&sequence, static_cast<const void*>(&lock), sizeof sequence);
  ++sequence;
  std::memcpy(static_cast<void*>(&lock), &sequence, sizeof sequence);
  std::uint32_t seen = 0;
  Pair value;
  EXPECT_FALSE(lock.load_newer(seen, value));
  lock.store(pair(2));
  EXPECT_TRUE(lock.load_newer(seen, value));
  EXPECT_EQ(value.number, 2u);
}

TEST(SeqLock, WhatIsReadWhileItIsWrittenIsWhole) {
  constexpr std::uint64_t kLast = 20'000;
  SeqLock<Pair> lock;
  std::thread writer([&] {
    for (std::uint64_t n = 1; n <= kLast; ++n) lock.store(pair(n));
  });
  std::uint32_t seen = 0;
  Pair value;
  std::uint64_t before = 0;
  while (value.number != kLast) {
    if (!lock.load_newer(seen, value)) continue;
    EXPECT_GT(value.number, before);
    EXPECT_EQ(value.copies, pair(value.number).copies);
    before = value.number;
  }
  writer.join();
}

}  // namespace
}  // namespace ringside::wire
