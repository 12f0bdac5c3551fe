#include "exporters/json_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "recording/recording_test_util.h"

namespace ringside::exporters {
namespace {

using nlohmann::json;

// Names every kernel frame after its place, with a function inlined into it.
class Namer final : public profile::FrameNamer {
 public:
  void name(const profile::FrameToName& what, profile::NamedFrame& out) override {
    if (what.image == nullptr) return;
    out.functions = {fmt::format("f\"{}\\", what.frame.lookup_address()), "inlined"};
    if (what.frame.exact) out.lines = {{"/src/\"a.c", 7}, {"b.h", 0}};
  }
};

std::vector<json> parse_lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

// The lines of the recording t.data.
std::vector<json> exported(const recording::testing::TempDir& dir, profile::FrameNamer& namer) {
  auto reader = recording::Reader::open(dir / "t.data");
  EXPECT_TRUE(reader);
  StringSink sink;
  EXPECT_TRUE(reader && write_json_lines(*reader, namer, sink));
  return parse_lines(sink.text());
}

// Knows the functions that a recording names, as of when it is asked first.
class LateNamer final : public profile::FrameNamer {
 public:
  void name(const profile::FrameToName& what, profile::NamedFrame& out) override {
    asked_ = true;
    for (const auto& function : functions_)
      if (what.frame.lookup_address().value - function.address.value < function.size)
        out.functions = {function.name};
  }
  void function(const recording::ImageFunction& function) override {
    if (!asked_) functions_.push_back(function);
  }

 private:
  std::vector<recording::ImageFunction> functions_;
  bool asked_ = false;
};

TEST(JsonLines, NamesThatComeLaterCount) {
  const recording::testing::TempDir dir;
  auto writer = recording::Writer::create(dir / "t.data", {});
  ASSERT_TRUE(writer->add_image({}));
  Stack stack;
  for (const std::uint64_t address : {0x8010, 0x9010}) {
    ASSERT_TRUE(
        writer->add_function({1, {address - 0x10}, 0x100, fmt::format("at_{:x}", address), false}));
    stack.frames = {{{address}, true, FrameSource::kRegisters, FrameKind::kKernel}};
    ASSERT_TRUE(writer->add_sample({}, &stack));
    ASSERT_TRUE(writer->flush());
  }
  ASSERT_TRUE(writer->finish());
  LateNamer namer;
  const std::vector<json> lines = exported(dir, namer);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[3]["stacks"][0]["frames"][0]["functions"][0], "at_8010");
  EXPECT_EQ(lines[4]["stacks"][0]["frames"][0]["functions"][0], "at_9010");
}

TEST(JsonLines, TheHeadHasWhatIsRecorded) {
  const recording::testing::TempDir dir;
  recording::Header header;
  header.kernel_release = "6.1.0-9";
  header.kernel_build_id = {std::byte{0x0f}, std::byte{0xa0}};
  header.deterministic_seed = 0;
  for (const bool is_recorded : {true, false}) {
    auto writer =
        recording::Writer::create(dir / "t.data", is_recorded ? header : recording::Header());
    ASSERT_TRUE(writer && writer->add_sample({}, nullptr) && writer->finish());
    Namer namer;
    const json head = exported(dir, namer)[0];
    EXPECT_EQ(head.value("kernel_release", ""), is_recorded ? "6.1.0-9" : "");
    EXPECT_EQ(head.value("kernel_build_id", ""), is_recorded ? "0fa0" : "");
    EXPECT_EQ(head.value("deterministic_seed", -1), is_recorded ? 0 : -1);
  }
}

TEST(JsonLines, SaysWhatWasLost) {
  const recording::testing::TempDir dir;
  auto writer = recording::Writer::create(dir / "t.data", {});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add_sample({}, nullptr));
  recording::Statistics statistics;
  statistics.due = 10;
  statistics.lost = 3;
  statistics.late = 2;
  statistics.duration_ns = 100;
  statistics.counters = {{"why \"so\"", 3}};
  ASSERT_TRUE(writer->add_statistics(statistics));
  ASSERT_TRUE(writer->finish());
  Namer namer;
  const std::vector<json> lines = exported(dir, namer);
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [](const json& line) { return line.contains("statistics"); });
  ASSERT_NE(found, lines.end());
  EXPECT_EQ(*found, json::parse(R"({"statistics":"cpu","due":10,"lost":3,"late":2,"duration_ns":100,
                                    "counters":{"why \"so\"":3}})"));
}

