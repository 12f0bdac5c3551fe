#pragma once

#include <gtest/gtest.h>
#include <ringside_guest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <span>

#include "wire/guest_area.h"
#include "wire/guest_record.h"

// The guest library itself fills rings, in the test's own process.
namespace ringside::wire::testing {

inline std::atomic<std::uint64_t> the_time{0};

// Rings of this process.
class GuestRings {
 public:
  GuestRings(std::uint32_t cpus, std::uint32_t words, ringside_mode mode,
             std::uint64_t clock_hz = 1'000'000)
      : size_(ringside_bytes(cpus, words)),
        memory_(static_cast<std::byte*>(std::aligned_alloc(
                    kAlignment, (size_ + kAlignment - 1) / kAlignment * kAlignment)),
                std::free) {
    ringside_setup setup{};
    setup.memory = memory_.get();
    setup.bytes = size_;
    setup.cpus = cpus;
    setup.ring_words = words;
    setup.mode = mode;
    setup.clock = [] { return ++the_time; };
    setup.clock_hz = clock_hz;
    setup.anchor = &the_time;
    setup.anchor_name = "the_time";
    EXPECT_EQ(ringside_start(&setup), 0);
    area_ = read_guest_area(bytes()).value();
  }

  [[nodiscard]] Bytes bytes() const { return {memory_.get(), size_}; }
  [[nodiscard]] std::span<std::byte> writable() { return {memory_.get(), size_}; }
  [[nodiscard]] const GuestArea& area() const { return area_; }

 private:
  // Pages, of which up to 16 have one page table.
  static constexpr std::size_t kAlignment = 16 * 4096;

  std::size_t size_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
  GuestArea area_;
};

// A stack whose frames follow from its first: whatever is read can be checked by itself. Allocates
// nothing, for it is made in a signal's handler, too.
struct TrueStack {
  TrueStack(std::uintptr_t first, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) frames[i] = first * 0x9e3779b9 + i * i;
    stack.frames = frames.data();
    stack.count = count;
  }
  std::array<std::uintptr_t, RINGSIDE_MAX_FRAMES> frames;
  ringside_stack stack{};
};

inline void put_sample(std::uint32_t cpu, std::uint32_t id, std::uint32_t frames) {
  const TrueStack kernel(id, frames);
  ringside_task task{};
  task.pid = id;
  task.name = "worker";
  ringside_sample(cpu, RINGSIDE_NMI, &task, &kernel.stack, nullptr);
}

inline void expect_sample(const GuestRecord& record) {
  ASSERT_EQ(record.kind, GuestRecordKind::kSample);
  const auto frames = record.sample.kernel.addresses;
  const TrueStack expected(record.task.pid, static_cast<std::uint32_t>(frames.size()));
  EXPECT_TRUE(std::equal(frames.begin(), frames.end(), expected.frames.begin()));
  EXPECT_EQ(record.task.name, "worker");
}

}  // namespace ringside::wire::testing
