#include "engines/tcg/tcg_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/shrunk_files.h"
#include "engines/tcg/testing/fake_plugin.h"
#include "wire/record.h"

namespace ringside::engines::tcg {
namespace {

using testing::FakePlugin;
using ::testing::HasSubstr;

wire::Capture sample(std::uint16_t vcpu, std::uint64_t time_ns, std::size_t bytes = 100) {
  wire::Capture capture;
  capture.vcpu = VcpuId{vcpu};
  capture.arch = Arch::kX86_64;
  capture.level = PrivilegeLevel::kKernel;
  capture.host_time_ns = time_ns;
  capture.registers.set(arch::x86_64::kRip, 0xffffffff81000000 + time_ns);
  capture.bytes.resize(bytes, std::byte(time_ns));
  const auto size = static_cast<std::uint32_t>(bytes);
  capture.pieces.push_back({GuestVirt{0x1000}, wire::PieceKind::kCurrentStack, size, 0, size});
  return capture;
}

std::unique_ptr<TcgEngine> connect(const FakePlugin& plugin) {
  auto engine = TcgEngine::connect(plugin.path(), std::nullopt);
  EXPECT_TRUE(engine) << (engine ? "" : engine.error().message);
  return engine ? std::move(*engine) : nullptr;
}

TEST(RingMap, WhatIsNoRingIsRefused) {
  EXPECT_EQ(RingMap::open("/nonexistent/ring").error().code, ErrorCode::kNotFound);
  const FakePlugin plugin(1);
  for (const std::uint32_t vcpus : {0u, 2u, 1000000u}) {
    plugin.header().vcpus = vcpus;
    EXPECT_EQ(RingMap::open(plugin.path()).error().code, ErrorCode::kFormat) << vcpus;
  }
  plugin.header().vcpus = 1;
  plugin.header().ring_bytes = 3 * 4096;  // no power of two
  EXPECT_EQ(RingMap::open(plugin.path()).error().code, ErrorCode::kFormat);
  plugin.header().ring_bytes = 64 * 1024;
  plugin.header().magic = 0x65706f6e;
  EXPECT_EQ(RingMap::open(plugin.path()).error().code, ErrorCode::kFormat);
  plugin.header().magic = 0;  // the plugin writes it last
  EXPECT_EQ(RingMap::open(plugin.path()).error().code, ErrorCode::kNotFound);
}

std::string refusal(const FakePlugin& plugin) {
  const auto ring = RingMap::open(plugin.path());
  return ring ? "" : ring.error().message;
}

TEST(RingMap, APluginOfAnotherReleaseIsRefusedInWords) {
  const FakePlugin plugin(1);
  for (const std::uint32_t version : {5u, 9u}) {
    plugin.header().version = version;
    EXPECT_THAT(refusal(plugin), HasSubstr("version " + std::to_string(version) + " of the ring"));
    EXPECT_THAT(refusal(plugin), HasSubstr("reads version 6"));
  }
  plugin.header().version = wire::kRingVersion;
  plugin.header().sizes.vcpu += 8;
  EXPECT_THAT(refusal(plugin), HasSubstr("of the same release"));
  plugin.header().sizes = wire::kRingSizes;
  plugin.header().demands = 0x40;
  EXPECT_THAT(refusal(plugin), HasSubstr("(bits 0x40)"));
  plugin.header().demands = 0;
  EXPECT_EQ(refusal(plugin), "");
}

// It has more sources and counters than this ringside makes use of, and can do more.
TEST(RingMap, APluginThatHasMoreIsRead) {
  FakePlugin plugin({.vcpus = 2, .ring_bytes = 64 * 1024, .sources = 40, .counters = 1000});
  plugin.header().features = ~0u;
  auto ring = RingMap::open(plugin.path());
  ASSERT_TRUE(ring) << ring.error().message;
  plugin.counter(1, wire::RingCounter::kDelayedTicks) = 7;
  EXPECT_EQ(ring->counter(1, wire::RingCounter::kDelayedTicks), 7u);
  ASSERT_TRUE(plugin.put(sample(1, 3)));
  wire::Capture capture;
  ASSERT_TRUE(ring->next(1, capture)->has_value());
  EXPECT_EQ(capture.host_time_ns, 3u);
}

TEST(TcgEngine, APluginThatCannotWaitDoesNotRunInLockstep) {
  const FakePlugin plugin(1);
  plugin.header().features = 0;
  const auto engine = connect(plugin);
  ASSERT_TRUE(engine->start({1000, true, 1, false}));
  EXPECT_THAT(engine->start({1000, true, 1, true}).error().message, HasSubstr("cannot wait"));
}

TEST(RingMap, ReadsEvents) {
  FakePlugin plugin(1);
  plugin.clock().kind = wire::RecordKind::kEvent;
  auto ring = RingMap::open(plugin.path());
  const std::array<std::uint64_t, 3> values{5, 0, ~std::uint64_t{0}};
  ASSERT_TRUE(plugin.put(
      wire::Event{VcpuId{0}, Arch::kI386, PrivilegeLevel::kUser, 17, std::span(values)}));
  wire::Capture unused;
  const auto record = ring->next(0, unused);
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->bytes, 24u + 3 * 8);
  EXPECT_EQ((*record)->level, PrivilegeLevel::kUser);
  EXPECT_EQ((*record)->host_time_ns, 17u);
  ASSERT_EQ((*record)->values(), 3u);
  EXPECT_EQ((*record)->value(0), 5u);
  EXPECT_EQ((*record)->value(2), ~std::uint64_t{0});
}

// The sequence shows how many are missing, and the plugin has counted as many.
TEST(RingMap, LostRecordsAreMissingInTheSequence) {
  FakePlugin plugin(1, 4096);
  auto ring = RingMap::open(plugin.path());
  wire::Capture capture;
  std::vector<std::uint32_t> read;
  std::uint64_t lost = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t n = 0; n < 20; ++n) lost += plugin.put(sample(0, n, 600)) ? 0u : 1u;
    while (true) {
      const auto record = ring->next(0, capture);
      ASSERT_TRUE(record) << record.error().message;
      if (!*record) break;
      read.push_back((*record)->origin.sequence);
    }
    ring->release();
  }
  ASSERT_GT(lost, 30u);
  EXPECT_EQ(plugin.clock_state(0).lost, lost);
  EXPECT_EQ(read.size() + lost, 60u);
  EXPECT_EQ(read.back() + 1 - read.size() + (59 - read.back()), lost);
}