TEST(JsonLines, IdsStandWhereNamesAreNoneOfOneAlone) {
  const recording::testing::TempDir dir;
  recording::Source source;
  source.name = "a";
  source.values = {{"ticks", recording::WeightUnit::kTicks, 1}};
  recording::Source other = source;
  other.name = "b";
  auto writer = recording::Writer::create(dir / "t.data", {}, {source, source, other});
  ASSERT_TRUE(writer);
  for (const std::uint32_t of : {1u, 2u, 3u}) {
    recording::EventType type;
    type.name = of == 1 ? "once" : "twice";
    type.source = of;
    ASSERT_TRUE(writer->add_event_type(type));
    recording::SampleInfo info;
    info.source = of;
    ASSERT_TRUE(writer->add_sample(info, nullptr));
    recording::Statistics statistics;
    statistics.source = of;
    statistics.due = 1;
    ASSERT_TRUE(writer->add_statistics(statistics));
  }
  ASSERT_TRUE(writer->finish());
  Namer namer;
  const std::vector<json> lines = exported(dir, namer);
  ASSERT_EQ(lines.size(), 13u);
  const auto number = [&](std::size_t line, const char* member) {
    return lines[line].value(member, 0);
  };
  EXPECT_EQ(number(1, "id"), 1);
  EXPECT_EQ(number(2, "id"), 2);
  EXPECT_EQ(number(3, "id"), 0);
  EXPECT_EQ(number(4, "id"), 0);
  EXPECT_EQ(number(4, "source_id"), 1);
  EXPECT_EQ(number(5, "id"), 2);
  EXPECT_EQ(number(6, "id"), 3);
  EXPECT_EQ(number(6, "source_id"), 0);
  EXPECT_EQ(number(8, "source_id"), 2);
  EXPECT_EQ(number(9, "source_id"), 0);
  EXPECT_EQ(number(11, "source_id"), 2);
}

TEST(JsonLines, ImagesOfOneNameHaveIds) {
  const recording::testing::TempDir dir;
  auto writer = recording::Writer::create(dir / "t.data", {});
  ASSERT_TRUE(writer);
  std::vector<recording::RecordedFrame> frames(3);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    recording::ImageInfo image;
    image.name = i == 1 ? "one" : "prog";
    image.path = fmt::format("/{}", i);
    frames[i].image = *writer->add_image(image);
    frames[i].address = {i};
  }
  const recording::StackRef stack = writer->add_stack(frames);
  ASSERT_TRUE(writer->add_sample({}, {&stack, 1}, {}));
  ASSERT_TRUE(writer->finish());
  Namer namer;
  const std::vector<json> lines = exported(dir, namer);
  ASSERT_EQ(lines.size(), 6u);
  const json& all = lines[5]["stacks"][0]["frames"];
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(lines[2 + i].value("id", 0), i == 1 ? 0 : static_cast<int>(i + 1));
    EXPECT_EQ(all[i].value("image_id", 0), lines[2 + i].value("id", 0));
  }
}

// They are of one object where they stand at one place.
TEST(JsonLines, InlinedFunctionsThatWereRecorded) {
  const recording::testing::TempDir dir;
  auto writer = recording::Writer::create(dir / "t.data", {});
  ASSERT_TRUE(writer);
  const auto frame = [&](const char* function, std::uint64_t address, bool inlined) {
    recording::RecordedFrame made;
    made.address = {address};
    made.function = *writer->add_text(function);
    made.inlined = inlined;
    return made;
  };
  std::vector<recording::RecordedFrame> frames = {frame("in", 1, true), frame("mid", 1, true),
                                                  frame("f", 1, false), frame("other", 2, true),
                                                  frame("g", 3, false)};
  frames[1].file = *writer->add_text("a.c");
  frames[1].line = 7;
  const recording::StackRef stack = writer->add_stack(frames);
  ASSERT_TRUE(writer->add_sample({}, {&stack, 1}, {}));
  ASSERT_TRUE(writer->finish());
  Namer namer;
  const json all = exported(dir, namer)[2]["stacks"][0]["frames"];
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0]["functions"], json::parse(R"(["f","mid","in"])"));
  EXPECT_EQ(all[0]["lines"], json::parse(R"(["","a.c:7",""])"));
  EXPECT_FALSE(all[0].contains("inlined"));
  EXPECT_EQ(all[1]["functions"], json::parse(R"(["other"])"));
  EXPECT_EQ(all[1]["inlined"], true);
  EXPECT_EQ(all[2]["functions"], json::parse(R"(["g"])"));
}

