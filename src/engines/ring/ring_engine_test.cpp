#include "engines/ring/ring_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>

#include "engines/testing/fake_engine.h"
#include "wire/guest_capture.h"
#include "wire/testing/guest_rings.h"

namespace ringside::engines::ring {
namespace {

using engines::testing::FakeEngine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wire::testing::GuestRings;
using wire::testing::the_time;

constexpr std::uint64_t kPlace = 0x4000000;  // of the rings in RAM
constexpr std::uint64_t kLaterPlace = 0x3000000;
constexpr std::uint64_t kGuestPage = 4096;

// RAM with the rings of this process at one place, as a guest has them that maps nothing; or from
// `first_bytes` on at another, as a guest has them whose pages lie here and there; and what else was put to its
// beginning.
class RamWithRings final : public PhysicalMemory {
 public:
  Result<std::size_t> read_up_to(GuestPhys address, std::span<std::byte> destination) override {
    constexpr std::uint64_t kBytes = 0x8000000;
    if (error) return tl::unexpected<Error>(*error);
    if (address.value >= kBytes) return 0;
    const std::size_t size = std::min<std::uint64_t>(kBytes - address.value, destination.size());
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = offset_at(address.value + i);
      destination[i] = at ? rings->bytes()[*at] : std::byte{0};
      if (address.value + i < low.size()) destination[i] = low[address.value + i];
    }
    return size;
  }
  void put(std::uint64_t at, std::uint64_t value) {
    if (low.size() < at + sizeof(value)) low.resize(at + sizeof(value));
    std::memcpy(low.data() + at, &value, sizeof(value));
  }
  [[nodiscard]] GuestPhys place_of(std::uint64_t offset) const {
    return GuestPhys{offset < first_bytes ? kPlace + offset : kLaterPlace + offset - first_bytes};
  }
  std::vector<std::byte> low;
  const GuestRings* rings = nullptr;
  std::uint64_t first_bytes = ~std::uint64_t{0};
  std::uint64_t mapped_bytes_behind = 0;  // the place of the rings: they are a copy there
  std::optional<Error> error;

 private:
  [[nodiscard]] std::optional<std::uint64_t> offset_at(std::uint64_t address) const {
    if (rings == nullptr) return std::nullopt;
    const std::uint64_t size = rings->bytes().size();
    if (address >= kPlace && address - kPlace < std::min(first_bytes, size))
      return address - kPlace;
    if (first_bytes < size && address >= kLaterPlace && address - kLaterPlace < size - first_bytes)
      return address - kLaterPlace + first_bytes;
    return std::nullopt;
  }
};

// A machine's own page tables, where the rings are.
class RingTables final : public memory::PageTables {
 public:
  explicit RingTables(const RamWithRings& ram) : ram_(ram) {}
  Result<memory::PageWalk> walk(PhysicalMemory&, GuestVirt address) const override {
    memory::PageWalk walk;
    const std::uint64_t offset = address.value - ram_.rings->area().self.value;
    walk.bytes = kGuestPage - offset % kGuestPage;
    walk.end = memory::WalkEnd::kNotPresent;
    if (offset >= ram_.rings->bytes().size()) return walk;
    walk.end = memory::WalkEnd::kMapped;
    walk.address = ram_.place_of(offset) + ram_.mapped_bytes_behind;
    return walk;
  }

 private:
  const RamWithRings& ram_;
};

class RingEngineTest : public ::testing::Test {
 protected:
  // An engine that has looked for rings.
  void start() {
    auto way_in = std::make_unique<FakeEngine>(2);
    way_in->physical = &ram_;
    way_in->no_registers = way_in_error_;
    if (machine_walks_) way_in->page_tables = [this] { return std::make_unique<RingTables>(ram_); };
    way_in->registers = registers_;
    way_in_ = way_in.get();
    RingOptions options;
    options.from_boot = from_boot_;
    auto made = RingEngine::make(std::move(way_in), options);
    ASSERT_TRUE(made);
    engine_ = std::move(*made);
    vcpus_.resize(2);
    ASSERT_TRUE(tick());
    ASSERT_TRUE(engine_->start({}));
  }
  [[nodiscard]] Result<Tick> tick() {
    TickPlan plan;
    plan.vcpus = vcpus_;
    return engine_->tick(plan);
  }