TEST(RingMap, MissingRecordsThatNobodyCountedAreDamage) {
  FakePlugin plugin(2);
  auto ring = RingMap::open(plugin.path());
  wire::Capture capture;
  ASSERT_TRUE(plugin.put(sample(0, 1)));
  ASSERT_TRUE(ring->next(0, capture)->has_value());
  ++plugin.clock_state(0).sequence;
  ASSERT_TRUE(plugin.put(sample(0, 2)));
  EXPECT_EQ(ring->next(0, capture).error().code, ErrorCode::kFormat);
  // One comes again.
  ASSERT_TRUE(plugin.put(sample(1, 1)));
  ASSERT_TRUE(ring->next(1, capture)->has_value());
  --plugin.clock_state(1).sequence;
  ASSERT_TRUE(plugin.put(sample(1, 2)));
  EXPECT_EQ(ring->next(1, capture).error().code, ErrorCode::kFormat);
}

// A later ringside counts from where it came.
TEST(RingMap, WhatWasLostBeforeIsNotMissing) {
  FakePlugin plugin(1, 4096);
  while (plugin.put(sample(0, 1, 600))) {
  }
  auto ring = RingMap::open(plugin.path());
  wire::Capture capture;
  ASSERT_TRUE(plugin.put(sample(0, 2, 600)));
  ASSERT_TRUE(ring->next(0, capture)->has_value());
  plugin.clock_state(0).sequence += 1;  // nobody has counted it
  ASSERT_TRUE(plugin.put(sample(0, 3, 600)));
  EXPECT_EQ(ring->next(0, capture).error().code, ErrorCode::kFormat);
}

TEST(RingMap, WakesAVcpuThatWaits) {
  FakePlugin plugin(1);
  auto ring = RingMap::open(plugin.path());
  ring->release();
  EXPECT_EQ(plugin.header().doorbell, 0u);
  plugin.header().waiting = 1;
  ring->release();
  EXPECT_EQ(plugin.header().doorbell, 1u);
}

