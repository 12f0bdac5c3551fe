#include "engines/qmp/hmp_engine.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/testing/time_limits.h"
#include "engines/qmp/testing/monitor_end.h"

namespace ringside::engines::qmp {
namespace {

// A monitor's answers to a client that asks for the registers once it has attached.
constexpr std::string_view kAnswers =
    "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\n{\"return\": {}, \"id\": 1}\n"
    "{\"return\": {\"arch\": \"x86_64\"}, \"id\": 2}\n{\"return\": [{}], \"id\": 3}\n"
    "{\"return\": {\"status\": \"running\"}, \"id\": 4}\n{\"return\": \"AAAA\", \"id\": 5}\n";

class NoMemory final : public PhysicalMemory {
 public:
  Result<std::size_t> read_up_to(GuestPhys, std::span<std::byte>) override { return 0; }
};

// The vCPU is there: it is the monitor's fault, and not its user's.
TEST(HmpEngine, TextWithoutRegistersIsAProtocolError) {
  MonitorEnd end;
  auto monitor = end.connect(kAnswers, {ringside::testing::longest_step()});
  ASSERT_TRUE(monitor) << monitor.error().message;
  HmpEngine::Options options;
  options.stops_the_guest = false;
  auto engine = HmpEngine::start(std::move(*monitor), options);
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->read_registers(VcpuId{0}).error().code, ErrorCode::kProtocol);
}

// A search of memory reads for minutes, and each answer comes at once.
TEST(HmpEngine, ReadsNoMemoryOnceTheRecordingIsOver) {
  MonitorEnd end;
  bool is_over = false;
  auto monitor =
      end.connect(kAnswers, {ringside::testing::longest_step(), [&] { return is_over; }});
  ASSERT_TRUE(monitor) << monitor.error().message;
  auto engine = HmpEngine::start(std::move(*monitor), {});
  ASSERT_TRUE(engine) << engine.error().message;
  (void)end.heard();
  is_over = true;
  std::array<std::byte, 8> bytes{};
  const auto read = (*engine)->read_virtual(VcpuId{0}, GuestVirt{0xffffffff81000000}, bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kDisturbed);
  EXPECT_EQ(end.heard(), "");
}

// A guest that is migrated is not stopped, nor let go where it was. QEMU's threads are not known
// here, so it is asked at each tick.
TEST(HmpEngine, LeavesAGuestAloneThatIsMigrated) {
  MonitorEnd end;
  auto monitor = end.connect(
      "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\n{\"return\": {}, \"id\": 1}\n"
      "{\"return\": {\"arch\": \"x86_64\"}, \"id\": 2}\n{\"return\": [{}], \"id\": 3}\n"
      "{\"return\": {\"status\": \"running\"}, \"id\": 4}\n",
      {ringside::testing::longest_step()});
  ASSERT_TRUE(monitor) << monitor.error().message;
  auto engine = HmpEngine::start(std::move(*monitor), {});
  ASSERT_TRUE(engine) << engine.error().message;
  std::string heard;
  std::thread qemu([&] {
    EXPECT_TRUE(ringside::testing::wait_until([&] {
      heard += end.heard();
      return heard.find("query-migrate") != heard.npos;
    }));
    end.say(
        "{\"return\": {\"status\": \"running\"}, \"id\": 5}\n"
        "{\"return\": {\"status\": \"active\"}, \"id\": 6}\n");
  });
  const std::vector<VcpuPlan> vcpus(1);
  const auto tick = (*engine)->tick({true, true, vcpus});
  qemu.join();
  ASSERT_TRUE(tick) << tick.error().message;
  EXPECT_EQ(tick->left_alone, LeftAlone::kMigrating);
  end.say(
      "{\"return\": {\"status\": \"postmigrate\"}, \"id\": 7}\n"
      "{\"return\": {\"status\": \"completed\"}, \"id\": 8}\n");
  EXPECT_EQ((*engine)->guest_is_running().error().code, ErrorCode::kMoved);
  engine->reset();
  heard += end.heard();
  EXPECT_THAT(heard, ::testing::Not(::testing::HasSubstr("\"stop\"")));
  EXPECT_THAT(heard, ::testing::Not(::testing::HasSubstr("\"cont\"")));
}

// QEMU 10.0 prints this for a page that is mapped and for one that is not.
TEST(HmpEngine, AsksForTheTranslationsOfAarch64) {
  MonitorEnd end;
  auto monitor = end.connect(
      "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\n{\"return\": {}, \"id\": 1}\n"
      "{\"return\": {\"arch\": \"aarch64\"}, \"id\": 2}\n{\"return\": [{}], \"id\": 3}\n"
      "{\"return\": {\"status\": \"running\"}, \"id\": 4}\n"
      "{\"return\": \"gpa: 0x42180000\\r\\n\", \"id\": 5}\n"
      "{\"return\": \"Unmapped\\r\\n\", \"id\": 6}\n",
      {ringside::testing::longest_step()});
  ASSERT_TRUE(monitor) << monitor.error().message;
  HmpEngine::Options options;
  options.stops_the_guest = false;
  auto engine = HmpEngine::start(std::move(*monitor), options);
  ASSERT_TRUE(engine) << engine.error().message;
  const auto tables = (*engine)->machines_page_tables(VcpuId{0});
  ASSERT_NE(tables, nullptr);
  NoMemory none;
  const auto mapped = tables->walk(none, GuestVirt{0xffffff8080180ff0});
  ASSERT_TRUE(mapped) << mapped.error().message;
  EXPECT_EQ(mapped->end, memory::WalkEnd::kMapped);
  EXPECT_EQ(mapped->address, GuestPhys{0x42180ff0});
  EXPECT_EQ(mapped->bytes, 16u);
  EXPECT_THAT(end.heard(), ::testing::HasSubstr("gva2gpa 0xffffff8080180000"));
  const auto unmapped = tables->walk(none, GuestVirt{0xffffff8090000000});
  ASSERT_TRUE(unmapped) << unmapped.error().message;
  EXPECT_EQ(unmapped->end, memory::WalkEnd::kNotPresent);
  EXPECT_EQ(unmapped->bytes, 4096u);
  std::string answers;
  for (unsigned page = 1; page <= 64; ++page)
    answers +=
        fmt::format("{{\"return\": \"gpa: {:#x}\\r\\n\", \"id\": {}}}\n", page * 0x2000, 6 + page);
  end.say(answers);
  for (unsigned page = 1; page <= 64; ++page) {
    const auto next = tables->walk(none, GuestVirt{0xffffff8090000004 + page * 0x1000});
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_EQ(next->address, GuestPhys{page * 0x2000 + 4});
  }
}

}  // namespace
}  // namespace ringside::engines::qmp
