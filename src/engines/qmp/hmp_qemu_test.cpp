// Sampling by the human monitor's text, against the QEMU that is installed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "base/testing/rivals.h"
#include "engines/gdb/testing/qemu_process.h"
#include "engines/guardian.h"
#include "engines/qmp/connect.h"
#include "engines/qmp/detach_sequence.h"
#include "engines/qmp/monitor.h"

namespace ringside::engines::qmp {
namespace {

using gdb::testing::QemuProcess;
using ::testing::HasSubstr;

// A guest with a gdb stub, which is its user's.
class HmpQemu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ringside-hmp-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    std::string why;
    qemu_ = QemuProcess::start({"-qmp", "unix:" + folder_ + "/second,server=on,wait=off"}, why);
    if (!qemu_) GTEST_SKIP() << why;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] Result<Attachment> attach(bool never_stop = false) const {
    return connect({folder_ + "/second", {}, {}}, folder_,
                   {.never_stop = never_stop, .leave_stub = true});
  }
  // Each copies 64 bytes from the pc on, which is code, and loads 8 of them.
  static void take_ticks(Engine& engine, int count) {
    using wire::RecipeOpcode;
    const std::vector<wire::RecipeOp> recipe{{RecipeOpcode::kSet, 0, 0, 0, 0, 0, 0xf0000},
                                             {RecipeOpcode::kLoad, 1, 0, 8, 99, 0, 0},
                                             {RecipeOpcode::kCopy, 0, 0, 0, 0, 0, 64}};
    const std::vector<VcpuPlan> vcpus(engine.vcpu_count(), VcpuPlan{true, recipe, {}, {}});
    for (int i = 0; i < count; ++i) {
      const auto taken = engine.tick({true, true, vcpus});
      ASSERT_TRUE(taken) << taken.error().message;
      ASSERT_EQ(taken->captures.size() + taken->not_run, 2u);
      for (const wire::Capture& capture : taken->captures)
        EXPECT_NE(capture.disposition, wire::Disposition::kFailed);
    }
  }

  std::string folder_;
  std::unique_ptr<QemuProcess> qemu_;
};

TEST_F(HmpQemu, LeavesTheUsersStubFree) {
  if (!qemu_) return;
  const auto attachment = attach();
  ASSERT_TRUE(attachment) << attachment.error().message;
  EXPECT_THAT(attachment->explanation, HasSubstr("is left to its user"));
  EXPECT_EQ(attachment->engine->vcpu_count(), 2u);
  EXPECT_EQ(attachment->engine->arch(), Arch::kX86_64);
  take_ticks(*attachment->engine, 20);
  EXPECT_TRUE(qemu_->runs());
  EXPECT_EQ(qemu_->take_stops().size(), 20u);
  EXPECT_TRUE(qemu_->connect_gdb().valid());
}

TEST_F(HmpQemu, ReadsWhatTheMonitorReads) {
  if (!qemu_) return;
  const auto attachment = attach();
  ASSERT_TRUE(attachment) << attachment.error().message;
  // The BIOS, which changes nothing of its code once it has copied itself there.
  std::array<std::byte, 40'000> bytes{};
  std::string differs;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const auto got =
        attachment->engine->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{0xf0003}, bytes);
    ASSERT_TRUE(got) << got.error().message;
    // A chipset that is being set up maps other memory there, or none.
    differs = *got == bytes.size() ? "" : fmt::format("only {} bytes", *got);
    for (const std::size_t at : {0u, 4u, 17'000u, 39'996u}) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes.data() + at, 4);
      const std::string said = qemu_->hmp(fmt::format("xp /1wx {:#x}", 0xf0003 + at));
      if (said.find(fmt::format("0x{:08x}", word)) == std::string::npos)
        differs += fmt::format("{:#x} and {}", word, said);
    }
    if (differs.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(differs, "");
  EXPECT_TRUE(qemu_->take_stops().empty());
  EXPECT_FALSE(attachment->engine->virtual_memory(VcpuId{2}).read_up_to(GuestVirt{0xf0000}, bytes));
}

// A guest that is never idle: its firmware jumps to itself at the reset vector.
std::vector<std::string> busy_guest(const std::string& folder) {
  std::string firmware(0x10000, '\0');
  firmware.replace(0xfff0, 2, "\xeb\xfe");
  std::ofstream(folder + "/firmware") << firmware;
  return {"-bios", folder + "/firmware"};
}

