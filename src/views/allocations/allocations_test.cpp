#include "views/allocations/allocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile_test_util.h"
#include "recording/guest_event_tables.h"
#include "views/allocations/allocation_profile.h"
#include "views/allocations/allocation_rows.h"

namespace ringside::views {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using wire::AllocationOperation;

// A recording of allocations. Its clock is the host's: its time is in nanoseconds.
class AllocationsTest : public ::testing::Test {
 protected:
  // Frames leaf first; "?" has no name.
  void add(const std::string& allocator, AllocationOperation operation, std::uint64_t pointer,
           std::uint64_t size, const std::vector<std::string>& frames, std::uint32_t pid = 1) {
    wire::GuestAllocation allocation;
    allocation.operation = operation;
    allocation.allocator = allocator;
    allocation.pointer = pointer;
    allocation.size = size;
    if (allocator == "buddy") allocation.unit = wire::AllocationUnit::kPages;
    recording::SampleInfo info;
    info.level = PrivilegeLevel::kKernel;
    info.pid = pid;
    Stack stack;
    stack.stop = StopReason::kEndOfStack;
    for (const std::string& name : frames)
      stack.frames.push_back({.address = {address_of(name)}, .exact = true});
    recording::StackRef ref;
    if (!frames.empty()) ref = recording_.writer().add_stack(stack, 0);
    const std::uint32_t context =
        recording_.writer().add_context(info, std::span(&ref, frames.empty() ? 0 : 1));
    ASSERT_TRUE(tables_.add(allocation, time_++, context));
  }
  void alloc(std::uint64_t pointer, std::uint64_t size, const std::vector<std::string>& frames,
             std::uint32_t pid = 1) {
    add("malloc", AllocationOperation::kAlloc, pointer, size, frames, pid);
  }
  void free(std::uint64_t pointer, std::uint32_t pid = 1) {
    add("malloc", AllocationOperation::kFree, pointer, 0, {}, pid);
  }

  profile::DetailedProfile& details(profile::Filter filter = {}) {
    if (!reader_) {
      EXPECT_TRUE(tables_.flush());
      reader_.emplace(recording_.reader());
    }
    profile::BuildOptions options;
    options.every_source = true;
    options.filter = std::move(filter);
    auto read = profile::DetailedProfile::read(*reader_, recording_.namer(), options);
    EXPECT_TRUE(read);
    details_ = std::move(*read);
    return *details_;
  }
  Result<std::vector<Allocator>> follow(const AllocationOptions& options = {},
                                        const profile::Filter& filter = {}) {
    return follow_allocations(details(filter), options);
  }
  // The live size of each row, by its name.
  std::vector<std::pair<std::string, std::uint64_t>> rows(
      const Allocator& allocator, const AllocationTableOptions& options = {}) {
    std::vector<std::pair<std::string, std::uint64_t>> texts;
    for (const AllocationRow& row : make_allocation_table(*details_, allocator, options).rows)
      texts.emplace_back(text_of(row.frames, details_->profile()), row.sums.live.size);
    return texts;
  }
  static std::string text_of(const std::vector<profile::FrameId>& frames,
                             const profile::Profile& profile) {
    std::string text;
    for (const profile::FrameId frame : frames)
      text += (text.empty() ? "" : ";") + std::string(profile.name(frame));
    return text;
  }
  static std::map<std::string, profile::Weight> stacks(const profile::Profile& profile) {
    std::map<std::string, profile::Weight> weights;
    for (const profile::SampleGroup& group : profile.samples)
      weights[text_of(profile.stacks.frames_of(group.stack), profile)] += group.weight;
    return weights;
  }

 private:
  std::uint64_t address_of(const std::string& name) {
    if (name == "?") return 0x9000;
    const auto [it, is_new] = addresses_.try_emplace(name, 0x2000 + 16 * addresses_.size());
    if (is_new) recording_.namer().names[it->second] = {name};
    return it->second;
  }