// Its file becomes shorter, or empty: no SIGBUS, neither where it is read nor where it is written.
TEST(RingMap, AFileThatShrinksIsDamaged) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "its atomic operations hold a lock while the fault comes, and the handler's wait "
                  "for it";
#endif
#endif
  for (const std::uintmax_t left : {4096u, 0u}) {
    FakePlugin plugin(1);
    auto ring = RingMap::open(plugin.path());
    ASSERT_TRUE(ring) << ring.error().message;
    ASSERT_TRUE(plugin.put(sample(0, 1)));
    wire::Capture capture;
    ASSERT_TRUE(ring->next(0, capture)->has_value());
    std::filesystem::resize_file(plugin.path(), left);
    ring->release();
    ring->ring_doorbell();
    EXPECT_EQ(ring->next(0, capture).error().code, ErrorCode::kFormat);
    EXPECT_THAT(take_shrunk_files(), ::testing::ElementsAre(plugin.path().string()));
  }
}

TEST(RingMap, TakesRecordsAcrossTheEndOfTheRing) {
  FakePlugin plugin(1, 4096);
  auto ring = RingMap::open(plugin.path());
  ASSERT_TRUE(ring);
  wire::Capture taken;
  // 300 records of some 700 bytes go round a ring of 4096 many times.
  for (std::uint64_t i = 1; i <= 300; ++i) {
    ASSERT_TRUE(plugin.put(sample(0, i, 600))) << i;
    ASSERT_TRUE(ring->next(0, taken)->has_value()) << i;
    EXPECT_EQ(taken.host_time_ns, i);
    EXPECT_EQ(taken.bytes.back(), std::byte(i));
    ring->release();
  }
  EXPECT_FALSE(ring->next(0, taken)->has_value());
}

TEST(RingMap, RoomIsGivenBackByReleaseOnly) {
  FakePlugin plugin(1, 4096);
  auto ring = RingMap::open(plugin.path());
  wire::Capture taken;
  std::uint64_t time = 0;
  while (plugin.put(sample(0, ++time, 600))) {
  }
  ASSERT_GE(time, 4u);
  while (ring->next(0, taken)->has_value()) {
  }
  EXPECT_FALSE(plugin.put(sample(0, 99, 600)));
  ring->release();
  EXPECT_TRUE(plugin.put(sample(0, 99, 600)));
}

TEST(RingMap, ADamagedRingIsAnError) {
  FakePlugin plugin(2);
  auto ring = RingMap::open(plugin.path());
  wire::Capture taken;
  ASSERT_TRUE(plugin.put(sample(0, 1)));
  plugin.ring(0)[0] = std::byte{3};  // its length: not even a multiple of 8
  EXPECT_EQ(ring->next(0, taken).error().code, ErrorCode::kFormat);
  ASSERT_TRUE(plugin.put(sample(1, 1)));
  plugin.vcpu(1).head += 1u << 30;  // more than the ring holds
  EXPECT_EQ(ring->next(1, taken).error().code, ErrorCode::kFormat);
}

TEST(TcgEngine, GivesWhatWasSampledInOrderOfTime) {
  FakePlugin plugin(2);
  const auto engine = connect(plugin);
  ASSERT_TRUE(engine);
  ASSERT_TRUE(engine->start({1'000'000, true, 1, false}));
  EXPECT_EQ(plugin.header().interval, 1'000'000u);
  EXPECT_EQ(plugin.clock().enabled, 1u);
  EXPECT_EQ(plugin.clock().backpressure, wire::Backpressure::kDrop);
  for (const std::uint64_t time : {10u, 30u}) ASSERT_TRUE(plugin.put(sample(0, time)));
  for (const std::uint64_t time : {20u, 40u}) ASSERT_TRUE(plugin.put(sample(1, time)));
  plugin.counter(1, wire::RingCounter::kIdleTicks) += 7;
  plugin.counter(0, wire::RingCounter::kSkippedTicks) += 2;
  plugin.counter(0, wire::RingCounter::kLostTicks) += 3;
  plugin.counter(1, wire::RingCounter::kStolenTicks) += 5;
  plugin.counter(0, wire::RingCounter::kDueTicks) += 2 + 2 + 3;
  plugin.counter(1, wire::RingCounter::kDueTicks) +=
      2 + 7 + 5 + 1;  // one that the vCPU has not come to yet
  const auto tick = engine->tick({});
  ASSERT_TRUE(tick);
  std::vector<std::uint64_t> times;
  std::uint64_t idle = 0;
  std::uint64_t skipped = 0;
  for (const wire::Capture& capture : tick->captures) {
    if (capture.disposition == wire::Disposition::kSampled) times.push_back(capture.host_time_ns);
    if (capture.disposition == wire::Disposition::kIdle) idle += capture.weight;
    if (capture.disposition == wire::Disposition::kSkipped) skipped += capture.weight;
  }
  EXPECT_THAT(times, ::testing::ElementsAre(10, 20, 30, 40));
  EXPECT_EQ(idle, 7u);
  EXPECT_EQ(skipped, 2u);
  EXPECT_EQ(engine->counts().due, 4u + 7 + 2 + 3 + 5 + 1);
  EXPECT_EQ(engine->counts().lost(), 3u + 5 + 1);
  EXPECT_EQ(engine->counts().stolen, 5u);
  EXPECT_EQ(engine->counts().ring_full, 3u);
  EXPECT_EQ(engine->counts().delayed, 1u);
  engine->stop();
  EXPECT_EQ(plugin.clock().enabled, 0u);
}

