#include "importers/json_lines/json_lines.h"

#include <gmock/gmock.h>

#include <iterator>
#include <map>

#include "importers/importers_test_util.h"

namespace ringside::importers {
namespace {

using recording::WeightUnit;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

constexpr const char* kHead =
    R"({"arch":"x86_64","guest_os":"linux","kernel":"6.1","engine":"gdb","interval_ns":1000,)"
    R"("vcpus":2,"start_monotonic_ns":77,"host":"here","command_line":["qemu","-s"],)"
    R"("kernel_release":"6.1.0-9","kernel_build_id":"0fa0","deterministic_seed":0})"
    "\n"
    R"({"source_type":"cpu","kind":"cpu","period":1000,"engine":"gdb","value_types":)"
    R"([{"name":"ticks","unit":"ticks"}]})"
    "\n"
    R"({"source_type":"memory","kind":"allocations","clock":{"id":7,"kind":"event number",)"
    R"("name":"n"},"value_types":[{"name":"count","unit":"events"},{"name":"bytes","unit":"bytes"}]})"
    "\n"
    R"({"event_type":"request","source":"memory","field_types":[{"name":"size","type":"integer",)"
    R"("unit":"bytes"},{"name":"at","type":"address","unit":"events"},{"name":"what","type":"text",)"
    R"("unit":"events"},{"name":"code","type":"symbol","unit":"events"}]})"
    "\n"
    R"({"image":"kernel","path":"/k","load_bias":"0x1000","build_id":"00ff","size":99})"
    "\n"
    R"({"image":"other","path":"/o","load_bias":"0x0"})"
    "\n";

// A line of a sample with that stack, without its end.
std::string sample(const std::string& members, const std::string& frames = "") {
  return R"({"time_ns":5,"vcpu":1,"level":"kernel","disposition":"sampled",)" + members +
         R"("weight":3,"unit":"ticks","stacks":[{"stop":"no unwind rule","stopped_at":"0x20",)" +
         "\"frames\":[" + frames + "]}]}\n";
}
std::string frame(const std::string& address, const std::string& functions,
                  const std::string& more = "", const std::string& image = "kernel") {
  return R"({"address":")" + address + R"(","exact":true,"kind":"interrupt","image":")" + image +
         R"(","rule":"ORC","functions":[)" + functions + "]" + more + "}";
}

std::string statistics(const char* due, const char* lost) {
  return std::string(R"({"statistics":"cpu","due":)") + due + ",\"lost\":" + lost +
         ",\"late\":0,\"duration_ns\":5,\"counters\":{}}\n";
}

class JsonLinesImport : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text) { return import(import_json_lines, {text}); }
};

