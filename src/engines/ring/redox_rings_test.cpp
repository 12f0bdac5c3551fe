#include "engines/ring/redox_rings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engines/ring/testing/ring_guest.h"
#include "wire/guest_capture.h"
#include "wire/redox/ring_test_util.h"

namespace ringside::engines::ring {
namespace {

using testing::RingEngineTest;
using wire::redox::TrueSample;
using wire::redox::words_b;

constexpr std::uint64_t kSlice = 0x1000;
constexpr std::uint64_t kPointers = 0x1100;
constexpr std::uint64_t kStructure = 0x2000;  // of CPU 0, that of CPU 1 follows
constexpr std::uint64_t kBuffer = 0x10000;
constexpr std::uint64_t kWords = 1024;
constexpr std::uint64_t kCpus = 2;
constexpr std::uint64_t kTable = 0x3000;  // of contexts' names
constexpr std::uint64_t kBuf = 0, kTail = 8, kKernelSamples = 16, kUserSamples = 24;

// All of the memory but the first page is mapped where it is.
class Identity final : public memory::PageTables {
 public:
  Result<memory::PageWalk> walk(PhysicalMemory&, GuestVirt address) const override {
    constexpr std::uint64_t kPage = 4096;
    constexpr std::uint64_t kMemory = 0x8000000;
    memory::PageWalk walk;
    const bool is_mapped = address.value >= kPage && address.value < kMemory;
    walk.end = is_mapped ? memory::WalkEnd::kMapped : memory::WalkEnd::kNotPresent;
    walk.address = GuestPhys{address.value};
    walk.bytes = kPage - address.value % kPage;
    return walk;
  }
};

// A Redox kernel with two CPUs.
class RedoxRingsTest : public RingEngineTest {
 protected:
  RedoxRingsTest() {
    RedoxLayout layout;
    layout.place = GuestVirt{kSlice};
    layout.buf = kBuf;
    layout.tail = kTail;
    layout.nmi_kcount = kKernelSamples;
    layout.nmi_ucount = kUserSamples;
    layout.ring_words = kWords;
    redox_ = layout;
    page_tables_ = [] { return std::make_unique<Identity>(); };
    ram_.put(kSlice, kPointers);
    ram_.put(kSlice + 8, kCpus);
    for (std::uint64_t cpu = 0; cpu < kCpus; ++cpu) {
      set_pointer(cpu, structure(cpu));
      ram_.put(structure(cpu) + kBuf, kBuffer + cpu * kWords * 8);
      put_state(cpu);
    }
  }

  static std::uint64_t structure(std::uint64_t cpu) { return kStructure + cpu * 64; }
  void set_pointer(std::uint64_t cpu, std::uint64_t to) { ram_.put(kPointers + cpu * 8, to); }
  void put_state(std::uint64_t cpu) {
    ram_.put(structure(cpu) + kTail, tails_[cpu]);
    ram_.put(structure(cpu) + kKernelSamples, samples_[cpu]);
  }
  void put_sample(std::uint64_t cpu, std::uint32_t context = 0xffffffff) {
    TrueSample sample;
    sample.context = context;
    sample.pc = 0xffffffff80001000;
    sample.counter = ++time_;
    sample.callers = {0xffffffff80002000};
    for (const std::uint64_t word : words_b(sample))
      ram_.put(kBuffer + cpu * kWords * 8 + tails_[cpu]++ % kWords * 8, word);
    ++samples_[cpu];
    put_state(cpu);
  }
  // Captures of the CPUs until the engine has looked at the pointers again.
  std::vector<std::size_t> take_for_a_look() {
    std::vector<std::size_t> found(kCpus);
    constexpr int kTicks = 70;  // of 5 ms: a look is due after 250 ms
    for (int i = 0; i < kTicks; ++i) {
      const auto taken = tick();
      EXPECT_TRUE(taken) << taken.error().message;
      if (!taken) return found;
      for (const wire::Capture& capture : taken->captures) ++found.at(capture.vcpu.value);
    }
    return found;
  }

  // The contexts that the next captures have.
  std::vector<std::string> names() {
    std::vector<std::string> found;
    const std::uint64_t end = ringside::testing::step_end_ns();
    while (found.empty() && monotonic_ns() < end) {
      const auto taken = tick();
      EXPECT_TRUE(taken) << taken.error().message;
      if (!taken) return found;
      for (const wire::Capture& capture : taken->captures) {
        const auto task = wire::task_of(capture);
        found.emplace_back(task ? task->name : std::string_view("no task"));
      }
    }
    return found;
  }

  std::uint64_t tails_[kCpus] = {};
  std::uint64_t samples_[kCpus] = {};
  std::uint64_t time_ = 0;
};

using Captures = std::vector<std::size_t>;

TEST_F(RedoxRingsTest, GivesTheSamplesOfAllCpus) {
  put_sample(0);  // of before
  start();
  ASSERT_TRUE(engine_->has_rings());
  put_sample(0);
  put_sample(1);
  put_sample(1);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 2}));
  EXPECT_EQ(engine_->counts().due, 3u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
  EXPECT_EQ(engine_->counts().damaged, 0u);
}

