#include "session/task_attributor.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/little_endian.h"
#include "elf/elf_writer.h"
#include "session/testing/arm64_guest.h"
#include "wire/guest_capture.h"
#include "wire/guest_stream.h"
#include "wire/testing/guest_rings.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A kernel that runs, and a process that is known by the root of its page tables.
class TaskAttributorTest : public testing::Arm64Guest, public ::testing::Test {
 protected:
  static constexpr std::uint64_t kProcess = 0x1000;

  TaskAttributorTest() {
    elf::ElfWriter writer(Arch::kAArch64, true, ET_EXEC);
    const std::vector<std::byte> text(0x1000);  // the writer only refers to it
    writer.add_segment({kText}, 0x1000, true, false, text);
    const std::shared_ptr<const elf::ElfFile> kernel =
        elf::ElfFile::from_bytes(writer.write(), "kernel").value();
    KernelRequest request{.file = kernel, .load_bias = 0};
    request.system.processes.push_back(
        {kProcess, std::make_shared<guestos::UserImage>(guestos::UserImage{"sh", "", kernel})});
    watch_.emplace(std::move(request), Arch::kAArch64);
    engine_.no_registers = Error{ErrorCode::kTimeout, "all vCPUs are idle"};
    engines::Tick first = tick();
    (void)watch_->poll(engine_, first, 0);
  }
  engines::Tick tick() {
    capture_.host_time_ns = now_ns_;
    engines::Tick tick;
    tick.captures.push_back(capture_);
    return tick;
  }
  void poll() {
    auto now = tick();
    ASSERT_TRUE(attributor_.poll(now, *watch_));
  }

  std::uint64_t now_ns_ = 0;
  std::optional<KernelWatch> watch_;
  TaskAttributor attributor_{engine_};
};

// Where all vCPUs were idle, or the host ran none, when the kernel was found.
TEST_F(TaskAttributorTest, AsksForThePageTablesUntilItHasThem) {
  ASSERT_NE(watch_->kernel(), nullptr);
  engine_.register_reads = 0;
  poll();
  EXPECT_EQ(engine_.register_reads, 1u);
  poll();  // not at once again: it may take a tenth of a second
  EXPECT_EQ(engine_.register_reads, 1u);
  now_ns_ += 30 * kMs;
  poll();
  EXPECT_EQ(engine_.register_reads, 2u);
  engine_.no_registers.reset();
  now_ns_ += 100 * kMs;
  poll();
  EXPECT_EQ(engine_.register_reads, 3u);
  now_ns_ += 10'000 * kMs;
  poll();
  EXPECT_EQ(engine_.register_reads, 3u);
}

// A paused guest may show nothing else than vCPUs that leave the kernel.
TEST_F(TaskAttributorTest, FindsThePageTablesFromTheTrampoline) {
  capture_.registers.set(arch::aarch64::kPc, kTrampoline + 0x10);
  engine_.no_registers.reset();
  engine_.register_reads = 0;
  poll();
  EXPECT_EQ(engine_.register_reads, 1u);
  now_ns_ += 10'000 * kMs;
  poll();  // they are known
  EXPECT_EQ(engine_.register_reads, 1u);
}

// The guest's word about who ran counts more than what its memory shows later.
TEST_F(TaskAttributorTest, TheGuestNamesTasksItself) {
  wire::GuestTask task;
  task.pid = 7;
  task.tid = 8;
  task.name = "worker";
  const auto poll_task = [&] {
    engines::Tick now = tick();
    wire::add_task(task, now.captures.front());
    return attributor_.poll(now, *watch_).value();
  };
  const TaskAttributions first = poll_task();
  EXPECT_EQ(first.by_capture.at(0).pid, 7u);
  EXPECT_EQ(first.by_capture.at(0).tid, 8u);
  ASSERT_EQ(first.updates.names.size(), 1u);
  EXPECT_EQ(first.updates.names[0].pid, 7u);
  EXPECT_EQ(first.updates.names[0].tid, 8u);
  EXPECT_EQ(first.updates.names[0].name, "worker");
  EXPECT_TRUE(poll_task().updates.names.empty());  // nothing new
  task.name = "other";
  EXPECT_EQ(poll_task().updates.names.size(), 1u);
}

TEST_F(TaskAttributorTest, TasksOfEventsHaveNamesToo) {
  wire::testing::GuestRings rings(1, RINGSIDE_LEAST_WORDS, RINGSIDE_DROP);
  ringside_task task{};
  task.pid = 9;
  task.name = "loader";
  ringside_event(0, "loaded", nullptr, 0, &task, nullptr);
  std::vector<std::byte> stream(RINGSIDE_LEAST_BUFFER);
  stream.resize(ringside_drain(0, stream.data(), stream.size()));
  engines::Tick tick;
  (void)wire::GuestStream().read(
      stream, true, [&](const wire::GuestRecord& record, std::uint64_t at) -> Result<void> {
        if (record.kind != wire::GuestRecordKind::kEvent) return {};
        std::vector<std::uint64_t> words(
            wire::guest_record_words(load<std::uint64_t>(Bytes(stream).subspan(at))));
        std::memcpy(words.data(), stream.data() + at, words.size() * sizeof(words[0]));
        tick.events.push_back({5, std::move(words)});
        return {};
      });
  ASSERT_EQ(tick.events.size(), 1u);
  const TaskAttributions found = attributor_.poll(tick, *watch_).value();
  ASSERT_EQ(found.updates.names.size(), 1u);
  EXPECT_EQ(found.updates.names[0].pid, 9u);
  EXPECT_EQ(found.updates.names[0].name, "loader");
}

TEST_F(TaskAttributorTest, UserCodeOfNoProcessIsExplained) {
  capture_.registers.set(arch::aarch64::kTtbr0El1, kProcess);
  poll();
  EXPECT_EQ(attributor_.explain(), "");
  wire::Capture user = capture_;
  user.level = PrivilegeLevel::kUser;
  user.registers = {};
  engines::Tick tick;
  tick.captures = {user, user};
  ASSERT_TRUE(attributor_.poll(tick, *watch_));
  EXPECT_EQ(attributor_.explain(),
            "2 samples of user code have no process: no vCPU gave its page tables in time; record "
            "for longer");
  engine_.no_registers.reset();
  now_ns_ += 100 * kMs;
  poll();
  EXPECT_EQ(attributor_.explain(), "");
}

}  // namespace
}  // namespace ringside::session