TEST_F(JsonLinesImport, ASampleHasAllThatItsLineHas) {
  const auto imported = read(
      std::string(kHead) +
      sample(R"("pause_ns":9,"pid":7,"tid":8,"address_space":"0x2","thread_start_ns":4,)"
             R"("state":"blocked","waits_for":"disk","comm":"cat","cgroup":"/a",)",
             frame("0xffffffff81000010", R"("outer<int>","middle","inner")",
                   R"(,"lines":["/src/a.c:12","","b.h:7"])") +
                 "," + frame("0x20", "")) +
      R"({"statistics":"cpu","due":10,"lost":7,"late":1,"duration_ns":50,"counters":{"why":7}})"
      "\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->warnings, IsEmpty());
  EXPECT_EQ(recorded.header.kernel, "6.1");
  EXPECT_EQ(recorded.header.start_monotonic_ns, 77u);
  EXPECT_EQ(recorded.header.kernel_release, "6.1.0-9");
  EXPECT_EQ(recorded.header.kernel_build_id, (std::vector{std::byte{0x0f}, std::byte{0xa0}}));
  EXPECT_EQ(recorded.header.deterministic_seed, 0u);
  EXPECT_EQ(recorded.header.command_line, (Texts{"qemu", "-s"}));
  EXPECT_EQ(recorded.images[0].build_id.size(), 2u);
  EXPECT_EQ(recorded.images[0].load_bias, 0x1000u);
  ASSERT_EQ(recorded.samples.size(), 1u);
  const recording::SampleInfo& info = recorded.samples[0].info;
  EXPECT_EQ(info.time_ns, 5u);
  EXPECT_EQ(info.vcpu, VcpuId{1});
  EXPECT_EQ(info.level, PrivilegeLevel::kKernel);
  EXPECT_EQ(info.weight, 3u);
  EXPECT_EQ(info.pause_ns, 9u);
  EXPECT_EQ(info.pid, 7u);
  EXPECT_EQ(info.tid, 8u);
  EXPECT_EQ(info.address_space, 2u);
  EXPECT_EQ(info.thread_start_ns, 4u);
  EXPECT_EQ(info.state, recording::ThreadState::kBlocked);
  EXPECT_EQ(recorded.texts[info.waits_for], "disk");
  EXPECT_EQ(recorded.samples[0].frames,
            (Texts{"[kernel] inner (inlined)", "[kernel] middle (inlined)", "[kernel] outer<int>",
                   "[kernel] 0x20"}));
  EXPECT_EQ(recorded.frames.back().line, 7u);  // the innermost, of which outer ones come first
  EXPECT_EQ(recorded.texts[recorded.frames.back().file], "b.h");
  EXPECT_EQ(recorded.frames.back().kind, FrameKind::kInterrupt);
  EXPECT_EQ(recorded.frames.back().source, FrameSource::kOrc);
  ASSERT_EQ(recorded.thread_names.size(), 1u);
  EXPECT_EQ(recorded.thread_names[0], (recording::ThreadName{5, 7, 8, 0, "cat", "/a"}));
  EXPECT_EQ(recorded.statistics_of[1].due, 10u);
  EXPECT_EQ(recorded.statistics_of[1].lost, 7u);
  EXPECT_EQ(recorded.statistics_of[1].counters.at("why"), 7u);
}

// The file at that path may be another one by now.
TEST_F(JsonLinesImport, AFrameWithoutANameIsLookedUpInAFileThatIsProven) {
  ASSERT_TRUE(read(kHead + sample("", frame("0x30", "", "", "other") + "," +
                                          frame("0x40", "\"f\"", "", "other"))));
  EXPECT_EQ(recorded.samples[0].frames, (Texts{"0x30", "[other] f"}));
}

TEST_F(JsonLinesImport, SourcesHaveTheirClocksAndValues) {
  ASSERT_TRUE(read(kHead + std::string(R"({"time_ns":1,"level":"user","disposition":"sampled",)"
                                       R"("source":"memory","values":{"count":1,"bytes":-64},)"
                                       R"("weight":1,"unit":"events","stacks":[]})")));
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[1].kind, recording::SourceKind::kAllocations);
  EXPECT_EQ(recorded.sources[1].values[1].unit, WeightUnit::kBytes);
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.sources[1].clock, recorded.clocks[0].id);
  EXPECT_EQ(recorded.samples[0].info.vcpu, recording::kNoVcpu);
  EXPECT_THAT(recorded.samples[0].more_values, ElementsAre(-64));
}

TEST_F(JsonLinesImport, EventsHaveTheirFields) {
  ASSERT_TRUE(read(
      kHead + std::string(R"({"event":"request","time":4,"vcpu":1,"duration":6,"key":)"
                          R"(18446744073709551615,"fields":{"size":-5,"at":"0xffffffff81000000",)"
                          R"("what":"w","code":)" +
                          frame("0x50", "\"g\"") + R"(},"stacks":[]})")));
  ASSERT_EQ(recorded.happened.size(), 1u);
  EXPECT_EQ(recorded.happened[0].type, "request");
  EXPECT_EQ(recorded.happened[0].time, 4u);
  EXPECT_THAT(recorded.happened[0].fields,
              ElementsAre("size -5", "at -2130706432", "what w", "code 1"));
  EXPECT_EQ(recorded.texts[recorded.frames[1].function], "g");
}

TEST_F(JsonLinesImport, AFieldMayBeCalledStacks) {
  const auto imported = read(
      kHead + std::string(R"({"event_type":"e","source":"cpu","field_types":[{"name":"n","type":)"
                          R"("integer","unit":"events"},{"name":"stacks","type":"integer",)"
                          R"("unit":"events"}]})"
                          "\n"
                          R"({"event":"e","time":5,"fields":{"n":1,"stacks":3},"stacks":[]})"));
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(recorded.happened.size(), 1u);
  EXPECT_THAT(recorded.happened[0].fields, ElementsAre("n 1", "stacks 3"));
}

