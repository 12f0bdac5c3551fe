// The engine and its guardian against the QEMU that is installed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <numeric>

#include "base/testing/rivals.h"
#include "base/testing/time_limits.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/gdb/testing/qemu_process.h"

namespace ringside::engines::gdb {
namespace {

using testing::QemuProcess;

constexpr const char* kStop = "{\"execute\": \"stop\"}";
constexpr const char* kCont = "{\"execute\": \"cont\"}";

class Qemu : public ::testing::Test {
 protected:
  void boot(const std::vector<std::string>& extra = {}) {
    std::string why;
    qemu_ = QemuProcess::start(extra, why);
    if (!qemu_) GTEST_SKIP() << why;
  }
  std::unique_ptr<GdbEngine> attach() {
    auto engine = GdbEngine::connect({qemu_->gdb(), {}, {}});
    EXPECT_TRUE(engine) << engine.error().message;
    return engine ? std::move(*engine) : nullptr;
  }
  static Result<Tick> tick(GdbEngine& engine) {
    const std::vector<VcpuPlan> vcpus(engine.vcpu_count());
    return engine.tick({true, true, vcpus});
  }

  std::unique_ptr<QemuProcess> qemu_;
};

TEST_F(Qemu, TicksAndDetaches) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  auto engine = attach();
  ASSERT_TRUE(engine);
  EXPECT_TRUE(qemu_->runs());
  EXPECT_EQ(engine->vcpu_count(), 2u);
  for (int i = 0; i < 50; ++i) {
    const auto taken = tick(*engine);
    ASSERT_TRUE(taken) << taken.error().message;
    ASSERT_EQ(taken->captures.size() + taken->not_run, 2u);
    for (const wire::Capture& capture : taken->captures) {
      EXPECT_TRUE(capture.registers.has(arch::x86_64::kRip));
      EXPECT_TRUE(capture.registers.has(arch::x86_64::kCr3));
      EXPECT_EQ(capture.level, PrivilegeLevel::kFirmware);
    }
  }
  std::vector<std::byte> rom(64 * 1024 - 16);
  const auto read = engine->with_memory([&](const ReadMemory& memory) -> Result<void> {
    EXPECT_EQ(memory(VcpuId{1}, GuestVirt{0xffff0000}, rom).value_or(0), rom.size());
    std::array<std::byte, 16> reset{};
    EXPECT_EQ(memory(VcpuId{0}, GuestVirt{0xfffffff0}, reset).value_or(0), reset.size());
    EXPECT_EQ(reset[0], std::byte{0xea});  // the BIOS begins with a far jump
    return {};
  });
  EXPECT_TRUE(read);
  EXPECT_TRUE(qemu_->runs());
  engine.reset();
  EXPECT_TRUE(qemu_->runs());
  EXPECT_TRUE(attach());  // the stub is free again
}

// Judged by QEMU's own events, on a processor that others use too. The engine does not know when
// QEMU's answers were there, so the two wake-ups of its thread are not in what it says; where those
// take most of the time, there is another round.
TEST_F(Qemu, StandsStillForAsLongAsItSays) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  auto engine = attach();
  ASSERT_TRUE(engine);
  qemu_->stay_on_one_processor();
  const ringside::testing::Rivals rivals;
  const ringside::testing::OnOtherProcessors prompt;
  double said = 0;  // of what QEMU says
  for (int round = 0; round < 3 && (said < 0.25 || said > 1.5); ++round) {
    (void)qemu_->take_stops();
    const std::uint64_t before = engine->stood_still_ns();
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(tick(*engine));
      ::usleep(3000);
    }
    const std::vector<std::uint64_t> stops = qemu_->take_stops();
    const double stood_us = std::accumulate(stops.begin(), stops.end(), 0.0);
    said = static_cast<double>(engine->stood_still_ns() - before) / 1000 / stood_us;
  }
  EXPECT_GT(said, 0.25);
  EXPECT_LT(said, 1.5);
}

TEST_F(Qemu, FollowsItsUser) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  auto engine = attach();
  ASSERT_TRUE(engine);
  for (int i = 0; i < 20; ++i) {
    qemu_->qmp(kStop);
    const auto taken = tick(*engine);
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_TRUE(taken->captures.empty());
    EXPECT_FALSE(engine->guest_is_running().value_or(true));
    qemu_->qmp(kCont);
    EXPECT_TRUE(engine->guest_is_running().value_or(false));
    const auto next = tick(*engine);
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->captures.size() + next->not_run, 2u);
  }
  qemu_->qmp(kStop);
  engine.reset();
  EXPECT_TRUE(qemu_->stays_paused());
  engine = attach();
  ASSERT_TRUE(engine);
  EXPECT_FALSE(engine->guest_is_running().value_or(true));
  EXPECT_TRUE(qemu_->stays_paused());
}

TEST_F(Qemu, PrelaunchStaysSo) {
  ASSERT_NO_FATAL_FAILURE(boot({"-S"}));
  if (!qemu_) return;
  auto engine = attach();
  ASSERT_TRUE(engine);
  EXPECT_FALSE(engine->guest_is_running().value_or(true));
  EXPECT_TRUE(tick(*engine)->captures.empty());
  EXPECT_TRUE(qemu_->stays_paused());
  qemu_->qmp(kCont);
  EXPECT_TRUE(engine->guest_is_running().value_or(false));
  EXPECT_TRUE(qemu_->runs());
}

