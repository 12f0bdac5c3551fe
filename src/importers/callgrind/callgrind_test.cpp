#include "importers/callgrind/callgrind.h"

#include <random>
#include <set>

#include "importers/importers_test_util.h"

namespace ringside::importers {
namespace {

using Texts = std::vector<std::string>;

// The second example of the format's manual.
constexpr const char* kExample = R"(events: Instructions

fl=file1.c
fn=main
16 20
cfn=func1
calls=1 50
16 400
cfi=file2.c
cfn=func2
calls=3 20
16 400

fn=func1
51 100
cfi=file2.c
cfn=func2
calls=2 20
51 300

fl=file2.c
fn=func2
20 700
)";

class CallgrindTest : public ImportTest {
 protected:
  Result<Imported> import(const Texts& texts) {
    auto imported = ImportTest::import(import_callgrind, texts);
    own_.clear();
    inclusive_.clear();
    stacks_.clear();
    for (const Recorded::OneSample& sample : recorded.samples) {
      const auto weight = static_cast<std::int64_t>(sample.info.weight);
      if (sample.frames.empty()) continue;
      own_[sample.frames.front()] += weight;
      for (const std::string& frame : std::set(sample.frames.begin(), sample.frames.end()))
        inclusive_[frame] += weight;
      std::string stack;
      for (const std::string& frame : sample.frames)
        stack = frame + (stack.empty() ? "" : ";") + stack;
      stacks_[stack] += weight;
    }
    return imported;
  }
  Result<Imported> import(const std::string& text) { return import(Texts{text}); }