// Where it was is not what it did: else an interrupt that came while it waited has samples.
TEST_F(HmpQemu, LeavesOutAVcpuThatWaitsForAProcessor) {
  if (!qemu_) return;
  std::vector<std::string> words = busy_guest(folder_);
  words.insert(words.end(), {"-qmp", "unix:" + folder_ + "/busy,server=on,wait=off"});
  std::string why;
  const auto busy = QemuProcess::start(words, why);
  ASSERT_TRUE(busy) << why;
  busy->stay_on_one_processor();
  const ringside::testing::Rivals rivals;
  const auto attachment = connect({folder_ + "/busy", {}, {}}, folder_, {.leave_stub = true});
  ASSERT_TRUE(attachment) << attachment.error().message;
  const std::vector<VcpuPlan> vcpus(2);
  std::uint64_t waited = 0;
  for (int i = 0; i < 60; ++i) {
    const auto taken = attachment->engine->tick({true, true, vcpus});
    ASSERT_TRUE(taken) << taken.error().message;
    ASSERT_EQ(taken->captures.size() + taken->not_run, 2u);
    waited += taken->not_run;
    ::usleep(3000);
  }
  EXPECT_GT(waited, 5u);
  // Stops whose samples were left out, too.
  const std::vector<std::uint64_t> stops = busy->take_stops();
  const double stood_us = std::accumulate(stops.begin(), stops.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(attachment->engine->stood_still_ns()) / 1000, stood_us,
              stood_us / 50);
}

TEST_F(HmpQemu, LeavesAPausedGuestPaused) {
  if (!qemu_) return;
  (void)qemu_->qmp("{\"execute\": \"stop\"}");
  auto attachment = attach();
  ASSERT_TRUE(attachment) << attachment.error().message;
  Engine& engine = *attachment->engine;
  EXPECT_FALSE(engine.guest_is_running().value());
  const std::vector<VcpuPlan> vcpus(engine.vcpu_count());
  EXPECT_TRUE(engine.tick({true, true, vcpus})->captures.empty());
  EXPECT_TRUE(qemu_->stays_paused());
  (void)qemu_->qmp("{\"execute\": \"cont\"}");
  EXPECT_TRUE(engine.guest_is_running().value());
  take_ticks(engine, 5);
  // Paused again, between two ticks.
  (void)qemu_->qmp("{\"execute\": \"stop\"}");
  EXPECT_TRUE(engine.tick({true, true, vcpus})->captures.empty());
  attachment->engine.reset();
  EXPECT_TRUE(qemu_->stays_paused());
}

TEST_F(HmpQemu, NeverStopsAGuestThatIsNotToBeStopped) {
  if (!qemu_) return;
  (void)qemu_->hmp("gdbserver none");  // so that there could be a stub
  const auto attachment = attach(true);
  ASSERT_TRUE(attachment) << attachment.error().message;
  EXPECT_THAT(attachment->explanation, HasSubstr("not to be stopped"));
  EXPECT_THAT(attachment->engine->caveats(), ::testing::ElementsAre(HasSubstr("may be torn")));
  take_ticks(*attachment->engine, 20);
  EXPECT_TRUE(qemu_->take_stops().empty());
}

// Ringside's death, wherever it was in what it sends: the guardian has the monitor's only
// connection.
TEST_F(HmpQemu, RunsAfterHalfARequest) {
  if (!qemu_) return;
  const std::string text =
      R"({"execute":"stop","id":7})"
      "\n"
      R"({"execute":"human-monitor-command","arguments":{"command-line":"x /2gx 0xf0000\"","cpu-index":1},"id":8})"
      "\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    auto monitor = Monitor::connect({folder_ + "/second", {}, {}}, {std::chrono::seconds(5)});
    ASSERT_TRUE(monitor) << monitor.error().message;
    auto guardian = Guardian::start(monitor->socket(), kDetachSequence);
    ASSERT_TRUE(guardian) << guardian.error().message;
    (*guardian)->set_state(GuestState::kOurs);
    ASSERT_EQ(::send(monitor->socket(), text.data(), size, MSG_NOSIGNAL),
              static_cast<ssize_t>(size));
    const pid_t pid = (*guardian)->pid();
    (*guardian)->abandon();
    monitor = tl::unexpected<Error>(Error{});
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    ASSERT_TRUE(qemu_->runs()) << text.substr(0, size);
  }
}

TEST_F(HmpQemu, ReportsThatQemuHasEnded) {
  if (!qemu_) return;
  const auto attachment = attach();
  ASSERT_TRUE(attachment) << attachment.error().message;
  take_ticks(*attachment->engine, 1);
  qemu_->kill();
  const std::vector<VcpuPlan> vcpus(2);
  EXPECT_EQ(attachment->engine->tick({true, true, vcpus}).error().code, ErrorCode::kClosed);
}

}  // namespace
}  // namespace ringside::engines::qmp
