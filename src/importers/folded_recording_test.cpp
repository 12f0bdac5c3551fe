#include "importers/folded_recording.h"

#include <map>
#include <random>

#include "importers/folded_text.h"
#include "importers/importers_test_util.h"
#include "profile/builder.h"

namespace ringside::importers {
namespace {

using Frames = std::vector<std::string>;

class FoldedRecording : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text) { return import(import_folded, {text}); }
};

// A stack with the kinds of its frames, and its weight.
using Stacks = std::map<std::string, profile::Weight>;

std::string text_of(const profile::Profile& profile, const profile::SampleGroup& group) {
  std::string text;
  for (const profile::FrameId id : profile.stacks.frames_of(group.stack)) {
    const profile::Frame& frame = profile.frames[id];
    text += fmt::format("{}:{}{};", profile.name(id), name_of(frame.kind),
                        frame.inlined ? " inlined" : "");
  }
  return text;
}

Stacks samples_of(const profile::Profile& profile) {
  Stacks samples;
  for (const profile::SampleGroup& group : profile.samples)
    samples[text_of(profile, group)] += static_cast<profile::Weight>(group.samples);
  return samples;
}

Stacks stacks_of(const profile::Profile& profile) {
  Stacks stacks;
  for (const profile::SampleGroup& group : profile.samples)
    stacks[text_of(profile, group)] += group.weight;
  return stacks;
}

profile::Profile profile_of_recording(const std::string& text) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("ringside-folded-{}", ::getpid());
  FileTarget target(path);
  const Input input{"input", as_bytes(text), {}};
  EXPECT_TRUE(import_folded({&input, 1}, {}, target));
  EXPECT_TRUE(target.finish());
  auto reader = recording::Reader::open(path);
  EXPECT_TRUE(reader);
  profile::NoNames names;
  auto profile = profile::build_profile(*reader, names);
  EXPECT_TRUE(profile);
  std::filesystem::remove(path);
  return std::move(*profile);
}

void expect_same(const std::string& text) {
  const auto direct = read_folded_text(as_bytes(text), "input");
  ASSERT_TRUE(direct);
  const profile::Profile recorded = profile_of_recording(text);
  EXPECT_EQ(stacks_of(recorded), stacks_of(*direct)) << text;
  EXPECT_EQ(recorded.unit, direct->unit);
  EXPECT_EQ(recorded.weight_of(wire::Disposition::kSampled),
            direct->weight_of(wire::Disposition::kSampled));
  EXPECT_EQ(recorded.samples.size(), direct->samples.size());
  EXPECT_EQ(recorded.totals.count, direct->totals.count) << text;
  EXPECT_EQ(samples_of(recorded), samples_of(*direct)) << text;
}

TEST_F(FoldedRecording, EachLineIsASample) {
  const auto imported = read("main;read;copy 12\nmain;read 3\nmain;read;copy 1\r\n");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 3u);
  EXPECT_TRUE(imported->warnings.empty());
  ASSERT_EQ(recorded.samples.size(), 3u);
  EXPECT_EQ(recorded.samples[0].frames, (Frames{"copy", "read", "main"}));
  EXPECT_EQ(recorded.samples[0].info.weight, 12u);
  EXPECT_EQ(recorded.samples[2].info.time_ns, 2u);
  EXPECT_EQ(recorded.samples[0].info.vcpu, recording::kNoVcpu);
  EXPECT_EQ(recorded.samples[0].info.level, PrivilegeLevel::kUnknown);
  EXPECT_EQ(recorded.header.engine, "folded");
  ASSERT_EQ(recorded.sources.size(), 1u);
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kOther);
  EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kSamples);
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.statistics_of[1].due, 3u);
}

TEST_F(FoldedRecording, SuffixesOfFrames) {
  ASSERT_TRUE(read("main;jitted_[j];tiny_[i];sys_read_[k] 1\n"));
  EXPECT_EQ(recorded.samples[0].frames, (Frames{"sys_read", "tiny (inlined)", "jitted", "main"}));
  std::vector<FrameKind> kinds;
  for (std::size_t i = 1; i < recorded.frames.size(); ++i) kinds.push_back(recorded.frames[i].kind);
  EXPECT_EQ(kinds, (std::vector<FrameKind>{FrameKind::kCode, FrameKind::kUser, FrameKind::kCode,
                                           FrameKind::kKernel}));
}