TEST(TcgEngine, ATickOfAnEarlierRingsideIsDueWhereItsSampleComesLater) {
  FakePlugin plugin(2);
  plugin.counter(0, wire::RingCounter::kDueTicks) += 1;
  plugin.counter(1, wire::RingCounter::kDueTicks) += 2;
  const auto engine = connect(plugin);
  ASSERT_TRUE(engine);
  ASSERT_TRUE(engine->start({1'000'000, true, 1, false}));
  ASSERT_TRUE(plugin.put(sample(0, 10)));
  plugin.counter(1, wire::RingCounter::kStolenTicks) += 2;
  ASSERT_TRUE(engine->tick({}));
  EXPECT_EQ(engine->counts().due, 3u);
  EXPECT_EQ(engine->counts().lost(), 2u);
  plugin.counter(1, wire::RingCounter::kDueTicks) += 1;
  EXPECT_EQ(engine->counts().due, 4u);
  EXPECT_EQ(engine->counts().delayed, 1u);
}

TEST(TcgEngine, WhatWasSampledIsThereAfterTheEndOfQemu) {
  FakePlugin plugin(1);
  const auto engine = connect(plugin);
  ASSERT_TRUE(engine);
  ASSERT_TRUE(plugin.put(sample(0, 1)));
  plugin.die();
  const auto last = engine->tick({});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->captures.size(), 1u);
  EXPECT_EQ(engine->tick({}).error().code, ErrorCode::kClosed);
}

TEST(TcgEngine, InLockstepASampleIsHeldUntilTheNextTick) {
  FakePlugin plugin(1);
  const auto engine = connect(plugin);
  ASSERT_TRUE(engine->start({1000, true, 1, true}));
  EXPECT_EQ(plugin.clock().backpressure, wire::Backpressure::kLockstep);
  ASSERT_TRUE(plugin.put(sample(0, 1)));
  ASSERT_EQ(engine->tick({})->captures.size(), 1u);
  EXPECT_NE(plugin.vcpu(0).tail, plugin.vcpu(0).head);
  (void)engine->tick({});
  EXPECT_EQ(plugin.vcpu(0).tail, plugin.vcpu(0).head);
}

TEST(TcgEngine, SendsAPlanWhenItIsAnotherOne) {
  FakePlugin plugin(2);
  const auto engine = connect(plugin);
  std::vector<wire::RecipeOp> recipe(3);
  recipe[1].imm = 42;
  std::vector<VcpuPlan> vcpus{
      {.wanted = true, .recipe = recipe, .kernel_budget = {}, .user_budget = {}}};
  TickPlan plan{.kernel = true, .user = false, .vcpus = vcpus, .recipe_arch = Arch::kX86_64};
  (void)engine->tick(plan);
  std::uint32_t seen = 0;
  wire::RingPlan got;
  ASSERT_TRUE(plugin.vcpu(0).plan.load_newer(seen, got));
  EXPECT_EQ(got.wanted, 1u);
  EXPECT_EQ(got.user, 0u);
  EXPECT_EQ(got.ops, 3u);
  EXPECT_EQ(got.recipe[1].imm, 42u);
  (void)engine->tick(plan);
  EXPECT_FALSE(plugin.vcpu(0).plan.load_newer(seen, got));
  vcpus[0].kernel_budget.loads = 5;
  (void)engine->tick(plan);
  ASSERT_TRUE(plugin.vcpu(0).plan.load_newer(seen, got));
  EXPECT_EQ(got.kernel_budget.loads, 5u);
  std::uint32_t seen_behind = 0;
  ASSERT_TRUE(plugin.vcpu(1).plan.load_newer(seen_behind, got));
  EXPECT_EQ(got.wanted, 0u);  // behind the end of the plan
}