  profile::testing::TestRecording recording_;
  recording::GuestEventTables tables_{recording_.writer(), recording::kHostClock};
  std::optional<recording::Reader> reader_;
  std::unique_ptr<profile::DetailedProfile> details_;
  std::map<std::string, std::uint64_t> addresses_;
  std::uint64_t time_ = 0;
};

TEST_F(AllocationsTest, EachAllocatorIsFollowedByItself) {
  alloc(0x10, 24, {"kmalloc", "open"});
  add("buddy", AllocationOperation::kAlloc, 0x10, 4, {"get_pages", "kmalloc", "open"});
  free(0x10);
  const auto allocators = follow();
  ASSERT_TRUE(allocators);
  ASSERT_EQ(allocators->size(), 2u);
  std::map<std::string, const Allocator*> by_name;
  for (const Allocator& allocator : *allocators) by_name[allocator.name] = &allocator;
  EXPECT_EQ(by_name.at("malloc")->unit, recording::WeightUnit::kBytes);
  EXPECT_EQ(by_name.at("malloc")->blocks.total().live, (BlockAmount{0, 0}));
  EXPECT_EQ(by_name.at("malloc")->end, 2u);
  EXPECT_EQ(by_name.at("buddy")->unit, recording::WeightUnit::kPages);
  EXPECT_EQ(by_name.at("buddy")->blocks.total().live, (BlockAmount{1, 4}));
  EXPECT_EQ(by_name.at("buddy")->end, 2u);  // the clock's
}

TEST_F(AllocationsTest, TheFunctionThatAllocatesIsNotThePassingOne) {
  alloc(0x10, 1, {"kernel_alloc", "__rust_alloc", "alloc::vec::Vec<T>::push", "open", "main"});
  alloc(0x20, 2, {"kernel_alloc", "open", "main"});
  alloc(0x30, 4, {"kernel_alloc", "kmalloc", "read", "main"});
  alloc(0x40, 8, {"kernel_alloc"});
  alloc(0x50, 16, {});
  alloc(0x60, 32, {"?", "read", "main"});
  const auto allocators = follow();
  ASSERT_TRUE(allocators);
  const Allocator& malloc = allocators->front();
  EXPECT_THAT(rows(malloc),
              ElementsAre(Pair("read", 32), Pair("[no stack]", 16), Pair("kernel_alloc", 8),
                          Pair("kmalloc", 4), Pair("open", 3)));
  AllocationTableOptions options;
  options.passing = {"kmall*"};
  EXPECT_THAT(rows(malloc, options), ElementsAre(Pair("read", 36), Pair("[no stack]", 16),
                                                 Pair("kernel_alloc", 8), Pair("open", 3)));
  options.group = AllocationGroup::kStack;
  EXPECT_THAT(
      rows(malloc, options),
      UnorderedElementsAre(Pair("main;open;alloc::vec::Vec<T>::push;__rust_alloc;kernel_alloc", 1),
                           Pair("main;open;kernel_alloc", 2),
                           Pair("main;read;kmalloc;kernel_alloc", 4), Pair("kernel_alloc", 8),
                           Pair("[no stack]", 16), Pair("main;read;<unknown:0x9000>", 32)));
}

TEST_F(AllocationsTest, PassingFunctionsMayHavePlacesOrNone) {
  alloc(0x10, 1, {"kernel_alloc", "kmalloc (slab.c:7)", "open (file.c:9)"});
  alloc(0x20, 2, {"kernel_alloc", "kmalloc", "read (file.c:3)"});
  const auto allocators = follow();
  ASSERT_TRUE(allocators);
  AllocationTableOptions options;
  options.passing = {"kmalloc"};
  options.names_have_places = true;
  EXPECT_THAT(rows(allocators->front(), options),
              ElementsAre(Pair("read (file.c:3)", 2), Pair("open (file.c:9)", 1)));
}

// Process 2 frees what process 1 has allocated.
TEST_F(AllocationsTest, WhatAFilterLeavesOutIsFollowedAllTheSame) {
  alloc(0x10, 1, {"malloc", "open"}, 1);
  alloc(0x20, 2, {"malloc", "open"}, 1);
  alloc(0x30, 4, {"malloc", "open"}, 2);
  free(0x10, 2);
  profile::Filter filter;
  filter.pids = {1};
  const auto allocators = follow({}, filter);
  ASSERT_TRUE(allocators);
  EXPECT_THAT(rows(allocators->front()), ElementsAre(Pair("open", 2)));
  EXPECT_EQ(allocators->front().blocks.total().live, (BlockAmount{2, 6}));
  EXPECT_EQ(allocators->front().blocks.events().all(), 4u);
}

TEST_F(AllocationsTest, AProfileHasTheStacksOfAValue) {
  alloc(0x10, 1, {"malloc", "open", "main"});
  alloc(0x20, 2, {"malloc", "read", "main"});
  alloc(0x30, 4, {"malloc", "?", "main"});
  free(0x20);
  const auto allocators = follow();
  ASSERT_TRUE(allocators);
  AllocationProfileOptions options;
  const auto made = make_allocation_profile(details(), allocators->front(), options);
  EXPECT_THAT(stacks(made),
              ElementsAre(Pair("main;<unknown:0x9000>;malloc", 4), Pair("main;open;malloc", 1)));
  EXPECT_EQ(made.unit, recording::WeightUnit::kBytes);
  EXPECT_EQ(made.value, "live");
  EXPECT_EQ(made.source, "malloc");
  EXPECT_EQ(made.weight_of(wire::Disposition::kSampled), 5);
  options.value = BlockValue::kAllocated;
  options.measure = BlockMeasure::kCount;
  options.maestro_names = true;
  EXPECT_THAT(stacks(make_allocation_profile(details(), allocators->front(), options)),
              ElementsAre(Pair("main;???;malloc", 1), Pair("main;open;malloc", 1),
                          Pair("main;read;malloc", 1)));
}

TEST_F(AllocationsTest, GrowthIsAlsoNegative) {
  alloc(0x10, 1, {"malloc", "open"});
  alloc(0x20, 2, {"malloc", "read"});
  free(0x20);
  alloc(0x30, 4, {"malloc", "open"});
  AllocationOptions options;
  options.since = TimeSpan{2, 1e-9};
  const auto allocators = follow(options);
  ASSERT_TRUE(allocators);
  const auto made =
      make_allocation_profile(details(), allocators->front(), {.value = BlockValue::kGrowth});
  EXPECT_THAT(stacks(made), ElementsAre(Pair("open;malloc", 4), Pair("read;malloc", -2)));
}

TEST_F(AllocationsTest, AllocatorsAreChosenByName) {
  alloc(0x10, 1, {"malloc"});
  add("buddy", AllocationOperation::kAlloc, 0x10, 4, {});
  AllocationOptions options;
  options.allocators = {"buddy"};
  const auto allocators = follow(options);
  ASSERT_TRUE(allocators);
  ASSERT_EQ(allocators->size(), 1u);
  EXPECT_EQ(allocators->front().name, "buddy");
  options.allocators = {"slab"};
  const auto none = follow(options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  EXPECT_THAT(none.error().message, HasSubstr("buddy, malloc"));
}

TEST_F(AllocationsTest, NamesAreChosenAsTheyAreShown) {
  alloc(0x10, 1, {"malloc"});
  add("", AllocationOperation::kAlloc, 0x10, 4, {});
  add("\x1b[31m", AllocationOperation::kAlloc, 0x10, 8, {});
  const auto all = follow();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3u);
  for (const Allocator& allocator : *all) {
    AllocationOptions options;
    options.allocators = {allocator.name};
    const auto found = follow(options);
    ASSERT_TRUE(found) << allocator.name;
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ(found->front().blocks.total().live, allocator.blocks.total().live);
  }
  AllocationOptions options;
  options.allocators = {"none"};
  const auto none = follow(options);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("[unnamed]"));
  EXPECT_EQ(none.error().message.find('\x1b'), std::string::npos);
}

