#include "exporters/perf/script_text.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "exporters/exporters_test_util.h"
#include "recording/recording_test_util.h"

// The expected texts have the form that `perf script` of Linux 6.1 prints.
namespace ringside::exporters {
namespace {

using recording::testing::TempDir;
using testing::frame;

// Functions of 0x100 bytes, called after their address; "small" is inlined into the one at 0x1200.
class ScriptNamer final : public profile::FrameNamer {
 public:
  void name(const profile::FrameToName& what, profile::NamedFrame& out) override {
    if (what.image == nullptr) return;
    const std::uint64_t start = what.frame.lookup_address().value & ~std::uint64_t{0xff};
    out.functions = {fmt::format("f_{:x}", start)};
    if (start == 0x1200) out.functions.emplace_back("small");
    out.start = {start};
    out.size = 0x100;
  }
};

class ScriptText : public ::testing::Test {
 protected:
  // `engine` is the recording's.
  void begin(const std::string& engine, std::vector<recording::Source> more_sources = {}) {
    recording::Header header;
    header.arch = Arch::kX86_64;
    header.vcpu_count = 2;
    header.interval_ns = 1'000'000;
    header.engine = engine;
    header.start_monotonic_ns = 100'000'000'000;
    writer_.emplace(recording::Writer::create(dir_ / "t.data", header).value());
    for (recording::Source& source : more_sources) EXPECT_TRUE(writer_->add_source(source));
    recording::ImageInfo kernel;
    kernel.name = "kernel";
    EXPECT_TRUE(writer_->add_image(kernel));
    recording::ImageInfo program;
    program.name = "dd";
    program.path = "/usr/bin/dd";
    EXPECT_TRUE(writer_->add_image(program));
    EXPECT_TRUE(writer_->add_thread_name({0, 7, 8, 0, "dd"}));
  }

  // Kernel code on user code, or its leaf alone.
  void add(std::uint64_t time_ns, std::uint32_t source = 1, bool has_callers = true) {
    recording::SampleInfo info;
    info.source = source;
    info.time_ns = time_ns;
    info.vcpu = {1};
    info.level = PrivilegeLevel::kKernel;
    info.pid = 7;
    info.tid = 8;
    info.weight = 3;
    Stack kernel;
    kernel.frames = {frame(0xffffffff81000010, true, FrameKind::kKernel, 1)};
    kernel.stop = StopReason::kUserMode;
    Stack user;
    user.frames = {frame(0x1234, true, FrameKind::kUser, 2),
                   frame(0x401234, false, FrameKind::kUser)};
    const std::array<const Stack*, 2> stacks = {&kernel, &user};
    EXPECT_TRUE(writer_->add_sample(info, std::span(stacks).first(has_callers ? 2 : 1)));
  }

  std::string text(const ScriptOptions& options = {}) {
    EXPECT_TRUE(writer_->finish());
    auto reader = recording::Reader::open(dir_ / "t.data");
    EXPECT_TRUE(reader);
    ScriptNamer namer;
    profile::BuildOptions build;
    build.every_source = true;
    auto profile = profile::DetailedProfile::read(*reader, namer, build);
    EXPECT_TRUE(profile);
    return testing::text_of([&](Sink& sink) { return write_script(**profile, options, sink); });
  }

  TempDir dir_;
  std::optional<recording::Writer> writer_;
};

constexpr const char* kFrames =
    "\tffffffff81000010 f_ffffffff81000000+0x10 ([kernel.kallsyms])\n"
    "\t            1234 small (inlined)\n"
    "\t            1234 f_1200+0x34 (/usr/bin/dd)\n";

TEST_F(ScriptText, ASampleIsABlock) {
  begin("tcg");
  add(2'000'123'456);
  EXPECT_EQ(text(), std::string("dd     8 [001]     2.000123:          3 cpu: \n") + kFrames +
                        "\t          401234 [user] ([unknown])\n\n");
}

TEST_F(ScriptText, FilesOfPerfHaveTheirOwnTimesAndNames) {
  begin("perf-data");
  add(2'000'123'456);
  EXPECT_EQ(text(), std::string("dd     8 [001]   102.000123:          3 cpu: \n") + kFrames +
                        "\t          401234 [unknown] ([unknown])\n\n");
}

TEST_F(ScriptText, WithoutCallersItIsALine) {
  begin("tcg");
  add(5, 1, false);
  EXPECT_EQ(text(),
            "              dd     8 [001]     0.000000:          3 cpu:  ffffffff81000010 "
            "f_ffffffff81000000+0x10 ([kernel.kallsyms])\n");
}

TEST_F(ScriptText, OptionsChooseWhatOfASampleIsThere) {
  begin("tcg");
  add(1'000);
  add(3'500);
  ScriptOptions options;
  options.fields = {ScriptField::kComm, ScriptField::kPid, ScriptField::kTid, ScriptField::kTime};
  options.origin = ScriptOptions::TimeOrigin::kFirst;
  options.nanoseconds = true;
  EXPECT_EQ(text(options),
            "              dd     7/8         0.000000000: \n"
            "              dd     7/8         0.000002500: \n");
  options.fields = {ScriptField::kIp, ScriptField::kSym};
  options.max_stack = 1;
  EXPECT_EQ(text(options),
            "\n\tffffffff81000010 f_ffffffff81000000\n\n"
            "\n\tffffffff81000010 f_ffffffff81000000\n\n");
  options.hide_call_graph = true;
  EXPECT_EQ(text(options),
            " ffffffff81000010 f_ffffffff81000000\n"
            " ffffffff81000010 f_ffffffff81000000\n");
  options.symbols = {"f_1200"};  // not at the leaf
  EXPECT_EQ(text(options), "");
}

TEST_F(ScriptText, SamplesOfSeveralSourcesAreInOrderOfTime) {
  recording::Source faults;
  faults.name = "faults";
  faults.kind = recording::SourceKind::kProbe;
  faults.values = {{"count", recording::WeightUnit::kCount, 1}};
  begin("tcg", {faults});
  add(1'000);
  add(3'000);
  add(2'000, 2);
  ScriptOptions options;
  options.fields = {ScriptField::kEvent};
  EXPECT_EQ(text(options), "   cpu: \nfaults: \n   cpu: \n");
}

}  // namespace
}  // namespace ringside::exporters