  RamWithRings ram_;
  bool machine_walks_ = false;
  bool from_boot_ = false;
  arch::Registers registers_;  // no paging, unless a test has it
  FakeEngine* way_in_ = nullptr;
  std::optional<Error> way_in_error_;  // of its registers
  std::unique_ptr<RingEngine> engine_;
  std::vector<VcpuPlan> vcpus_;
};

TEST_F(RingEngineTest, GivesSamplesOfAllRingsInOrderOfTime) {
  const GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  wire::testing::put_sample(0, 1, 3);  // of before
  start();
  ASSERT_TRUE(engine_->has_rings());
  wire::testing::put_sample(1, 5, 2);
  wire::testing::put_sample(0, 6, 2);
  ringside_sample(1, RINGSIDE_TIMER, nullptr, nullptr, nullptr);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->captures.size(), 3u);
  std::vector<unsigned> vcpus;
  std::uint64_t last = 0;
  for (const wire::Capture& capture : taken->captures) {
    vcpus.push_back(capture.vcpu.value);
    EXPECT_GE(capture.host_time_ns, last);
    last = capture.host_time_ns;
  }
  EXPECT_THAT(vcpus, ElementsAre(1, 0, 1));
  EXPECT_LE(last, monotonic_ns());
  const auto task = wire::task_of(taken->captures[0]);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->pid, 5u);
  EXPECT_EQ(task->name, "worker");
  EXPECT_EQ(taken->captures[2].disposition, wire::Disposition::kIdle);
  EXPECT_EQ(engine_->counts().due, 3u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
}

TEST_F(RingEngineTest, WhatThePlanDoesNotWantIsSkipped) {
  const GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  vcpus_[1].wanted = false;
  wire::testing::put_sample(1, 5, 2);
  wire::testing::put_sample(0, 6, 2);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->captures.size(), 2u);
  EXPECT_EQ(taken->captures[0].disposition, wire::Disposition::kSkipped);
  EXPECT_EQ(taken->captures[1].disposition, wire::Disposition::kSampled);
}

// Their registers do not say where the page tables are, and the machine does.
TEST_F(RingEngineTest, ReadsRingsWhosePagesLieHereAndThere) {
  const GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  ram_.first_bytes = 2 * kGuestPage;
  machine_walks_ = true;
  start();
  ASSERT_TRUE(engine_->has_rings());
  wire::testing::put_sample(0, 5, 3);
  wire::testing::put_sample(1, 6, 3);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 2u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
}

// A copy of an area is not where the area says that it is.
TEST_F(RingEngineTest, TakesNoAreaThatIsMappedElsewhere) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  machine_walks_ = true;
  ram_.mapped_bytes_behind = kGuestPage;
  start();
  EXPECT_FALSE(engine_->has_rings());
}

TEST_F(RingEngineTest, PassesOnAllocationsAndEvents) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  const std::int64_t number = 7;
  ringside_event(0, "switch", &number, 1, nullptr, nullptr);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->events.size(), 1u);
  const auto record = wire::read_guest_record(taken->events[0].words);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->event.name, "switch");
  EXPECT_FALSE(taken->reporter);  // it has no stack
}