TEST_F(FoldedRecording, ShowsWhatTheTextShows) {
  expect_same("a;b 1\na;b;c 2\na;bc 3\na 4\n\na;b 5\r\nb;a 6");
  expect_same("operator new(unsigned long);std::map<int, int>::at 2\na;;b 3\na; 4\n; 1\n");
  expect_same("main;jitted_[j];tiny_[i];sys_read_[k] 1\nmain;tiny 2\n_[k] 3\n");
  expect_same("a 1.5\nb 0.25\nc 2.\n");
  expect_same("a;b -3\na 2\na;c -0.6\n");
  expect_same("a 9223372036854775807\nb 1\nc -1\nd 0\ne 9223372036854775808\n");
  expect_same("a 1\nno count\n# comment\nb 3x\nc 2\n");
  expect_same("vcpu 0 1\na;b 2\n");
}

TEST_F(FoldedRecording, CountsWithAFractionAreMultiplied) {
  const auto imported = read("# made by a script\na 1.5\nb -0.25\n");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->warnings,
            std::vector<std::string>{"input: counts have fractions: each is multiplied by 100"});
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.samples[0].info.weight, 150u);
  EXPECT_EQ(static_cast<std::int64_t>(recorded.samples[1].info.weight), -25);
}

TEST_F(FoldedRecording, MostLinesAreToBeStacks) {
  const auto imported = read("words\na 1\nmore words\n");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().message.find("input: 2 of 3 lines are no folded stacks"), 0u);
}

TEST_F(FoldedRecording, RandomStacksShowTheSame) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      for (auto depth = 1 + random() % 5; depth > 0; --depth)
        text += std::string(random() % 3, 'a') + (random() % 4 == 0 ? "b_[k]" : "") +
                (depth > 1 ? ";" : "c");
      text += " " + std::to_string(static_cast<int>(random() % 100) - 20) + "\n";
    }
    expect_same(text);
  }
}

TEST_F(FoldedRecording, CountsWhatItLeavesOut) {
  const auto imported = read("a 1\nno count\n# comment\nb 3x\nc 9223372036854775807\n");
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 1u);
  EXPECT_EQ(imported->warnings, std::vector<std::string>{
                                    "input: 3 lines are left out; the first is at line 2: it is no "
                                    "folded stack, such as 'main;read;copy 12'"});
}

TEST_F(FoldedRecording, AStackThatIsTooDeepKeepsItsLeaf) {
  std::string text = "root";
  for (int i = 0; i < 2000; ++i) text += fmt::format(";f{}", i);
  ASSERT_TRUE(read(text + " 7\n"));
  EXPECT_EQ(recorded.samples[0].frames.size(), 512u);
  EXPECT_EQ(recorded.samples[0].frames[0], "f1999");
}

TEST_F(FoldedRecording, Errors) {
  EXPECT_EQ(read("").error().message,
            "input: no line is a folded stack, such as 'main;read;copy 12'");
  EXPECT_EQ(read("\nwords\n").error().message,
            "input: no line is a folded stack, such as 'main;read;copy 12'; line 2 is none");
  EXPECT_NE(read("a;b 1 2\na 3 4\n").error().message.find("two counts"), std::string::npos);
}

TEST_F(FoldedRecording, KeepsWhatCameBeforeACut) {
  const std::string whole = "main;read_[k];copy 12\nmain;read 3\n\nmain;;x 1\r\na -4\n";
  std::size_t samples = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto imported = read(whole.substr(0, size));
    ASSERT_GE(recorded.samples.size(), samples) << size;
    ASSERT_EQ(imported ? imported->records : 0, recorded.samples.size());
    samples = recorded.samples.size();
  }
  EXPECT_EQ(samples, 4u);
}

TEST_F(FoldedRecording, ItsBeginning) {
  const auto likeness = [](const std::string& text) {
    return folded_likeness({"input", as_bytes(text), {}}, {});
  };
  EXPECT_EQ(likeness("a;b 1\n"), Likeness::kFits);
  EXPECT_EQ(likeness("words\n"), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
