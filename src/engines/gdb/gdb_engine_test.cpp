#include "engines/gdb/gdb_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/testing/time_limits.h"
#include "engines/gdb/testing/fake_stub.h"

namespace ringside::engines::gdb {
namespace {

using ::testing::ElementsAre;
using testing::FakeStub;
using ::testing::HasSubstr;
using wire::Disposition;
using wire::RecipeOpcode;
namespace x86 = arch::x86_64;

constexpr std::uint64_t kStack = 0xffffc90000001000;

const std::vector<wire::RecipeOp> kCopyFromRsp{{RecipeOpcode::kRegister, 0, x86::kRsp, 0, 0, 0, 0},
                                               {RecipeOpcode::kCopyStack, 0, 0, 0, 0, 0, 0}};

// A time-out that a test waits for; the fake stub has it for each answer, on a busy host too.
const std::chrono::milliseconds kShort = ringside::testing::scaled(std::chrono::milliseconds(400));

std::string page_of(char fill) { return std::string(4096, fill); }

struct Guest {
  explicit Guest(FakeStub::Settings settings, std::chrono::milliseconds timeout = kLong,
                 bool guardian = false)
      : stub(std::move(settings)) {
    UniqueFd client = stub.take_client();
    // The kernel's least, so that a stub that hangs soon takes no more.
    const int small = 1;
    ::setsockopt(client.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    Options options;
    options.patience.timeout = timeout;
    options.guardian = guardian;
    options.migration_watch.emplace([] { return std::vector<pid_t>{1}; },
                                    [] { return std::size_t{1}; });
    auto attached = GdbEngine::attach(std::move(client), options);
    EXPECT_TRUE(attached) << attached.error().message;
    if (attached) engine = std::move(*attached);
  }
  Result<Tick> tick(std::span<const wire::RecipeOp> recipe, bool kernel = true, bool user = true) {
    VcpuPlan vcpu{true, recipe, {}, {}};
    vcpu.kernel_budget.stack_bytes[0] = 512;
    vcpu.user_budget.stack_bytes[0] = 128;
    const std::vector<VcpuPlan> vcpus(engine->vcpu_count(), vcpu);
    return engine->tick({kernel, user, vcpus});
  }
  // The fake handles requests in its own thread.
  bool runs() {
    return ringside::testing::wait_until([this] { return stub.running(); });
  }

  static inline const auto kLong = ringside::testing::scaled(std::chrono::milliseconds(2000));
  FakeStub stub;
  std::unique_ptr<GdbEngine> engine;
};

FakeStub::Settings with_stacks() {
  FakeStub::Settings settings;
  settings.pages[kStack] = page_of('k');
  return settings;
}

TEST(GdbEngine, AttachLeavesARunningGuestRunning) {
  Guest guest(with_stacks());
  EXPECT_EQ(guest.engine->arch(), Arch::kX86_64);
  EXPECT_EQ(guest.engine->vcpu_count(), 2u);
  EXPECT_EQ(guest.engine->qemu_version(), "7.2.22");
  EXPECT_TRUE(guest.runs());
  guest.stub.forget_requests();
  EXPECT_TRUE(*guest.engine->guest_is_running());
  EXPECT_TRUE(guest.stub.requests().empty());  // not disturbed
  guest.engine.reset();
  EXPECT_TRUE(guest.runs());
  EXPECT_EQ(guest.stub.requests().back(), "D;1");
}

TEST(GdbEngine, AttachLeavesAPausedGuestPaused) {
  auto settings = with_stacks();
  settings.running = false;
  Guest guest(settings);
  EXPECT_FALSE(guest.stub.running());
  EXPECT_TRUE(guest.tick(kCopyFromRsp)->captures.empty());
  EXPECT_FALSE(*guest.engine->guest_is_running());
  EXPECT_FALSE(guest.stub.running());
  guest.stub.user_resumes();
  EXPECT_TRUE(*guest.engine->guest_is_running());
  EXPECT_TRUE(guest.runs());
  EXPECT_EQ(guest.tick(kCopyFromRsp)->captures.size(), 2u);
}

TEST(GdbEngine, DetachLeavesAPausedGuestPaused) {
  Guest guest(with_stacks());
  EXPECT_TRUE(guest.runs());
  guest.stub.user_stops();
  guest.engine.reset();
  ::usleep(20'000);
  EXPECT_FALSE(guest.stub.running());
}

TEST(GdbEngine, NewQemuDoesNotReportWhetherItRan) {
  auto settings = with_stacks();
  settings.running = false;
  settings.version = "9.2.0";
  EXPECT_TRUE(Guest(settings).runs());
  settings.status = "paused (prelaunch)";
  EXPECT_FALSE(Guest(settings).stub.running());
}

TEST(GdbEngine, TickTakesRegistersAndStacks) {
  auto settings = with_stacks();
  settings.vcpus[0].rsp = kStack + 0xf00;  // 256 bytes to the end of what is mapped
  settings.vcpus[1] = {0x401000, kStack, true, false, false};
  Guest guest(settings);
  const auto tick = guest.tick(kCopyFromRsp);
  ASSERT_TRUE(tick) << tick.error().message;
  ASSERT_EQ(tick->captures.size(), 2u);
  const wire::Capture& kernel = tick->captures[0];
  EXPECT_EQ(kernel.level, PrivilegeLevel::kKernel);
  EXPECT_EQ(kernel.registers.get(x86::kRip), 0xffffffff81000000u);
  EXPECT_EQ(kernel.registers.get(x86::kCr3), 0x1234000u);  // by `p`
  ASSERT_EQ(kernel.pieces.size(), 1u);
  EXPECT_EQ(kernel.pieces[0].requested, 512u);
  EXPECT_EQ(kernel.pieces[0].size, 256u);
  EXPECT_EQ(kernel.bytes[255], std::byte{'k'});
  const wire::Capture& user = tick->captures[1];
  EXPECT_EQ(user.level, PrivilegeLevel::kUser);
  EXPECT_EQ(user.pieces[0].size, 128u);
  EXPECT_GT(tick->pause_ns, 0u);
  EXPECT_TRUE(guest.runs());
}

TEST(GdbEngine, ATickNeedsTwoRoundTrips) {
  Guest guest(with_stacks());
  ASSERT_TRUE(guest.tick(kCopyFromRsp));
  guest.stub.forget_requests();
  ASSERT_TRUE(guest.tick(kCopyFromRsp));
  EXPECT_TRUE(guest.runs());
  // Each stop chooses its vCPU anew; its last choice holds for the next wave.
  EXPECT_THAT(guest.stub.requests(),
              ElementsAre("Hgp01.01", "g", "p46", "qThreadExtraInfo,p01.01", "Hgp01.02", "g", "p46",
                          "qThreadExtraInfo,p01.02", "mffffc90000001000,200", "Hgp01.01",
                          "mffffc90000001000,200", "c"));
}

TEST(GdbEngine, HaltedVcpusAreIdleAndNotCopied) {
  auto settings = with_stacks();
  settings.vcpus[1].halted = true;
  Guest guest(settings);
  const auto tick = guest.tick(kCopyFromRsp);
  ASSERT_TRUE(tick);
  EXPECT_EQ(tick->captures[0].disposition, Disposition::kSampled);
  EXPECT_EQ(tick->captures[1].disposition, Disposition::kIdle);
  EXPECT_TRUE(tick->captures[1].pieces.empty());
}

TEST(GdbEngine, WhatIsNotAskedForIsSkipped) {
  auto settings = with_stacks();
  settings.vcpus[1].user = true;
  settings.vcpus.push_back({});
  settings.vcpus[2].firmware = true;
  Guest guest(settings);
  const auto kernel_only = guest.tick(kCopyFromRsp, true, false);
  ASSERT_TRUE(kernel_only);
  EXPECT_EQ(kernel_only->captures[0].disposition, Disposition::kSampled);
  EXPECT_EQ(kernel_only->captures[1].disposition, Disposition::kSkipped);
  EXPECT_EQ(kernel_only->captures[2].level, PrivilegeLevel::kFirmware);
  EXPECT_TRUE(kernel_only->captures[2].pieces.empty());
  const auto user_only = guest.tick(kCopyFromRsp, false, true);
  ASSERT_TRUE(user_only);
  EXPECT_EQ(user_only->captures[0].disposition, Disposition::kSkipped);
  EXPECT_EQ(user_only->captures[1].disposition, Disposition::kSampled);
  const auto none = guest.engine->tick({true, true, {}});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->captures[0].disposition, Disposition::kSkipped);
  EXPECT_EQ(none->pause_ns, 0u);
}

TEST(GdbEngine, LoadsOfAllVcpusShareAWave) {
  auto settings = with_stacks();
  const std::uint64_t next = 0xffffc90000008000;
  settings.pages[next] = page_of('n');
  for (int i = 0; i < 8; ++i) settings.pages[kStack][i] = static_cast<char>(next >> 8 * i);
  settings.vcpus[1].rsp = 0x5000;  // not mapped: its load skips the copy
  Guest guest(settings);
  ASSERT_TRUE(guest.tick({}));
  guest.stub.forget_requests();
  const std::vector<wire::RecipeOp> follow{
      {RecipeOpcode::kRegister, 0, x86::kRsp, 0, 0, 0, 0},
      {RecipeOpcode::kLoad, 1, 0, 8, 1, 0, 0},
      {RecipeOpcode::kCopy, 0, 1, 1, 0, 0, 16},
  };
  const auto tick = guest.tick(follow);
  ASSERT_TRUE(tick);
  ASSERT_EQ(tick->captures[0].pieces.size(), 1u);
  EXPECT_EQ(tick->captures[0].pieces[0].address.value, next);
  EXPECT_EQ(tick->captures[0].bytes_of(tick->captures[0].pieces[0])[0], std::byte{'n'});
  EXPECT_TRUE(tick->captures[1].pieces.empty());
}

TEST(GdbEngine, ReadsAStackWhereItIsMappedElsewhere) {
  auto settings = with_stacks();
  const std::uint64_t elsewhere = 0xffffc90000008000;
  settings.pages[elsewhere] = page_of('e');
  Guest guest(settings);
  const std::vector<wire::RecipeOp> recipe{{RecipeOpcode::kSet, 0, 0, 0, 0, 0, 0x7ff000ff0},
                                           {RecipeOpcode::kSet, 1, 0, 0, 0, 0, elsewhere + 0xff0},
                                           {RecipeOpcode::kCopyStackAt, 1, 0, 2, 0, 0, 0x1000}};
  const auto tick = guest.tick(recipe);
  ASSERT_TRUE(tick);
  const wire::Capture& capture = tick->captures[0];
  ASSERT_EQ(capture.pieces.size(), 1u);
  EXPECT_EQ(capture.pieces[0].address.value, 0x7ff000ff0u);
  ASSERT_EQ(capture.bytes_of(capture.pieces[0]).size(), 16u);
  EXPECT_EQ(capture.bytes_of(capture.pieces[0])[15], std::byte{'e'});
}

TEST(GdbEngine, BinaryReadsWhereTheStubHasThem) {
  auto settings = with_stacks();
  settings.binary_reads = true;
  settings.pages[kStack] = page_of('}');
  Guest guest(settings);
  const auto tick = guest.tick(kCopyFromRsp);
  ASSERT_TRUE(tick);
  ASSERT_EQ(tick->captures[0].bytes.size(), 512u);
  EXPECT_EQ(tick->captures[0].bytes[511], std::byte{'}'});
  EXPECT_THAT(guest.stub.requests(), ::testing::Contains("xffffc90000001000,200"));
}

FakeStub::Settings with_silent_stops() {
  auto settings = with_stacks();
  settings.version = "10.0.2 (fake)";
  settings.silent_stops = true;
  return settings;
}

class GdbEngineUser : public ::testing::TestWithParam<bool> {
 protected:
  static FakeStub::Settings settings() { return GetParam() ? with_silent_stops() : with_stacks(); }
};

TEST_P(GdbEngineUser, MayStopAndResumeTheGuest) {
  Guest guest(settings());
  ASSERT_TRUE(guest.tick(kCopyFromRsp));
  ASSERT_TRUE(guest.runs());
  guest.stub.user_stops();
  const auto tick = guest.tick(kCopyFromRsp);
  ASSERT_TRUE(tick) << tick.error().message;
  EXPECT_TRUE(tick->captures.empty());
  EXPECT_FALSE(*guest.engine->guest_is_running());
  guest.stub.user_resumes();
  EXPECT_TRUE(*guest.engine->guest_is_running());
  EXPECT_EQ(guest.tick(kCopyFromRsp)->captures.size(), 2u);
}

// Between the polls for stop replies and the request, so that only the answers can show it.
TEST_P(GdbEngineUser, MayStopTheGuestJustBeforeASample) {
  Guest guest(settings());
  ASSERT_TRUE(guest.runs());
  guest.stub.hang(true);
  std::thread user([&] {
    ::usleep(20'000);
    guest.stub.user_stops();
    guest.stub.hang(false);
  });
  const auto tick = guest.tick(kCopyFromRsp);
  user.join();
  ASSERT_TRUE(tick) << tick.error().message;
  EXPECT_TRUE(tick->captures.empty());
  EXPECT_FALSE(guest.stub.running());
}

// A sample that reads nothing after the registers: its last write must not lose the continue.
TEST_P(GdbEngineUser, MayResumeTheGuestBeforeASamplesEnd) {
  Guest guest(settings());
  ASSERT_TRUE(guest.runs());
  guest.stub.user_resumes_after("qThreadExtraInfo,p01.02");  // the last of the registers
  EXPECT_EQ(guest.tick({}).error().code, ErrorCode::kDisturbed);
  EXPECT_TRUE(guest.runs());
  const auto tick = guest.tick({});
  ASSERT_TRUE(tick) << tick.error().message;
  EXPECT_EQ(tick->captures.size(), 2u);
  EXPECT_TRUE(guest.runs());
}

TEST_P(GdbEngineUser, MayResumeTheGuestInASample) {
  Guest guest(settings());
  ASSERT_TRUE(guest.runs());
  std::array<std::byte, 16> bytes{};
  const auto read = guest.engine->with_memory([&](const ReadMemory& memory) -> Result<void> {
    guest.stub.user_resumes();
    const auto got = memory(VcpuId{0}, GuestVirt{kStack}, bytes);
    EXPECT_FALSE(got);
    // It runs now: one more request would stop it.
    EXPECT_EQ(memory(VcpuId{0}, GuestVirt{kStack}, bytes).error().code, ErrorCode::kUsage);
    return {};
  });
  EXPECT_TRUE(guest.runs());
  const auto tick = guest.tick(kCopyFromRsp);
  ASSERT_TRUE(tick) << tick.error().message;
  EXPECT_EQ(tick->captures.size(), 2u);
  EXPECT_TRUE(guest.runs());
}

INSTANTIATE_TEST_SUITE_P(SilentStops, GdbEngineUser, ::testing::Bool());

TEST(GdbEngine, WithMemoryReadsUpToWhatIsNotMapped) {
  auto settings = with_stacks();
  settings.pages[kStack + 0x1000] = page_of('2');
  Guest guest(settings);
  std::vector<std::byte> bytes(3 * 4096);
  const auto read = guest.engine->with_memory([&](const ReadMemory& memory) -> Result<void> {
    const auto got = memory(VcpuId{1}, GuestVirt{kStack + 8}, bytes);
    EXPECT_EQ(got, 8192u - 8);
    EXPECT_EQ(memory(VcpuId{0}, GuestVirt{0x10}, bytes), 0u);
    EXPECT_FALSE(memory(VcpuId{7}, GuestVirt{0x10}, bytes));
    return fail(ErrorCode::kUsage, "the caller's own");
  });
  EXPECT_EQ(bytes[8000], std::byte{'2'});
  EXPECT_EQ(read.error().message, "the caller's own");
  EXPECT_TRUE(guest.runs());
}

TEST(GdbEngine, AHeldGuestIsNotStoppedAgain) {
  Guest guest(with_silent_stops());
  ASSERT_TRUE(guest.runs());
  const auto read = guest.engine->with_memory([&](const ReadMemory& memory) -> Result<void> {
    EXPECT_EQ(guest.tick(kCopyFromRsp).error().code, ErrorCode::kUsage);
    std::array<std::byte, 16> bytes{};
    EXPECT_EQ(memory(VcpuId{0}, GuestVirt{kStack}, bytes), bytes.size());
    return {};
  });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(guest.runs());
}

TEST(GdbEngine, AStubThatDiesInMidSample) {
  for (int at = 0; at < 8; ++at) {
    auto settings = with_stacks();
    settings.die_at = at;
    Guest guest(settings);
    const auto tick = guest.tick(kCopyFromRsp);
    ASSERT_FALSE(tick) << at;
    EXPECT_EQ(tick.error().code, ErrorCode::kClosed) << tick.error().message;
  }
}

TEST(GdbEngine, ABrokenAnswerCostsOneTick) {
  for (int at = 0; at < 8; ++at) {
    auto settings = with_stacks();
    settings.corrupt_at = at;
    Guest guest(settings);
    const auto broken = guest.tick(kCopyFromRsp);
    ASSERT_FALSE(broken) << at;
    EXPECT_EQ(broken.error().code, ErrorCode::kProtocol);
    EXPECT_TRUE(guest.runs()) << at;
    const auto next = guest.tick(kCopyFromRsp);
    ASSERT_TRUE(next) << at << next.error().message;
    EXPECT_EQ(next->captures[0].bytes.size(), 512u);
  }
}

TEST(GdbEngine, AMissingAnswerTimesOutAndTheGuestRuns) {
  for (int at = 0; at < 8; ++at) {
    auto settings = with_stacks();
    settings.ignore_at = at;
    Guest guest(settings, kShort);
    const auto tick = guest.tick(kCopyFromRsp);
    ASSERT_FALSE(tick) << at;
    EXPECT_EQ(tick.error().code, ErrorCode::kTimeout);
    EXPECT_TRUE(guest.runs()) << at;
  }
}

// So many that the requests of one tick, 20 KiB, do not fit into the socket.
FakeStub::Settings with_many_vcpus() {
  auto settings = with_stacks();
  settings.vcpus.resize(400);
  return settings;
}

// Long enough for a tick of many vCPUs under ThreadSanitizer.
const auto kHalfSentPatience = ringside::testing::scaled(std::chrono::milliseconds(1000));

TEST(GdbEngine, AHalfSentRequestEndsWithADetach) {
  Guest guest(with_many_vcpus(), kHalfSentPatience);
  ASSERT_TRUE(guest.tick(kCopyFromRsp));
  ASSERT_TRUE(guest.runs());
  guest.stub.hang(true);
  std::thread later([&] {
    // The request has timed out, and the detach has not: that has half a second.
    std::this_thread::sleep_for(kHalfSentPatience + std::chrono::milliseconds(250));
    guest.stub.hang(false);
  });
  const auto tick = guest.tick(kCopyFromRsp);
  later.join();
  ASSERT_FALSE(tick);
  EXPECT_EQ(tick.error().code, ErrorCode::kTimeout) << tick.error().message;
  EXPECT_EQ(guest.stub.requests().back(), "D;1");
  EXPECT_TRUE(guest.runs());
  EXPECT_EQ(guest.tick(kCopyFromRsp).error().code, ErrorCode::kProtocol);
  guest.engine.reset();
  EXPECT_TRUE(guest.runs());
}

TEST(GdbEngine, AHalfSentRequestIsLeftToTheGuardian) {
  Guest guest(with_many_vcpus(), kHalfSentPatience, true);
  ASSERT_TRUE(guest.runs());
  guest.stub.hang(true);
  const auto tick = guest.tick(kCopyFromRsp);
  ASSERT_FALSE(tick);
  EXPECT_EQ(tick.error().code, ErrorCode::kTimeout) << tick.error().message;
  guest.engine.reset();
  guest.stub.hang(false);
  EXPECT_TRUE(guest.runs());
}

TEST(GdbEngine, ALateDetachIsLeftToTheGuardian) {
  Guest guest(with_stacks(), Guest::kLong, true);
  ASSERT_TRUE(guest.runs());
  guest.stub.hang(true);
  guest.engine.reset();
  guest.stub.hang(false);
  EXPECT_TRUE(guest.runs());
  ::usleep(20'000);
  EXPECT_TRUE(guest.stub.running());
  const auto requests = guest.stub.requests();
  EXPECT_EQ(std::count(requests.begin(), requests.end(), "D;1"), 1);
}

// Ctrl-C while an answer is waited for, at each step of the handshake and behind it: a guest that
// ran runs on, one that its user has paused stays so.
class InterruptedAttach : public ::testing::TestWithParam<FakeStub::Settings> {};

TEST_P(InterruptedAttach, LeavesTheGuestAsItWas) {
  Options options;
  options.patience.timeout = Guest::kLong;
  options.patience.is_over = [] { return true; };
  options.guardian = true;
  int steps = 0;
  for (bool attached = false; !attached; ++steps) {
    ASSERT_LT(steps, 100);
    auto settings = GetParam();
    settings.hang_after = steps;
    FakeStub stub(settings);
    auto engine = GdbEngine::attach(stub.take_client(), options);
    attached = engine.has_value();
    if (!attached) {
      EXPECT_EQ(engine.error().code, ErrorCode::kDisturbed) << steps;
    }
    if (attached) engine->reset();
    stub.hang(false);
    if (settings.running) {
      EXPECT_TRUE(ringside::testing::wait_until([&] { return stub.running(); })) << steps;
    } else {
      ::usleep(50'000);
      EXPECT_FALSE(stub.running()) << steps;
    }
  }
  EXPECT_GT(steps, 8);
}

FakeStub::Settings paused_by_its_user() {
  FakeStub::Settings settings = with_stacks();
  settings.running = false;
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Stubs, InterruptedAttach,
                         ::testing::Values(with_stacks(), with_silent_stops(),
                                           paused_by_its_user()));

TEST(GdbEngine, AStubThatForgetsItsVcpuMixesNothing) {
  auto settings = with_stacks();
  settings.forgets_vcpu = true;
  const std::uint64_t other = 0xffffc90000008000;
  settings.pages[other] = page_of('o');
  settings.vcpus[1] = {0xffffffff81000001, other};
  Guest guest(settings);
  for (int i = 0; i < 6; ++i) {
    const auto tick = guest.tick(kCopyFromRsp);
    ASSERT_TRUE(tick) << tick.error().message;
    for (std::size_t n = 0; n < 2; ++n) {
      const wire::Capture& capture = tick->captures[n];
      EXPECT_EQ(capture.registers.get(x86::kRip), 0xffffffff81000000 + n);
      EXPECT_EQ(capture.registers.get(x86::kRsp), n == 0 ? kStack : other);
      ASSERT_EQ(capture.bytes.size(), 512u);
      EXPECT_EQ(capture.bytes[0], std::byte(n == 0 ? 'k' : 'o'));
    }
    EXPECT_TRUE(guest.runs());
  }
  // The second one alone, after a stop that chose the first.
  std::vector<VcpuPlan> vcpus(2);
  vcpus[0].wanted = false;
  const auto tick = guest.engine->tick({true, true, vcpus});
  ASSERT_TRUE(tick);
  EXPECT_EQ(tick->captures[1].registers.get(x86::kRip), 0xffffffff81000001);
}

TEST(GdbEngine, TheGuestsEndIsClosed) {
  Guest guest(with_stacks());
  guest.stub.exits();
  const auto tick = guest.tick(kCopyFromRsp);
  ASSERT_FALSE(tick);
  EXPECT_EQ(tick.error().code, ErrorCode::kClosed);
  EXPECT_THAT(tick.error().message, HasSubstr("the guest has ended"));
}

TEST(GdbEngine, APlainStubIsAskedStepByStep) {
  auto settings = with_stacks();
  settings.qemu = false;
  settings.vcpus.resize(1);
  settings.running = false;
  Guest guest(settings);
  const auto tick = guest.tick(kCopyFromRsp);
  ASSERT_TRUE(tick) << tick.error().message;
  EXPECT_EQ(tick->captures[0].registers.get(x86::kRsp), kStack);
  EXPECT_FALSE(tick->captures[0].registers.has(x86::kRbx));
  EXPECT_EQ(tick->captures[0].bytes.size(), 512u);
  EXPECT_TRUE(guest.runs());
}

// Attaches an engine to a socket whose other end sends `text` and nothing else.
Result<std::unique_ptr<GdbEngine>> attach_to(std::string_view text, bool close = false) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  UniqueFd server(ends[1]);
  (void)::send(server.get(), text.data(), text.size(), 0);
  if (close) server.reset();
  Options options;
  options.patience.timeout = std::chrono::milliseconds(150);
  return GdbEngine::attach(UniqueFd(ends[0]), options);
}

TEST(GdbEngine, WhatIsNotAStubIsNamed) {
  const auto qmp = attach_to("{\"QMP\": {\"version\": {}, \"capabilities\": [\"oob\"]}}\r\n");
  ASSERT_FALSE(qmp);
  EXPECT_EQ(qmp.error().code, ErrorCode::kProtocol);
  EXPECT_THAT(qmp.error().message, HasSubstr("QMP monitor"));
  const auto http = attach_to("HTTP/1.1 400 Bad Request\r\n\r\n");
  ASSERT_FALSE(http);
  EXPECT_THAT(http.error().message, HasSubstr("'HTTP/1.1 400 Bad Request....'"));
  const auto silence = attach_to("");
  ASSERT_FALSE(silence);
  EXPECT_EQ(silence.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(silence.error().message, HasSubstr("no gdb stub answers"));
  const auto gone = attach_to("", true);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kClosed);
}

}  // namespace
}  // namespace ringside::engines::gdb