// As Python's json.dumps writes them.
TEST_F(JsonLinesImport, BlanksAndAnotherOrderAreRead) {
  const std::string own = kHead + sample(R"("pid":7,"comm":"x",)", frame("0x10", "\"f\",\"g\""));
  std::string spread = own;
  for (const std::string_view mark : {"\":", ","})
    for (std::size_t at = 0; (at = spread.find(mark, at)) != std::string::npos; ++at)
      spread.insert(at += mark.size(), " ");
  const std::string text = spread + R"({"stacks":[{"frames":[],"stop":"lost"}],"time_ns":6,)"
                                    R"("level":"user","disposition":"sampled","weight":1})";
  EXPECT_EQ(json_lines_likeness({"input", as_bytes(text), {}}, {}), Likeness::kCertain);
  const auto imported = read(text);
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.images.size(), 2u);
  EXPECT_EQ(recorded.samples[0].frames, (Texts{"[kernel] g (inlined)", "[kernel] f"}));
  EXPECT_EQ(recorded.samples[1].frames, Texts{"lost"});
}

constexpr std::string_view kSourceTail =
    R"("kind":"cpu","value_types":[{"name":"ticks","unit":"ticks"}]})"
    "\n";
std::string first_line() { return std::string(kHead).substr(0, std::string(kHead).find('\n') + 1); }
std::string source(const std::string& members) {
  return "{\"source_type\":" + members + "," + std::string(kSourceTail);
}
std::string type_of_events(const std::string& members, const std::string& field) {
  return "{\"event_type\":" + members + R"(,"field_types":[{"name":")" + field +
         R"(","type":"integer","unit":"events"}]})" + "\n";
}

TEST_F(JsonLinesImport, SourcesAndTypesOfOneNameHaveIds) {
  const std::string sources = source(R"("a","id":4)") + source(R"("a","id":9)") + source("\"\"");
  const std::string types = type_of_events(R"("e","id":2,"source":"a","source_id":9)", "x") +
                            type_of_events(R"("e","id":5,"source":"")", "y");
  const auto imported = read(
      first_line() + sources + types + sample("") + sample(R"("source":"a","source_id":9,)") +
      sample(R"("source":"",)") +
      R"({"event":"e","type_id":5,"time":5,"fields":{"y":1},"stacks":[]})" + "\n" +
      R"({"statistics":"a","source_id":9,"due":3,"lost":0,"late":1,"duration_ns":1,"counters":{}})");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->warnings, IsEmpty());
  ASSERT_EQ(recorded.samples.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(recorded.samples[i].info.source, i + 1);
  ASSERT_EQ(recorded.happened.size(), 1u);
  EXPECT_EQ(recorded.event_types[1].source, 3u);
  EXPECT_THAT(recorded.happened[0].fields, ElementsAre("y 1"));
  EXPECT_EQ(recorded.statistics_of.size(), 1u);
  EXPECT_EQ(recorded.statistics_of[2].late, 1u);
}

TEST_F(JsonLinesImport, WhatNoIdTellsApartIsRefused) {
  EXPECT_EQ(read(first_line() + source("\"a\"") + source("\"a\"") + sample("")).error().message,
            "input: line 3: two sources are called a, and no id tells them apart: export the "
            "recording again");
  const std::string other = type_of_events(R"("request","source":"cpu")", "x");
  EXPECT_THAT(read(kHead + other + sample("")).error().message,
              HasSubstr("line 7: two types of events are called request"));
}