// A guest that reports events only shows its kernel by what reports them.
TEST_F(RingEngineTest, EventsShowTheCodeThatReportsThem) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  const wire::testing::TrueStack stack(3, 2);
  ringside_event(0, "switch", nullptr, 0, nullptr, &stack.stack);
  ringside_event(0, "switch", nullptr, 0, nullptr, nullptr);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  ASSERT_TRUE(taken->reporter);
  EXPECT_EQ(taken->reporter->registers.get(arch::x86_64::kRip), stack.frames[0]);
  EXPECT_EQ(taken->reporter->level, PrivilegeLevel::kKernel);
  wire::testing::put_sample(0, 1, 2);
  ringside_event(0, "switch", nullptr, 0, nullptr, &stack.stack);
  EXPECT_FALSE(tick()->reporter);
}

TEST_F(RingEngineTest, FindsRingsThatComeLater) {
  start();
  EXPECT_FALSE(engine_->has_rings());
  EXPECT_THAT(engine_->explain_silence(), HasSubstr("no rings were found"));
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  const std::uint64_t end = monotonic_ns() + 5'000'000'000;
  while (!engine_->has_rings() && monotonic_ns() < end) ASSERT_TRUE(tick());
  EXPECT_TRUE(engine_->has_rings());
}

// They are the recording's from their beginning, and so is what they have lost.
TEST_F(RingEngineTest, ReadsAllOfRingsThatAreNew) {
  start();
  ASSERT_TRUE(tick());  // looks once more, and finds none
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  for (std::uint32_t id = 1; id <= 100; ++id) wire::testing::put_sample(0, id, 8);
  ram_.rings = &rings;
  std::size_t captures = 0;
  const std::uint64_t end = monotonic_ns() + 5'000'000'000;
  while (captures == 0 && monotonic_ns() < end) {
    const auto taken = tick();
    ASSERT_TRUE(taken);
    for (const wire::Capture& capture : taken->captures)
      captures += capture.disposition == wire::Disposition::kSampled ? 1 : 0;
  }
  EXPECT_EQ(captures, 64u);
  EXPECT_EQ(engine_->counts().due, 100u);
  EXPECT_EQ(engine_->counts().overwritten, 36u);
}

// A guest that ringside has started may have booted before it is attached.
TEST_F(RingEngineTest, ReadsAllSinceTheBootOfItsOwnGuest) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  wire::testing::put_sample(0, 1, 8);
  ram_.rings = &rings;
  from_boot_ = true;
  start();
  wire::testing::put_sample(0, 2, 8);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 2u);
}

// There is no other time to look for them.
TEST_F(RingEngineTest, FindsNewRingsAtTheEnd) {
  start();
  ASSERT_TRUE(tick());
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  wire::testing::put_sample(0, 1, 8);
  ram_.rings = &rings;
  engine_->stop();
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 1u);
}

// What was there before the start is not.
TEST_F(RingEngineTest, LeavesOutWhatRingsHadBeforeTheStart) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  way_in_error_ = Error{ErrorCode::kTimeout, "the vCPU does not answer"};
  start();
  EXPECT_FALSE(engine_->has_rings());
  wire::testing::put_sample(0, 1, 8);
  way_in_->no_registers.reset();
  const std::uint64_t end = monotonic_ns() + 5'000'000'000;
  while (!engine_->has_rings() && monotonic_ns() < end) {
    const auto taken = tick();
    ASSERT_TRUE(taken);
    EXPECT_TRUE(taken->captures.empty());
  }
  EXPECT_TRUE(engine_->has_rings());
}

TEST_F(RingEngineTest, TheLastSamplesComeAfterTheEnd) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 6, 2);
  engine_->stop();
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 1u);
}

// A record whose first word is missing, as while a writer is at it.
class HalfWritten {
 public:
  explicit HalfWritten(GuestRings& rings) : at_(rings.writable().data() + rings.area().ring_at(0)) {
    std::memcpy(&word_, at_, sizeof(word_));
    std::memset(at_, 0, sizeof(word_));
  }
  void end() const { std::memcpy(at_, &word_, sizeof(word_)); }

 private:
  std::byte* at_;
  std::uint64_t word_ = 0;
};

