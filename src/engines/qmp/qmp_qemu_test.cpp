// The engine against the QEMU that is installed.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "base/testing/rivals.h"
#include "base/testing/time_limits.h"
#include "engines/gdb/testing/qemu_process.h"
#include "engines/qmp/qmp_engine.h"

namespace ringside::engines::qmp {
namespace {

using gdb::testing::QemuProcess;

class QmpQemu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ringside-qmp-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::string why;
    qemu_ = QemuProcess::start({"-qmp", "unix:" + socket() + ",server=on,wait=off"}, why);
    if (!qemu_) GTEST_SKIP() << why;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string socket() const { return folder_ + "/second"; }
  [[nodiscard]] ::testing::AssertionResult has_stub() const {
    const std::string devices = qemu_->qmp("{\"execute\": \"query-chardev\"}");
    const bool found = devices.find("\"label\": \"gdb\"") != std::string::npos;
    return ::testing::AssertionResult(found) << devices;
  }
  [[nodiscard]] Result<std::unique_ptr<QmpEngine>> attach() const {
    return attach(socket(), folder_);
  }
  static Result<std::unique_ptr<QmpEngine>> attach(const std::string& socket,
                                                   const std::string& folder) {
    RINGSIDE_ASSIGN(auto monitor,
                    Monitor::connect({socket, {}, {}}, {ringside::testing::longest_step()}));
    return QmpEngine::attach(monitor, folder);
  }
  static void take_ticks(QmpEngine& engine) {
    const std::vector<VcpuPlan> vcpus(engine.vcpu_count());
    for (int i = 0; i < 20; ++i) {
      const auto taken = engine.tick({true, true, vcpus});
      ASSERT_TRUE(taken) << taken.error().message;
      ASSERT_EQ(taken->captures.size() + taken->not_run, 2u);
    }
  }

  std::string folder_;
  std::unique_ptr<QemuProcess> qemu_;
};

TEST_F(QmpQemu, OpensAStubOfItsOwnAndClosesIt) {
  if (!qemu_) return;
  (void)qemu_->hmp("gdbserver none");
  ASSERT_FALSE(has_stub());
  for (int round = 0; round < 3; ++round) {
    auto engine = attach();
    ASSERT_TRUE(engine) << engine.error().message;
    EXPECT_TRUE(has_stub());
    EXPECT_TRUE(qemu_->runs());
    take_ticks(**engine);
    engine->reset();
    EXPECT_FALSE(has_stub());
    EXPECT_TRUE(qemu_->runs());
  }
}

// The stub is given up in its handshake, when its connection has stopped the guest or is about to.
TEST_F(QmpQemu, AStubThatIsGivenUpLeavesTheGuestRunning) {
  if (!qemu_) return;
  (void)qemu_->hmp("gdbserver none");
  for (int round = 0; round < 20; ++round) {
    auto monitor = Monitor::connect({socket(), {}, {}}, {ringside::testing::longest_step()});
    ASSERT_TRUE(monitor) << monitor.error().message;
    gdb::Options options;
    options.patience.timeout = std::chrono::milliseconds(round / 4);
    const auto engine = QmpEngine::attach(*monitor, folder_, options);
    ::usleep(50'000);
    ASSERT_TRUE(qemu_->runs()) << "round " << round;
  }
}

TEST_F(QmpQemu, LeavesAPausedGuestPaused) {
  if (!qemu_) return;
  (void)qemu_->hmp("gdbserver none");
  (void)qemu_->qmp("{\"execute\": \"stop\"}");
  auto engine = attach();
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_FALSE((*engine)->guest_is_running().value());
  const std::vector<VcpuPlan> vcpus((*engine)->vcpu_count());
  EXPECT_TRUE((*engine)->tick({true, true, vcpus})->captures.empty());
  engine->reset();
  EXPECT_TRUE(qemu_->stays_paused());
}

// QEMU's own figures, on a busy host, too: from when a stop took hold until the guest went on.
TEST_F(QmpQemu, CountsHowLongTheGuestStood) {
  if (!qemu_) return;
  (void)qemu_->hmp("gdbserver none");
  (void)qemu_->take_stops();
  qemu_->stay_on_one_processor();
  auto engine = attach();
  ASSERT_TRUE(engine) << engine.error().message;
  {
    const ringside::testing::Rivals rivals;
    take_ticks(**engine);
  }
  // Its user's stop is not for us.
  const std::vector<VcpuPlan> vcpus((*engine)->vcpu_count());
  (void)qemu_->qmp("{\"execute\": \"stop\"}");
  EXPECT_EQ((*engine)->tick({true, true, vcpus})->left_alone, LeftAlone::kPaused);
  const std::vector<std::uint64_t> ours = qemu_->take_stops();
  ::usleep(100'000);
  (void)qemu_->qmp("{\"execute\": \"cont\"}");
  EXPECT_TRUE((*engine)->guest_is_running().value());
  EXPECT_EQ((*engine)->tick({true, true, vcpus})->left_alone, LeftAlone::kNo);
  const double stood_us = std::accumulate(ours.begin(), ours.end(), 0.0);
  // A thread of ours or QEMU's may wait for the processor between a stop and its event, once.
  constexpr double kOneWaitUs = 2000;
  EXPECT_NEAR(static_cast<double>((*engine)->stood_still_ns()) / 1000, stood_us,
              stood_us / 20 + kOneWaitUs);
}

TEST_F(QmpQemu, LeavesAUsersStubAlone) {
  if (!qemu_) return;
  const auto engine = attach();
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(engine.error().message.find("unix:/"), std::string::npos) << engine.error().message;
  EXPECT_TRUE(has_stub());
  EXPECT_TRUE(qemu_->connect_gdb().valid());
}

TEST_F(QmpQemu, KnowsAStubByTheCommandLine) {
  if (!qemu_) return;
  std::string why;
  const std::string monitor = folder_ + "/third";
  const auto other =
      QemuProcess::start({"-qmp", "unix:" + monitor + ",server=on,wait=off", "-chardev",
                          "socket,id=debugger,path=" + folder_ + "/debugger,server=on,wait=off",
                          "-gdb", "chardev:debugger"},
                         why, "qemu-system-x86_64", QemuProcess::Stub::kNone);
  ASSERT_TRUE(other) << why;
  const auto engine = attach(monitor, folder_);
  ASSERT_FALSE(engine);
  EXPECT_NE(engine.error().message.find("/debugger"), std::string::npos) << engine.error().message;
}

TEST_F(QmpQemu, TakesThePlaceOfWhatAKilledRingsideLeft) {
  if (!qemu_) return;
  (void)qemu_->hmp("gdbserver none");
  (void)qemu_->hmp("gdbserver unix:" + folder_ + "/ringside-stub,server=on,wait=off");
  ASSERT_TRUE(has_stub());
  auto engine = attach();
  ASSERT_TRUE(engine) << engine.error().message;
  take_ticks(**engine);
  engine->reset();
  EXPECT_FALSE(has_stub());
  EXPECT_TRUE(qemu_->runs());
}

TEST_F(QmpQemu, SaysWhyThereIsNoStub) {
  if (!qemu_) return;
  (void)qemu_->hmp("gdbserver none");
  const auto engine = attach(socket(), folder_ + "/not/there");
  ASSERT_FALSE(engine);
  EXPECT_NE(engine.error().message.find("/not/there/ringside-stub"), std::string::npos);
  EXPECT_NE(engine.error().message.find("No such file"), std::string::npos)
      << engine.error().message;
  EXPECT_TRUE(qemu_->runs());
}

}  // namespace
}  // namespace ringside::engines::qmp