// The file of another one would be shown as its source.
TEST_F(JsonLinesImport, ImagesOfOneNameHaveIds) {
  const std::string image =
      R"({"image":"prog","id":NUMBER,"path":"/NUMBER/prog","load_bias":"0x0"})"
      "\n";
  const auto numbered = [&](const char* number) {
    std::string text = image;
    for (int i = 0; i < 2; ++i) text.replace(text.find("NUMBER"), 6, number);
    return text;
  };
  const auto of = [](const char* more) { return frame("0x30", "\"f\"", more, "prog"); };
  ASSERT_TRUE(read(kHead + numbered("4") + numbered("7") +
                   sample("", of(R"(,"image_id":7)") + "," + of(R"(,"image_id":4)"))));
  EXPECT_EQ(recorded.images.size(), 4u);
  EXPECT_EQ(recorded.images[recorded.frames[2].image - 1].path, "/7/prog");
  EXPECT_EQ(recorded.images[recorded.frames[1].image - 1].path, "/4/prog");
  ASSERT_TRUE(read(kHead + numbered("4") + numbered("7") + sample("", of(""))));
  EXPECT_EQ(recorded.samples[0].frames, Texts{"[prog] f"});
  EXPECT_EQ(recorded.images[recorded.frames[1].image - 1].path, "");
}

TEST_F(JsonLinesImport, BytesThatAreNoneAreAFaultOfTheirLine) {
  const std::string type = R"({"event_type":"b","source":"cpu","field_types":[{"name":"raw",)"
                           R"("type":"bytes","unit":"events"}]})"
                           "\n";
  const auto event = [](const char* digits) {
    return R"({"event":"b","time":5,"fields":{"raw":")" + std::string(digits) +
           R"("},"stacks":[]})" + "\n";
  };
  for (const char* const bad : {"0g", "0fa", "-1"}) {
    const auto imported = read(kHead + type + event(bad) + event("0fA0") + statistics("1", "0"));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("at line 8: bytes have two")));
    EXPECT_EQ(imported->records, 1u);
  }
  const std::string image = R"({"image":"x","path":"","load_bias":"0x0","build_id":"0g"})"
                            "\n";
  const auto imported = read(kHead + image + sample("") + statistics("3", "0"));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("at line 7: bytes have two")));
  EXPECT_EQ(recorded.images.size(), 2u);
}

// Those of several vCPUs are not in order of time.
TEST_F(JsonLinesImport, NamesOfThreadsChange) {
  using Lines = std::vector<std::pair<std::uint64_t, std::string>>;
  const auto names_of = [&](const Lines& lines) {
    std::string text;
    for (const auto& [time, name] : lines) {
      text += sample(R"("pid":7,"tid":7,"comm":")" + name + "\",");
      text.replace(text.rfind("\"time_ns\":5"), 11, fmt::format("\"time_ns\":{}", time));
    }
    recorded = {};
    EXPECT_TRUE(read(kHead + text));
    std::map<std::uint64_t, std::string> names;
    for (const recording::ThreadName& name : recorded.thread_names) names[name.time_ns] = name.name;
    // That of each line, as readers find it.
    for (const auto& [time, name] : lines) {
      const auto behind = names.upper_bound(time);
      EXPECT_EQ(behind == names.begin() ? "" : std::prev(behind)->second, name) << time;
    }
    return recorded.thread_names.size();
  };
  EXPECT_EQ(names_of({{10, "sh"}, {30, "cat"}, {8, "sh"}, {40, "cat"}}), 3u);
  EXPECT_EQ(names_of({{10, "sh"}, {30, "cat"}, {8, "sh"}, {40, "sh"}}), 4u);
  EXPECT_EQ(names_of({{10, "sh"}, {20, "sh"}, {15, "cat"}, {16, "cat"}, {18, "sh"}}), 5u);
  EXPECT_EQ(names_of({{20, ""}, {10, "sh"}, {30, "sh"}}), 3u);
  EXPECT_EQ(names_of({{20, ""}, {30, ""}}), 0u);
}

TEST_F(JsonLinesImport, ANameWithoutANumberStandsForMany) {
  ASSERT_TRUE(read(kHead + sample(R"("comm":"cat",)") + sample(R"("comm":"sh",)")));
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_TRUE(recorded.thread_names[0].of_many);
  EXPECT_NE(recorded.samples[0].info.pid, recorded.samples[1].info.pid);
}

TEST_F(JsonLinesImport, ALostStackStaysLost) {
  std::string line = sample("");
  line.replace(line.find("no unwind rule"), 14, "lost");
  ASSERT_TRUE(read(kHead + line));
  EXPECT_EQ(recorded.samples[0].frames, Texts{"lost"});
}