// Each sample has all of them: their text is made once, and grows by one function a frame.
TEST(JsonLines, ALongChainOfInlinedFunctionsIsWrittenSoon) {
  constexpr std::size_t kFrames = 512;
  constexpr int kSamples = 40;
  const std::string name(2000, 'f');
  const recording::testing::TempDir dir;
  auto writer = recording::Writer::create(dir / "t.data", {});
  ASSERT_TRUE(writer);
  std::vector<recording::RecordedFrame> frames(kFrames);
  for (recording::RecordedFrame& frame : frames) {
    frame.function = *writer->add_text(name);
    frame.inlined = true;
  }
  frames.back().inlined = false;
  const recording::StackRef stack = writer->add_stack(frames);
  for (int i = 0; i < kSamples; ++i) ASSERT_TRUE(writer->add_sample({}, {&stack, 1}, {}));
  ASSERT_TRUE(writer->finish());
  Namer namer;
  auto reader = recording::Reader::open(dir / "t.data");
  ASSERT_TRUE(reader);
  StringSink sink;
  ASSERT_TRUE(write_json_lines(*reader, namer, sink));
  const std::string_view text = sink.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + kSamples);
  const json last = json::parse(text.substr(text.rfind('\n', text.size() - 2)));
  const json& all = last["stacks"][0]["frames"];
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["functions"].size(), kFrames);
}

TEST(JsonLines, WritesEverySample) {
  const recording::testing::TempDir dir;
  auto writer = recording::Writer::create(dir / "t.data", {});
  ASSERT_TRUE(writer);
  recording::ImageInfo image;
  image.name = "kernel";
  image.load_bias = 0x1000;
  ASSERT_TRUE(writer->add_image(image));
  recording::Mapping mapping;
  mapping.image = 1;
  mapping.start = {0x8000};
  mapping.end = {0x9000};
  ASSERT_TRUE(writer->add_mapping(mapping));
  Stack stack;
  stack.frames = {{{0x8010}, true, FrameSource::kRegisters, FrameKind::kInterrupt},
                  {{0x8020}, false, FrameSource::kCfi, FrameKind::kKernel},
                  {{0x20}, false, FrameSource::kGuess, FrameKind::kKernel}};
  stack.stop = StopReason::kNoRule;
  stack.stopped_at = {0x20};
  recording::SampleInfo info;
  info.time_ns = 5;
  info.vcpu = {3};
  info.level = PrivilegeLevel::kKernel;
  ASSERT_TRUE(writer->add_sample(info, &stack));
  ASSERT_TRUE(writer->add_thread_name({6, 7, 8, 0, "d\"d"}));
  info.pid = 7;
  info.tid = 8;
  info.address_space = 0x2000;
  ASSERT_TRUE(writer->add_sample(info, &stack));  // at 5 it had no name yet
  info.time_ns = 6;
  ASSERT_TRUE(writer->add_sample(info, &stack));
  info = {};
  info.disposition = wire::Disposition::kIdle;
  ASSERT_TRUE(writer->add_sample(info, nullptr));
  ASSERT_TRUE(writer->finish());

  Namer namer;
  const std::vector<json> lines = exported(dir, namer);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0]["arch"], "unknown");
  EXPECT_EQ(lines[1], json::parse(R"({"source_type":"cpu","kind":"cpu",
                                      "value_types":[{"name":"ticks","unit":"ticks"}]})"));
  EXPECT_EQ(lines[2], json::parse(R"({"image":"kernel","path":"","load_bias":"0x1000"})"));
  EXPECT_EQ(lines[3]["vcpu"], 3);
  EXPECT_EQ(lines[3]["level"], "kernel");
  EXPECT_EQ(lines[3]["disposition"], "sampled");
  EXPECT_EQ(lines[3]["stacks"],
            json::parse(R"([{"stop":"no unwind rule","stopped_at":"0x20","frames":[
    {"address":"0x8010","exact":true,"kind":"interrupt","image":"kernel","rule":"registers","functions":["f\"0x8010\\","inlined"],"lines":["/src/\"a.c:7",""]},
    {"address":"0x8020","exact":false,"kind":"kernel","image":"kernel","rule":"call-frame information","functions":["f\"0x801f\\","inlined"],"lines":["",""]},
    {"address":"0x20","exact":false,"kind":"kernel","rule":"guess","functions":[]}]}])"));
  EXPECT_FALSE(lines[3].contains("pid") || lines[3].contains("tid") || lines[3].contains("comm"));
  EXPECT_FALSE(lines[3].contains("address_space"));
  EXPECT_EQ(lines[4]["address_space"], "0x2000");
  EXPECT_EQ(lines[4]["pid"], 7);
  EXPECT_EQ(lines[4]["tid"], 8);
  EXPECT_FALSE(lines[4].contains("comm"));
  EXPECT_EQ(lines[5]["comm"], "d\"d");
  EXPECT_EQ(lines[6]["disposition"], "idle");
  EXPECT_TRUE(lines[6]["stacks"].empty());
}

}  // namespace
}  // namespace ringside::exporters
