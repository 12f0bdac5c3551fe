#include "engines/qmp/hmp_engine.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engines/qmp/testing/monitor_end.h"

namespace ringside::engines::qmp {
namespace {

// A monitor's answers to a client that asks for the registers once it has attached.
constexpr std::string_view kAnswers =
    "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\n{\"return\": {}, \"id\": 1}\n"
    "{\"return\": {\"arch\": \"x86_64\"}, \"id\": 2}\n{\"return\": [{}], \"id\": 3}\n"
    "{\"return\": {\"status\": \"running\"}, \"id\": 4}\n{\"return\": \"AAAA\", \"id\": 5}\n";

// The vCPU is there: it is the monitor's fault, and not its user's.
TEST(HmpEngine, TextWithoutRegistersIsAProtocolError) {
  MonitorEnd end;
  auto monitor = end.connect(kAnswers, {std::chrono::milliseconds(500)});
  ASSERT_TRUE(monitor) << monitor.error().message;
  HmpEngine::Options options;
  options.stops_the_guest = false;
  auto engine = HmpEngine::start(std::move(*monitor), options);
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ((*engine)->read_registers(VcpuId{0}).error().code, ErrorCode::kProtocol);
}

}  // namespace
}  // namespace ringside::engines::qmp