TEST_F(JsonLinesImport, BrokenLinesAreLeftOutAndTheirTicksAreLost) {
  const std::string good = sample("", frame("0x10", "\"f\""));
  const auto imported =
      read(kHead + good + good.substr(0, 90) + "\n" + good + "{\"x\":1}\n" +
           R"({"statistics":"cpu","due":10,"lost":1,"late":0,"duration_ns":5,"counters":{}})");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->records, 2u);
  EXPECT_THAT(imported->warnings,
              ElementsAre(HasSubstr("input: 2 lines are left out; the first is at line 8: ")));
  EXPECT_EQ(recorded.statistics_of[1].due, 10u);
  EXPECT_EQ(recorded.statistics_of[1].lost, 4u);
}

TEST_F(JsonLinesImport, WithoutStatisticsItIsUnknownWhatIsLost) {
  const auto imported = read(kHead + sample("") + sample(""));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(recorded.statistics_of, IsEmpty());
  EXPECT_THAT(imported->warnings,
              ElementsAre(HasSubstr("input: the lines end without statistics: ")));
}

TEST_F(JsonLinesImport, TicksInNoLineAreLost) {
  const auto imported = read(kHead + sample("") + statistics("10", "1"));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->warnings, IsEmpty());
  EXPECT_EQ(recorded.statistics_of[1].due, 10u);
  EXPECT_EQ(recorded.statistics_of[1].lost, 7u);
}

TEST_F(JsonLinesImport, FilesThatAreJoinedAreCountedTogether) {
  const std::string one = kHead + sample("");
  ASSERT_TRUE(read(one + statistics("4", "1") + one + statistics("5", "1")));
  EXPECT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.statistics_of[1].due, 9u);
  EXPECT_EQ(recorded.statistics_of[1].lost, 3u);
}

TEST_F(JsonLinesImport, MoreTicksThanWereDueAreReported) {
  const auto imported = read(kHead + sample("") + sample("") + statistics("4", "1"));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(
      imported->warnings,
      ElementsAre(HasSubstr("input: its lines have 3 more ticks or events of the source cpu "
                            "than were due")));
  EXPECT_EQ(recorded.statistics_of[1].due, 7u);
  EXPECT_EQ(recorded.statistics_of[1].lost, 1u);
}

TEST_F(JsonLinesImport, WhatIsMissingIsNamed) {
  const std::string head = std::string(kHead).substr(0, std::string(kHead).find('\n') + 1);
  EXPECT_THAT(read(head + sample("")).error().message,
              HasSubstr("line 2: no source is described in front of it"));
  EXPECT_THAT(read(sample("")).error().message, HasSubstr("line 1: the recording's own line"));
  EXPECT_THAT(read(kHead).error().message, HasSubstr("there is no sample"));
  const auto fault = [&](const std::string& members, const char* reason) {
    EXPECT_THAT(read(kHead + sample(members)).error().message, HasSubstr(reason));
  };
  fault(R"("source":"none",)", "line 7: its source is not described");
  fault(R"("stacks":[],)", "line 7: ");
}

TEST_F(JsonLinesImport, DamageAtAnyByteDoesNoHarm) {
  const std::string whole = kHead + sample(R"("pid":7,"comm":"x",)", frame("0x10", "\"f\"")) +
                            R"({"epoch":"reboot","time_ns":9})" + "\n" +
                            sample("", frame("0x10", "\"f\""));
  ASSERT_TRUE(read(whole));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 0x15);
    (void)read(text);
    (void)read(whole.substr(0, at));
  }
}

TEST_F(JsonLinesImport, CountersAreLeftOut) {
  const auto imported = read(
      kHead + sample("") + statistics("3", "0") +
      R"({"counter":"blocks","mark":"end","time_ns":3,"key":{"image":"k"},"values":{"ticks":1}})");
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("counters are not read back: 1")));
}

TEST_F(JsonLinesImport, TheFirstLineIsItsMark) {
  const auto likeness = [](const std::string& text) {
    return json_lines_likeness({"input", as_bytes(text), {}}, {});
  };
  EXPECT_EQ(likeness(kHead), Likeness::kCertain);
  EXPECT_EQ(likeness("{\"arch\":\"x86_64\"}\n"), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