// The events of other allocators in between do not count.
TEST_F(AllocationsTest, TimesInEventsAreTheAllocatorsOwn) {
  alloc(0x10, 1, {"a"});
  add("buddy", AllocationOperation::kAlloc, 0x1000, 1, {"b"});
  add("buddy", AllocationOperation::kFree, 0x1000, 1, {});
  alloc(0x20, 1, {"a"});
  free(0x10);
  AllocationOptions options;
  options.in_events = true;
  const auto found = follow(options);
  ASSERT_TRUE(found);
  const Allocator& malloc = found->at(0).name == "malloc" ? found->at(0) : found->at(1);
  EXPECT_EQ(malloc.end, 2u);
  EXPECT_EQ(malloc.blocks.peak_time(), 1u);
  EXPECT_EQ(malloc.blocks.total().lifetimes.sum, 2);
  EXPECT_EQ(malloc.blocks.total().ages.longest, 1u);
  EXPECT_EQ(malloc.clock.kind, recording::ClockKind::kEventNumber);
}

TEST_F(AllocationsTest, ARecordingWithoutAllocationsIsAnError) {
  const auto none = follow();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
}

TEST(TimeSpan, CountsSecondsWhereAClockDoes) {
  recording::Clock clock{0, recording::ClockKind::kHostMonotonic, "", 1'000'000'000};
  EXPECT_EQ(*ticks_of({2, 0}, clock), 2'000'000'000u);
  EXPECT_EQ(*ticks_of({2, 1e-3}, clock), 2'000'000u);
  clock = {1, recording::ClockKind::kEventNumber, "", 0};
  EXPECT_EQ(*ticks_of({200, 0}, clock), 200u);
  EXPECT_EQ(ticks_of({200, 1e-3}, clock).error().code, ErrorCode::kUsage);
  EXPECT_THAT(ticks_of({200, 1e-3}, clock).error().message, HasSubstr("has no times"));
  EXPECT_EQ(*ticks_of({200, 0}, clock, true), 200u);
  const auto refused = ticks_of({200, 1e-3}, clock, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("--in-events"));
}

}  // namespace
}  // namespace ringside::views