TEST_F(RedoxRingsTest, ARingWhosePointerIsGoneEndsAndTheOthersGoOn) {
  start();
  put_sample(0);
  put_sample(1);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 1}));
  set_pointer(1, 0);
  EXPECT_EQ(take_for_a_look(), (Captures{0, 0}));
  put_sample(0);
  put_sample(1);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 0}));
  // It goes on where the pointer is there again.
  set_pointer(1, structure(1));
  EXPECT_EQ(take_for_a_look(), (Captures{0, 1}));
  EXPECT_EQ(engine_->counts().due, 4u);
}

// BUFS: null for CPUs that the machine has not, or that have not begun.
TEST_F(RedoxRingsTest, AnArrayHasRingsOfTheCpusThatHaveBegun) {
  redox_->place = GuestVirt{kPointers};
  redox_->array_size = 4;
  ram_.put(kSlice, 0);
  set_pointer(1, 0);
  start();
  ASSERT_TRUE(engine_->has_rings());
  put_sample(0);
  put_sample(1);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 0}));
  set_pointer(1, structure(1));
  take_for_a_look();
  put_sample(0);
  put_sample(1);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 1}));
  EXPECT_EQ(engine_->counts().damaged, 0u);
}

// A table of contexts' names, with one entry whose room is `buckets`, at that address.
void put_name(testing::RamWithRings& ram, std::uint64_t at, std::uint64_t buckets,
              std::uint32_t context, std::uint64_t letters) {
  constexpr std::uint64_t kEntryBytes = 40;
  ram.put(kTable, at + buckets * kEntryBytes);
  ram.put(kTable + 8, buckets - 1);
  ram.put(kTable + 16, 1);
  const std::uint64_t entry = at + (buckets - 1) * kEntryBytes;  // the first
  ram.put(entry, context | (std::uint64_t{8} << 32));
  ram.put(entry + 8, letters);
  ram.put(at + buckets * kEntryBytes, ~std::uint64_t{0xff} | 1);
}

// Before the samples of the same poll are taken, wherever the kernel has moved the table since.
TEST_F(RedoxRingsTest, ContextsHaveTheNamesThatTheKernelHasNow) {
  redox_->contexts = RedoxContextTable{{kTable}, 0, 8, 16, 40, 0, 4, 4, 8, 32};
  put_name(ram_, 0x20000, 4, 7, 0x6d61726774736966);  // "fistgram"
  start();
  put_sample(0, 7);
  put_sample(0, 8);
  EXPECT_EQ(names(), (std::vector<std::string>{"fistgram", ""}));
  put_name(ram_, 0x30000, 8, 7, 0x6d61726774736173);
  put_sample(0, 7);
  EXPECT_EQ(names(), std::vector<std::string>{"sastgram"});
  // One that lies nowhere takes the names along, and nothing else.
  put_name(ram_, 0x30000, 8, 7, 0x6d61726774736173);
  ram_.put(kTable, 0x7fff'ffff'f000);
  put_sample(0, 7);
  EXPECT_EQ(names(), std::vector<std::string>{""});
}

TEST_F(RedoxRingsTest, ASliceWithoutRingsEndsThemAndNotTheRecording) {
  start();
  put_sample(0);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 0}));
  // No slice, one of nothing, one beyond the memory, and no rings in it.
  for (const auto& [pointer, cpus] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, kCpus}, {kPointers, 0}, {0x7fff'ffff'f000, kCpus}, {0x3000, kCpus}}) {
    ram_.put(kSlice, pointer);
    ram_.put(kSlice + 8, cpus);
    EXPECT_EQ(take_for_a_look(), (Captures{0, 0})) << pointer;
    EXPECT_FALSE(engine_->has_rings());
  }
  ram_.put(kSlice, kPointers);
  ram_.put(kSlice + 8, kCpus);
  put_sample(0);
  for (int looks = 0; looks < 20 && !engine_->has_rings(); ++looks) take_for_a_look();
  EXPECT_TRUE(engine_->has_rings());
}

TEST_F(RedoxRingsTest, ACountThatCannotBeTrueIsDamagedAndNotLost) {
  start();
  put_sample(0);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 0}));
  const std::uint64_t before = samples_[0];
  samples_[0] = 88'000'000'000;
  put_sample(0);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 0}));
  EXPECT_EQ(engine_->counts().damaged, 1u);
  EXPECT_LE(engine_->counts().lost(), 1u);
  // Back to less is no count either.
  samples_[0] = before;
  put_sample(0);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 0}));
  EXPECT_EQ(engine_->counts().damaged, 2u);
  EXPECT_LE(engine_->counts().lost(), 1u);
  // Later losses count.
  samples_[0] += 500;
  put_sample(0);
  EXPECT_EQ(take_for_a_look(), (Captures{1, 0}));
  EXPECT_GE(engine_->counts().lost(), 490u);
  EXPECT_LE(engine_->counts().lost(), 501u);
}

}  // namespace
}  // namespace ringside::engines::ring