TEST_F(Qemu, ItsEndIsClosed) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  auto engine = attach();
  ASSERT_TRUE(engine);
  qemu_->kill();
  const auto taken = tick(*engine);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kClosed);
}

TEST_F(Qemu, RunsAfterADetachThatItHeardLate) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  for (int i = 0; i < 3; ++i) {
    auto engine = attach();
    ASSERT_TRUE(engine);
    qemu_->freeze();
    engine.reset();  // gives up after half a second
    qemu_->thaw();
    EXPECT_FALSE(qemu_->stays_paused());
    EXPECT_TRUE(qemu_->runs());
  }
}

// Where a Victim stays after its 20th tick.
enum class Stay {
  kNowhere,     // it ticks on
  kRunning,     // the guest runs, nothing is under way
  kStopped,     // the guest stands still
  kHalfPacket,  // the guest stands still, and half a request has been written
};

// A process that attaches, ticks, and is killed.
class Victim {
 public:
  Victim(QemuProcess& qemu, Stay stay) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      live(qemu, stay);
    }
    ::close(ends[1]);
    from_.reset(ends[0]);
  }
  ~Victim() { kill(); }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // The next line that it writes, or what came of it in time.
  std::string line() {
    std::string text;
    pollfd poll_fd{from_.get(), POLLIN, 0};
    char c = 0;
    const int patience_ms = static_cast<int>(ringside::testing::longest_step().count());
    while (::poll(&poll_fd, 1, patience_ms) > 0 && ::read(from_.get(), &c, 1) == 1 && c != '\n')
      text += c;
    return text;
  }
  // Kills its whole process group.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void live(QemuProcess& qemu, Stay stay) {
    UniqueFd socket = qemu.connect_gdb();
    const int stub = socket.get();
    auto engine = GdbEngine::attach(std::move(socket));
    if (!engine) ::_exit(1);
    const std::vector<VcpuPlan> vcpus((*engine)->vcpu_count());
    for (int ticks = 0; ticks < 20 || stay == Stay::kNowhere; ++ticks) {
      if (ticks == 5) (void)!::write(STDERR_FILENO, "ticking\n", 8);
      if (!(*engine)->tick({true, true, vcpus})) ::_exit(1);
      ::usleep(1000);
    }
    if (stay == Stay::kRunning) stay_for_ever();
    (void)(*engine)->with_memory([&](const ReadMemory&) -> Result<void> {
      if (stay == Stay::kHalfPacket) (void)!::write(stub, "$g", 2);
      stay_for_ever();
    });
    ::_exit(1);
  }
  [[noreturn]] static void stay_for_ever() {
    (void)!::write(STDERR_FILENO, "staying\n", 8);
    for (;;) ::pause();
  }

  pid_t pid_ = -1;
  UniqueFd from_;
};

TEST_F(Qemu, AKilledProfilerLeavesTheGuestRunning) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  for (const Stay stay : {Stay::kRunning, Stay::kStopped, Stay::kHalfPacket}) {
    for (int i = 0; i < 3; ++i) {
      Victim victim(*qemu_, stay);
      EXPECT_EQ(victim.line(), "ticking");
      EXPECT_EQ(victim.line(), "staying");
      EXPECT_EQ(qemu_->stays_paused(), stay != Stay::kRunning);
      victim.kill();
      EXPECT_TRUE(qemu_->runs()) << static_cast<int>(stay);
    }
  }
  for (int i = 0; i < 10; ++i) {  // anywhere in a tick
    Victim victim(*qemu_, Stay::kNowhere);
    EXPECT_EQ(victim.line(), "ticking");
    ::usleep(static_cast<useconds_t>(137 * i));
    victim.kill();
    EXPECT_TRUE(qemu_->runs());
  }
}

TEST_F(Qemu, AKilledProfilerLeavesAPausedGuestPaused) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  {
    Victim victim(*qemu_, Stay::kNowhere);
    EXPECT_EQ(victim.line(), "ticking");
    // QEMU forgets a stop that comes while a tick holds the guest: its user has to repeat it.
    bool stopped = false;
    for (int i = 0; i < 100 && !stopped; ++i) {
      qemu_->qmp(kStop);
      ::usleep(20'000);
      stopped = qemu_->stays_paused();
    }
    EXPECT_TRUE(stopped);
    victim.kill();
    EXPECT_TRUE(qemu_->stays_paused());
  }
  qemu_->qmp(kCont);
  {
    // Stopped while it holds still between two ticks: only the guardian can see it.
    Victim victim(*qemu_, Stay::kRunning);
    EXPECT_EQ(victim.line(), "ticking");
    EXPECT_EQ(victim.line(), "staying");
    qemu_->qmp(kStop);
    victim.kill();
    EXPECT_TRUE(qemu_->stays_paused());
  }
  qemu_->qmp(kCont);
  EXPECT_TRUE(qemu_->runs());
}

}  // namespace
}  // namespace ringside::engines::gdb