  using Sums = std::map<std::string, std::int64_t>;
  Sums own_;        // by function
  Sums inclusive_;  // by function
  Sums stacks_;     // "outermost;leaf"
};

TEST_F(CallgrindTest, ChainsOfCallersAreMadeOfCalls) {
  const auto imported = import(kExample);
  ASSERT_TRUE(imported);
  EXPECT_EQ(
      stacks_,
      (Sums{{"main", 20}, {"main;func1", 100}, {"main;func1;func2", 300}, {"main;func2", 400}}));
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_NE(imported->warnings[0].find("input: stacks are estimated"), std::string::npos);
  EXPECT_EQ(recorded.header.engine, "callgrind");
  EXPECT_EQ(recorded.statistics_of[1].due, 4u);
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
}

TEST_F(CallgrindTest, FramesHaveFilesAndLines) {
  ASSERT_TRUE(import(kExample));
  std::set<std::string> places;
  for (std::size_t i = 1; i < recorded.frames.size(); ++i) {
    const recording::RecordedFrame& frame = recorded.frames[i];
    places.insert(fmt::format("{} {}:{}", recorded.texts[frame.function],
                              recorded.texts[frame.file], frame.line));
    EXPECT_EQ(frame.kind, FrameKind::kCode);
  }
  EXPECT_EQ(places,
            (std::set<std::string>{"main file1.c:16", "func1 file1.c:51", "func2 file2.c:20"}));
}

// The same with numbers for names, and positions relative to each other.
TEST_F(CallgrindTest, CompressedNamesAndPositionsAreTheSame) {
  ASSERT_TRUE(import(kExample));
  const Sums plain = stacks_;
  ASSERT_TRUE(import(R"(# callgrind format
events: Instructions

fl=(1) file1.c
fn=(1) main
16 20
cfn=(2) func1
calls=1 50
* 400
cfi=(2) file2.c
cfn=(3) func2
calls=3 20
* 400

fn=(2)
+35 100
cfi=(2)
cfn=(3)
calls=2 20
* 300

fl=(2)
fn=(3)
-31 700
)"));
  EXPECT_EQ(stacks_, plain);
  for (std::size_t i = 1; i < recorded.frames.size(); ++i)
    EXPECT_TRUE(recorded.texts[recorded.frames[i].function] != "func2" ||
                recorded.frames[i].line == 20);
}

TEST_F(CallgrindTest, EventsAreValuesOfOneSource) {
  ASSERT_TRUE(import(R"(version: 1
cmd:  ./prog -x
positions: line
event: sysTime : sysTime (elapsed us)
events: Ir Dr sysTime
fl=file.f
fn=main
15 90 14 2
16 20 12
)"));
  ASSERT_EQ(recorded.sources.size(), 1u);
  using recording::ValueType;
  using recording::WeightUnit;
  EXPECT_EQ(recorded.sources[0].values,
            (std::vector<ValueType>{{"Ir", WeightUnit::kInstructions, 1},
                                    {"Dr", WeightUnit::kCount, 1},
                                    {"sysTime", WeightUnit::kNanoseconds, 1000}}));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.samples[0].info.weight, 90u);
  EXPECT_EQ(recorded.samples[0].more_values, (std::vector<std::int64_t>{14, 2}));
  EXPECT_EQ(recorded.samples[1].more_values, (std::vector<std::int64_t>{12, 0}));
  EXPECT_EQ(recorded.header.command_line, (Texts{"./prog", "-x"}));
}

TEST_F(CallgrindTest, PartsMayHaveOtherEvents) {
  ASSERT_TRUE(
      import("events: Ir Dr\nfn=(1) main\n1 5 6\ntotals: 5 6\n"
             "part: 2\nevents: Dr Bc\nfn=(1)\n1 7 8\ntotals: 7 8\n"));
  ASSERT_EQ(recorded.sources[0].values.size(), 3u);
  ASSERT_EQ(recorded.samples.size(), 1u);
  EXPECT_EQ(recorded.samples[0].info.weight, 5u);
  EXPECT_EQ(recorded.samples[0].more_values, (std::vector<std::int64_t>{13, 8}));
}

TEST_F(CallgrindTest, AddressesAndJumpsAreReadOver) {
  ASSERT_TRUE(import(R"(positions: instr line
events: Ir
ob=(1) /bin/prog
fl=(1) a.c
fn=(1) main
0x1000 40 1
+7 * 2
jcnd=1/1 +14 +3
* *
jfi=(2) b.h
jump=3 0x1010 50
* *
fi=(2)
+2 -9 4
fe=(1)
+1 +10 8
)"));
  EXPECT_EQ(own_, (Sums{{"[prog] main", 15}}));
  std::map<std::string, std::int64_t> lines;
  for (const Recorded::OneSample& sample : recorded.samples)
    lines[fmt::format("{}", sample.info.weight)] = 1;
  EXPECT_EQ(lines.size(), 3u);  // a.c:40, b.h:31, a.c:41
  EXPECT_EQ(recorded.images.at(0).path, "/bin/prog");
}

// The costs below are split as they came: 3 to 1.
TEST_F(CallgrindTest, CallersShareInProportion) {
  ASSERT_TRUE(
      import("events: Ir\n"
             "fn=a\n1 10\ncfn=f\ncalls=1 1\n1 300\n"
             "fn=b\n1 10\ncfn=f\ncalls=1 1\n1 100\n"
             "fn=f\n1 40\ncfn=g\ncalls=1 1\n1 200\ncfn=h\ncalls=1 1\n1 160\n"
             "fn=g\n1 200\nfn=h\n1 160\n"));
  EXPECT_EQ(stacks_, (Sums{{"a", 10},
                           {"b", 10},
                           {"a;f", 30},
                           {"b;f", 10},
                           {"a;f;g", 150},
                           {"b;f;g", 50},
                           {"a;f;h", 120},
                           {"b;f;h", 40}}));
}

TEST_F(CallgrindTest, RecursiveCallsStandInAStackOnce) {
  ASSERT_TRUE(
      import("events: Ir\n"
             "fn=main\n1 1\ncfn=even\ncalls=1 1\n1 99\n"
             "fn=even\n1 50\ncfn=odd\ncalls=9 1\n1 400\ncfn=even\ncalls=9 1\n1 70\n"
             "fn=odd\n1 40\ncfn=even\ncalls=9 1\n1 350\ncfn=leaf\ncalls=1 1\n1 9\n"
             "fn=leaf\n1 9\n"));
  EXPECT_EQ(
      stacks_,
      (Sums{{"main", 1}, {"main;even", 50}, {"main;even;odd", 40}, {"main;even;odd;leaf", 9}}));
}

// Calls that cost more than their callees, or less, and circles without a caller.
TEST_F(CallgrindTest, OwnCostsAreExactWhateverCallsSay) {
  ASSERT_TRUE(
      import("events: Ir\n"
             "fn=main\n1 1\ncfn=f\ncalls=1 1\n1 900\ncfn=g\ncalls=1 1\n1 5\n"
             "fn=f\n1 30\nfn=g\n1 20\n"
             "fn=x\n1 3\ncfn=y\ncalls=1 1\n1 10\nfn=y\n1 4\ncfn=x\ncalls=1 1\n1 9\n"));
  EXPECT_EQ(own_, (Sums{{"main", 1}, {"f", 30}, {"g", 20}, {"x", 3}, {"y", 4}}));
  EXPECT_EQ(stacks_["main;f"], 30);
  EXPECT_EQ(stacks_["main;g"], 5);
  EXPECT_EQ(stacks_["g"], 15);
}

// Graphs without circles, of real stacks: both sums are those of the stacks.
class CallgrindSumsTest : public CallgrindTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(CallgrindSumsTest, OwnAndInclusiveCostsAreExact) {
  std::mt19937 random(GetParam());
  std::map<int, std::int64_t> own;
  std::map<std::pair<int, int>, std::int64_t> calls;
  Sums inclusive;
  for (int stack = 0; stack < 300; ++stack) {
    const std::int64_t cost = random() % 1000 + 1;
    int function = static_cast<int>(random() % 3);
    inclusive[fmt::format("f{}", function)] += cost;
    for (int depth = 0; depth < 8 && random() % 5 != 0; ++depth) {
      const int callee = function + 1 + static_cast<int>(random() % 6);  // no circles
      calls[{function, callee}] += cost;
      inclusive[fmt::format("f{}", callee)] += cost;
      function = callee;
    }
    own[function] += cost;
  }
  std::string text = "events: Ir\n";
  for (int function = 0; function < 60; ++function) {
    text += fmt::format("fn=f{}\n", function);
    if (own.count(function)) text += fmt::format("{} {}\n", function, own[function]);
    for (const auto& [call, cost] : calls)
      if (call.first == function)
        text += fmt::format("cfn=f{}\ncalls=1 1\n{} {}\n", call.second, function, cost);
  }
  ASSERT_TRUE(import(text));
  Sums expected;
  for (const auto& [function, cost] : own) expected[fmt::format("f{}", function)] = cost;
  EXPECT_EQ(own_, expected);
  EXPECT_EQ(inclusive_, inclusive);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CallgrindSumsTest, ::testing::Range(0u, 10u));

TEST_F(CallgrindTest, ACallThatBeganBeforeThePartIsOne) {
  ASSERT_TRUE(import("events: Ir\nfn=main\n1 1\ncfn=f\ncalls=0 1\n1 9\nfn=f\n1 9\n"));
  EXPECT_EQ(stacks_, (Sums{{"main", 1}, {"main;f", 9}}));
}

TEST_F(CallgrindTest, ThreadsOfSeveralFilesStayApart) {
  const std::string head = "pid: 7\ncmd: /bin/prog\nthread: ";
  ASSERT_TRUE(import(
      Texts{head + "1\nevents: Ir\nfn=(1) main\n1 5\ncfn=(2) f\ncalls=1 1\n1 6\nfn=(2)\n1 6\n",
            head + "2\nevents: Ir\nfn=(1) start\n1 3\ncfn=(2) f\ncalls=1 1\n1 4\nfn=(2)\n1 4\n"}));
  EXPECT_EQ(stacks_, (Sums{{"main", 5}, {"main;f", 6}, {"start", 3}, {"start;f", 4}}));
  for (const Recorded::OneSample& sample : recorded.samples) {
    EXPECT_EQ(sample.info.pid, 7u);
    EXPECT_EQ(sample.info.tid, sample.frames.back() == "main" ? 1u : 2u);
  }
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_EQ(recorded.thread_names[0].name, "prog");
}

TEST_F(CallgrindTest, RingsidesProcessesComeBack) {
  ASSERT_TRUE(import(R"(# callgrind format
version: 1
creator: ringside 1
cmd: vmlinux
positions: line
events: ticks time
summary: 12 1200

ob=(1) kernel
fl=(1) ???
fn=(1) read
0 7 700

ob=(2) [process]
fl=(1)
fn=(2) cat
cob=(1)
cfi=(1)
cfn=(1)
calls=7 0
0 7 700
cob=(2)
cfi=(1)
cfn=(3) [idle]
calls=5 0
0 5 500

ob=(2)
fl=(1)
fn=(3)
0 5 500
)"));
  EXPECT_EQ(stacks_, (Sums{{"[kernel] read", 7}}));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kCpu);
  EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kTicks);
  EXPECT_EQ(recorded.sources[0].values[1].unit, recording::WeightUnit::kNanoseconds);
  EXPECT_TRUE(recorded.header.command_line.empty());
  for (const Recorded::OneSample& sample : recorded.samples) {
    EXPECT_EQ(sample.info.pid, 1u);
    EXPECT_EQ(sample.info.disposition == wire::Disposition::kIdle, sample.frames.empty());
  }
  ASSERT_EQ(recorded.thread_names.size(), 1u);
  EXPECT_EQ(recorded.thread_names[0].name, "cat");
  EXPECT_TRUE(recorded.thread_names[0].of_many);
}

TEST_F(CallgrindTest, NegativeCostsStayWithTheirFunction) {
  ASSERT_TRUE(
      import("events: count change\nfn=main\n1 2 5\ncfn=free\ncalls=1 1\n1 3 -70\n"
             "fn=free\n9 3 -70\n"));
  std::int64_t change = 0;
  for (const Recorded::OneSample& sample : recorded.samples)
    if (sample.frames.front() == "free") change += sample.more_values.at(0);
  EXPECT_EQ(change, -70);
  EXPECT_EQ(own_, (Sums{{"free", 3}, {"main", 2}}));
}

TEST_F(CallgrindTest, LongChainsAreCutAndSoSaid) {
  std::string text = "events: Ir\n";
  constexpr int kDepth = 1100;
  for (int i = 0; i < kDepth; ++i)
    text += fmt::format("fn=f{}\n1 1\ncfn=f{}\ncalls=1 1\n1 {}\n", i, i + 1, kDepth - i);
  text += fmt::format("fn=f{}\n1 1\n", kDepth);
  const auto imported = import(text);
  ASSERT_TRUE(imported);
  ASSERT_EQ(imported->warnings.size(), 2u);
  EXPECT_NE(imported->warnings[1].find("outer callers of"), std::string::npos);
  EXPECT_EQ(own_.size(), std::size_t{kDepth} + 1);
}

TEST_F(CallgrindTest, TotalsThatDifferAreSaid) {
  const auto imported = import("events: Ir\nfn=main\n1 5\ntotals: 6\n");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->warnings, Texts{"input: its totals are 6, and its lines add up to 5"});
  ASSERT_TRUE(import("events: Ir\nfn=main\n1 5\ntotals: 5\n"));
}

TEST_F(CallgrindTest, LinesThatAreNoneAreLeftOut) {
  const auto imported =
      import("events: Ir\r\nfn=main\r\n1 5\r\nnonsense\r\n1 6 7\r\n2 x\r\n3 1\r\n");
  ASSERT_TRUE(imported);
  EXPECT_EQ(own_, (Sums{{"main", 6}}));
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_EQ(
      imported->warnings[0],
      "input: 3 lines are left out; the first is at line 4: it is none of callgrind's format");
}

TEST_F(CallgrindTest, KeepsWhatCameBeforeACut) {
  const std::string whole = kExample;
  std::int64_t last = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto imported = import(whole.substr(0, size));
    std::int64_t sum = 0;
    for (const auto& [stack, cost] : stacks_) sum += cost;
    EXPECT_GE(sum, last) << size;
    EXPECT_EQ(imported.has_value(), sum > 0) << size;
    last = sum;
  }
  EXPECT_EQ(last, 820);
}