// A vCPU that has claimed its request has seconds to answer. One that claims it later must do so
// within ringside's patience, in which a busy host may not run its thread.
void claim_next(const FakePlugin& plugin) {
  plugin.header().claimed = plugin.header().requested + 1;
}

// Answers one request as a vCPU does that has `size` bytes mapped.
void answer_one(const FakePlugin& plugin, std::uint32_t size) {
  const std::uint32_t before = plugin.header().answered;
  while (plugin.header().requested == before) std::this_thread::yield();
  const std::uint32_t got = std::min<std::uint32_t>(plugin.header().request_bytes, size);
  for (std::uint32_t i = 0; i < got; ++i) plugin.mailbox()[i] = std::byte(i);
  plugin.header().answer_bytes = got;
  plugin.header().answered = plugin.header().requested.load();
}

TEST(TcgEngine, ReadsMemoryThroughAVcpu) {
  FakePlugin plugin(1);
  plugin.vcpu(0).online = 1;
  const auto engine = connect(plugin);
  std::array<std::byte, 8> bytes{};
  claim_next(plugin);
  std::thread vcpu([&] { answer_one(plugin, 8); });
  EXPECT_EQ(*engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0x401000}, bytes), 8u);
  vcpu.join();
  EXPECT_EQ(bytes[7], std::byte{7});
  EXPECT_EQ(plugin.header().request_address, 0x401000u);
  EXPECT_EQ(plugin.header().request, wire::MailboxRequest::kMemory);
}

TEST(TcgEngine, AVcpuThatSleepsIsNotWaitedForForEver) {
  FakePlugin plugin(1);
  plugin.vcpu(0).online = 1;
  const auto engine = connect(plugin);
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(*engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0xffffffff81000000}, bytes),
            0u);
  EXPECT_EQ(plugin.header().claimed, plugin.header().requested);  // taken back
  EXPECT_EQ(engine->read_registers(VcpuId{0}).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(engine->read_registers(VcpuId{1}).error().code, ErrorCode::kUsage);
}

TEST(TcgEngine, AnAnswerThatHasBegunIsWaitedFor) {
  FakePlugin plugin(1);
  plugin.vcpu(0).online = 1;
  const auto engine = connect(plugin);
  std::array<std::byte, 8> bytes{};
  claim_next(plugin);
  std::thread vcpu([&] {
    while (plugin.header().requested == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // longer than ringside's patience
    plugin.mailbox()[0] = std::byte{7};
    plugin.header().answer_bytes = 8;
    plugin.header().answered = plugin.header().requested.load();
  });
  EXPECT_EQ(*engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0x401000}, bytes), 8u);
  vcpu.join();
  EXPECT_EQ(bytes[0], std::byte{7});
}

TEST(TcgEngine, ARecipeThatIsTooLongIsAnError) {
  const FakePlugin plugin(1);
  const auto engine = connect(plugin);
  const std::vector<wire::RecipeOp> recipe(wire::kMaxRecipeOps + 1);
  const std::vector<VcpuPlan> vcpus{
      {.wanted = true, .recipe = recipe, .kernel_budget = {}, .user_budget = {}}};
  EXPECT_EQ(engine->tick({true, true, vcpus, Arch::kX86_64}).error().code, ErrorCode::kUnsupported);
}

TEST(TcgEngine, ASecondReaderIsRefused) {
  const FakePlugin plugin(1);
  const auto engine = connect(plugin);
  // A lock is the process's: another one has to ask.
  const pid_t child = ::fork();
  if (child == 0) {
    const auto second = RingMap::open(plugin.path());
    ::_exit(second ? 1 : second.error().code == ErrorCode::kUsage ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ringside::engines::tcg
