// A gdb stub that nobody uses is used, and given back, against the QEMU that is installed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "base/testing/time_limits.h"
#include "engines/gdb/testing/qemu_process.h"
#include "engines/qmp/connect.h"
#include "engines/qmp/lent_stub_engine.h"

namespace ringside::engines::qmp {
namespace {

using gdb::testing::QemuProcess;
using ::testing::HasSubstr;

// A debugger's client: it asks why the guest stopped, and lets it go on.
class Client {
 public:
  explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}
  void ask() const { say("$?#3f"); }
  void go_on() const { say("+$c#63"); }
  [[nodiscard]] bool is_answered_within(std::chrono::milliseconds time) const {
    pollfd answer{socket_.get(), POLLIN, 0};
    return ::poll(&answer, 1, static_cast<int>(time.count())) == 1;
  }

 private:
  void say(std::string_view text) const {
    EXPECT_EQ(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  UniqueFd socket_;
};

class LentStub : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ringside-lent-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::string why;
    qemu_ = QemuProcess::start({"-qmp", "unix:" + monitor() + ",server=on,wait=off"}, why);
    if (!qemu_) GTEST_SKIP() << why;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string monitor() const { return folder_ + "/second"; }
  [[nodiscard]] Result<std::unique_ptr<LentStubEngine>> attach() const {
    RINGSIDE_ASSIGN(auto monitor, Monitor::connect({this->monitor(), {}, {}},
                                                   {ringside::testing::longest_step()}));
    return LentStubEngine::attach(monitor, {});
  }
  [[nodiscard]] Client client() const { return Client(qemu_->connect_gdb()); }
  // As a sampler does between ticks.
  static void attend_until_given_back(LentStubEngine& engine) {
    for (int i = 0; i < 100 && engine.has_stub(); ++i) {
      engine.attend();
      ::usleep(20'000);
    }
    EXPECT_FALSE(engine.has_stub());
  }
  static void take_ticks(Engine& engine, int count = 20) {
    const std::vector<VcpuPlan> vcpus(engine.vcpu_count());
    for (int i = 0; i < count; ++i) {
      const auto taken = engine.tick({true, true, vcpus});
      ASSERT_TRUE(taken) << taken.error().message;
      ASSERT_EQ(taken->left_alone, LeftAlone::kNo);
      ASSERT_EQ(taken->captures.size() + taken->not_run, 2u);
    }
  }

  std::string folder_;
  std::unique_ptr<QemuProcess> qemu_;
};

TEST_F(LentStub, IsUsedAndLeftThere) {
  for (int round = 0; round < 3; ++round) {
    auto engine = attach();
    ASSERT_TRUE(engine) << engine.error().message;
    take_ticks(**engine);
    EXPECT_TRUE((*engine)->has_stub());
    EXPECT_TRUE((*engine)->caveats().empty());
    engine->reset();
    EXPECT_TRUE(qemu_->runs());
    EXPECT_THAT(qemu_->qmp("{\"execute\": \"query-chardev\"}"), HasSubstr(qemu_->gdb()));
  }
}

// Between ticks, a second apart.
TEST_F(LentStub, GoesToAClientThatComesLater) {
  auto engine = attach();
  ASSERT_TRUE(engine) << engine.error().message;
  take_ticks(**engine);
  const std::uint64_t stood = (*engine)->stood_still_ns();
  EXPECT_GT(stood, 0u);
  const Client debugger = client();
  debugger.ask();
  attend_until_given_back(**engine);
  EXPECT_TRUE(debugger.is_answered_within(ringside::testing::longest_step()));
  // It has stopped the guest, as a debugger does.
  const std::vector<VcpuPlan> vcpus((*engine)->vcpu_count());
  const auto meanwhile = (*engine)->tick({true, true, vcpus});
  ASSERT_TRUE(meanwhile) << meanwhile.error().message;
  EXPECT_EQ(meanwhile->left_alone, LeftAlone::kPaused);
  debugger.go_on();
  ASSERT_TRUE(qemu_->runs());
  ASSERT_TRUE((*engine)->guest_is_running().value());
  take_ticks(**engine, 3);
  EXPECT_GT((*engine)->stood_still_ns(), stood);
  ASSERT_EQ((*engine)->caveats().size(), 1u);
  EXPECT_THAT((*engine)->caveats()[0], HasSubstr("the gdb stub was given back"));
  engine->reset();
  EXPECT_TRUE(qemu_->runs());
}

// A tick looks for one, too.
TEST_F(LentStub, GoesToAClientAtATick) {
  auto engine = attach();
  ASSERT_TRUE(engine) << engine.error().message;
  const Client debugger = client();
  debugger.ask();
  const std::vector<VcpuPlan> vcpus((*engine)->vcpu_count());
  for (int i = 0; i < 200 && (*engine)->has_stub(); ++i) {
    ASSERT_TRUE((*engine)->tick({true, true, vcpus}));
    ::usleep(1'000);
  }
  EXPECT_FALSE((*engine)->has_stub());
  EXPECT_TRUE(debugger.is_answered_within(ringside::testing::longest_step()));
}

// Through the reader that was there before. The debugger has stopped the guest, whose BIOS writes
// there.
TEST_F(LentStub, MemoryIsReadBeforeAndAfter) {
  auto engine = attach();
  ASSERT_TRUE(engine) << engine.error().message;
  const auto physical = (*engine)->physical_memory();
  ASSERT_TRUE(physical) << physical.error().message;
  const GuestPhys interrupt_table{0};
  const auto before = (*physical)->read_bytes(interrupt_table, 256);
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->size(), 256u);
  const Client debugger = client();
  debugger.ask();
  attend_until_given_back(**engine);
  ASSERT_TRUE(debugger.is_answered_within(ringside::testing::longest_step()));
  const auto word = (*physical)->read_value<std::uint32_t>(interrupt_table);
  ASSERT_TRUE(word) << word.error().message;
  EXPECT_THAT(qemu_->hmp("xp /1wx 0"), HasSubstr(fmt::format("0x{:08x}", *word)));
}

TEST_F(LentStub, IsGivenBackBeforeASuspension) {
  auto engine = attach();
  ASSERT_TRUE(engine) << engine.error().message;
  (*engine)->before_suspension();
  EXPECT_FALSE((*engine)->has_stub());
  EXPECT_TRUE(qemu_->runs());
  const Client debugger = client();
  debugger.ask();
  EXPECT_TRUE(debugger.is_answered_within(ringside::testing::longest_step()));
}

TEST_F(LentStub, IsLeftAloneWhereItHasAClient) {
  const Client debugger = client();
  debugger.ask();
  ASSERT_TRUE(debugger.is_answered_within(ringside::testing::longest_step()));
  const auto engine = attach();
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(qemu_->stays_paused());
  const auto attachment = connect({monitor(), {}, {}}, folder_, {});
  ASSERT_TRUE(attachment) << attachment.error().message;
  EXPECT_THAT(attachment->explanation, HasSubstr("is left to its user"));
  EXPECT_TRUE(qemu_->stays_paused());
}

TEST_F(LentStub, IsLeftAloneWhereNobodyCouldBeSeen) {
  (void)qemu_->hmp("gdbserver none");
  (void)qemu_->hmp("gdbserver null");
  const auto engine = attach();
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr("cannot be seen"));
  EXPECT_TRUE(qemu_->runs());
}

TEST_F(LentStub, OfAPausedGuestLeavesItPaused) {
  (void)qemu_->qmp("{\"execute\": \"stop\"}");
  auto engine = attach();
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_FALSE((*engine)->guest_is_running().value());
  engine->reset();
  EXPECT_TRUE(qemu_->stays_paused());
}

TEST_F(LentStub, AtAPort) {
  (void)qemu_->hmp("gdbserver none");
  // Whatever is free.
  for (int port = 24'101; port < 24'200; ++port) {
    (void)qemu_->hmp("gdbserver none");
    if (qemu_->hmp("gdbserver tcp::" + std::to_string(port)).find("Waiting") == std::string::npos)
      continue;
    auto engine = attach();
    if (!engine && engine.error().code == ErrorCode::kNotFound) continue;  // it is taken
    ASSERT_TRUE(engine) << engine.error().message;
    take_ticks(**engine, 3);
    auto socket = connect_to({{}, "127.0.0.1", std::to_string(port)}, std::chrono::seconds(5));
    ASSERT_TRUE(socket) << socket.error().message;
    const Client debugger(std::move(*socket));
    debugger.ask();
    attend_until_given_back(**engine);
    EXPECT_TRUE(debugger.is_answered_within(ringside::testing::longest_step()));
    return;
  }
  FAIL() << "no port is free";
}

}  // namespace
}  // namespace ringside::engines::qmp