TEST_F(CallgrindTest, DamageAtAnyByteIsNoHarm) {
  const std::string whole = kExample;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char byte : {'\0', '9', '-', '=', '(', '\n', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      (void)import(damaged);
    }
}

TEST_F(CallgrindTest, HugeCostsDoNotOverflow) {
  const std::string most = "18446744073709551615";
  const auto imported =
      import("events: Ir\nfn=a\n1 " + most + "\n1 " + most + "\ncfn=b\ncalls=1 1\n1 " + most +
             "\n2 " + most + "\nfn=b\n1 4\ncfn=a\ncalls=1 1\n1 " + most + "\n");
  ASSERT_TRUE(imported);
  EXPECT_EQ(own_["a"], std::int64_t{1} << 62);
}

TEST_F(CallgrindTest, AnythingElseIsAnError) {
  for (const char* text : {"", "main;read 12\n", "events: Ir\nfn=main\n", "fn=main\n1 5\n"}) {
    const auto imported = import(std::string(text));
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, ErrorCode::kFormat);
    EXPECT_NE(imported.error().message.find("input: no profile of callgrind"), std::string::npos);
  }
}

TEST_F(CallgrindTest, LikenessTellsTheFormatApart) {
  const auto likeness = [](const std::string& text) {
    return callgrind_likeness({"input", as_bytes(text), {}}, {});
  };
  EXPECT_EQ(likeness(kExample), Likeness::kCertain);
  EXPECT_EQ(likeness("# callgrind format\n"), Likeness::kCertain);
  EXPECT_EQ(likeness("version: 1\ncmd: x\nevents: Ir\nob=(1) x\nfl=(1)\nfn=(1) main\n"),
            Likeness::kCertain);
  EXPECT_EQ(likeness(""), Likeness::kNone);
  EXPECT_EQ(likeness("main;read 12\n"), Likeness::kNone);
  EXPECT_EQ(likeness("events: nothing else\nhello\nfn=x\n"), Likeness::kNone);
  EXPECT_EQ(likeness("{\"events\": []}"), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