TEST_F(RingEngineTest, WaitsAtTheEndForARecordThatIsBeingWritten) {
  GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 6, 2);
  HalfWritten half(rings);
  std::thread writer([&] {
    sleep_ns(5'000'000);
    half.end();
  });
  engine_->stop();
  const auto taken = tick();
  writer.join();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 1u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
}

TEST_F(RingEngineTest, ARecordThatIsNeverWholeIsLost) {
  GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 6, 2);
  const HalfWritten half(rings);
  engine_->stop();
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 0u);
  EXPECT_EQ(engine_->counts().lost(), 1u);
}

// 64 records of 16 words are a ring's words.
TEST_F(RingEngineTest, CountsWhatIsOverwritten) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 0, 8);
  ASSERT_TRUE(tick());
  for (std::uint32_t id = 1; id <= 100; ++id) wire::testing::put_sample(0, id, 8);
  ASSERT_TRUE(tick());
  EXPECT_EQ(engine_->counts().due, 101u);
  EXPECT_EQ(engine_->counts().overwritten, 36u);
  EXPECT_EQ(engine_->counts().no_room, 0u);
}

TEST_F(RingEngineTest, AGuestWithoutPhysicalMemoryIsExplained) {
  auto made = RingEngine::make(std::make_unique<FakeEngine>(1), {});
  ASSERT_TRUE(made);
  ASSERT_TRUE((*made)->tick({}));
  EXPECT_THAT((*made)->explain_silence(), HasSubstr("the guest's rings cannot be read"));
}

// With page-table isolation user code has other page tables, of which these map nothing.
TEST_F(RingEngineTest, FindsRingsWhileUserCodeRuns) {
  using namespace arch::x86_64;
  constexpr std::uint64_t kKernels = 0x2000, kUsers = 0x3000, kPresent = 1;
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  const std::uint64_t self = rings.area().self.value;
  const auto index = [self](unsigned shift) { return (self >> shift & 0x1ff) * 8; };
  ram_.put(kKernels + index(39), 0x4000 | kPresent);
  ram_.put(0x4000 + index(30), 0x5000 | kPresent);
  ram_.put(0x5000 + index(21), 0x6000 | kPresent);
  for (std::uint64_t offset = 0; offset < rings.bytes().size(); offset += 0x1000)
    ram_.put(0x6000 + index(12) + offset / 0x1000 * 8, (kPlace + offset) | kPresent);
  registers_.set(kCr0, 0x80000001);
  registers_.set(kCr4, 0x20);
  registers_.set(kEfer, 0x500);
  for (const auto& [root, is_found] :
       {std::pair(kKernels, true), {kUsers, true}, {0x1000ul, false}, {0x4000ul, false}}) {
    registers_.set(kCr3, root);
    start();
    EXPECT_EQ(engine_->has_rings(), is_found) << root;
  }
}

// More CPUs than the machine has are no CPUs.
TEST_F(RingEngineTest, ReadsNoMoreRingsThanThereAreVcpus) {
  const GuestRings rings(64, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(1, 5, 2);
  wire::testing::put_sample(2, 6, 2);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->captures.size(), 1u);
  EXPECT_EQ(taken->captures[0].vcpu, VcpuId{1});
}

TEST_F(RingEngineTest, AnErrorOfTheMemoryIsTheTicks) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  ram_.error = Error{ErrorCode::kClosed, "QEMU has ended"};
  const auto taken = tick();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kClosed);
}

// Bytes of the magic may lie anywhere, and another version may come.
TEST_F(RingEngineTest, AnAreaThatCannotBeReadIsExplained) {
  GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  rings.writable()[16] = std::byte{2};
  ram_.rings = &rings;
  start();
  ASSERT_TRUE(tick());
  EXPECT_FALSE(engine_->has_rings());
  EXPECT_THAT(engine_->explain_silence(), HasSubstr("the guest's rings have version 2"));
}

}  // namespace
}  // namespace ringside::engines::ring
