#include "exporters/firefox/firefox.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "recording/recording_test_util.h"

namespace ringside::exporters {
namespace {

using nlohmann::json;

// Names a frame after its address, with a function inlined into it.
class Namer final : public profile::FrameNamer {
 public:
  void name(const profile::FrameToName& what, profile::NamedFrame& out) override {
    out.functions = {fmt::format("at_{:x}\"\\\n</script>", what.frame.lookup_address().value),
                     "inlined"};
    out.lines = {{"a.c", 7}, {"b.h", 9}};
    out.start = what.frame.lookup_address() - 4;
    out.size = 16;
  }
};

std::string unzipped(const std::string& bytes) {
  z_stream stream = {};
  EXPECT_EQ(::inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  std::string text(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  ::inflateEnd(&stream);
  return text;
}

class Firefox : public ::testing::Test {
 protected:
  Firefox() {
    recording::Header header;
    header.interval_ns = 1'000'000;
    header.start_wall_ns = 1'500'000'000;
    header.vcpu_count = 2;
    header.engine = "tcg";
    header.qemu_version = "7.2.22";
    writer_.emplace(*recording::Writer::create(dir_ / "t.data", header));
    recording::ImageInfo image;
    image.name = "kernel";
    image.load_bias = 0x1000;
    for (int i = 1; i <= 17; ++i) image.build_id.push_back(static_cast<std::byte>(i));
    EXPECT_TRUE(writer_->add_image(image));
    recording::Mapping mapping;
    mapping.image = 1;
    mapping.start = {0x8000};
    mapping.end = {0x9000};
    EXPECT_TRUE(writer_->add_mapping(mapping));
  }

  void tick(std::uint64_t time_ns, std::uint32_t vcpu, wire::Disposition disposition,
            const Stack* stack = nullptr, std::optional<std::uint32_t> tid = {}) {
    recording::SampleInfo info;
    info.time_ns = time_ns;
    info.vcpu = {static_cast<std::uint16_t>(vcpu)};
    info.level = PrivilegeLevel::kKernel;
    info.disposition = disposition;
    if (tid) info.pid = 7;
    info.tid = tid;
    EXPECT_TRUE(writer_->add_sample(info, stack));
  }

  json exported() {
    EXPECT_TRUE(writer_->finish());
    auto reader = recording::Reader::open(dir_ / "t.data");
    Namer namer;
    profile::BuildOptions options;
    options.every_source = true;
    auto profile = profile::DetailedProfile::read(*reader, namer, options);
    StringSink sink;
    EXPECT_TRUE(write_firefox(**profile, {}, sink));
    return json::parse(unzipped(sink.text()));
  }

  static const json& thread(const json& all, const std::string& name) {
    for (const json& thread : all["threads"])
      if (thread["name"] == name) return thread;
    static const json kNone;
    ADD_FAILURE() << "there is no thread " << name;
    return kNone;
  }

  // "outer/inner" of a sample's stack.
  static std::string stack(const json& all, const json& thread, std::size_t sample) {
    const json& shared = all["shared"];
    std::string text;
    for (std::size_t node = thread["samples"]["stack"][sample];;) {
      const std::size_t frame = shared["stackTable"]["frame"][node];
      const std::size_t function = shared["frameTable"]["func"][frame];
      const std::size_t name = shared["funcTable"]["name"][function];
      text = shared["stringArray"][name].get<std::string>() + (text.empty() ? "" : "/") + text;
      const std::size_t offset = shared["stackTable"]["prefixOffset"][node];
      if (offset == 0) return text;
      node -= offset;
    }
  }

  static Stack kernel_stack() {
    Stack stack;
    stack.frames = {{{0x8010}, true, FrameSource::kRegisters, FrameKind::kInterrupt},
                    {{0x8021}, false, FrameSource::kCfi, FrameKind::kKernel}};
    return stack;
  }

  recording::testing::TempDir dir_;
  std::optional<recording::Writer> writer_;
};

TEST_F(Firefox, VcpusHaveAllSamplesAndGuestThreadsTheirOwn) {
  ASSERT_TRUE(writer_->add_thread_name({0, 7, 8, 0, "a \"name\""}));
  const Stack stack = kernel_stack();
  tick(1'000'000, 0, wire::Disposition::kSampled, &stack, 8);
  tick(1'000'000, 1, wire::Disposition::kIdle);
  tick(2'000'001, 0, wire::Disposition::kSampled, &stack, 9);
  tick(3'000'000, 0, wire::Disposition::kSampled, &stack, 8);
  const json all = exported();
  EXPECT_EQ(all["meta"]["preprocessedProfileVersion"], 66);
  EXPECT_EQ(all["meta"]["startTime"], 1500);
  std::map<std::string, json> about;
  for (const json& entry : all["meta"]["extra"][0]["entries"])
    about[entry["label"]] = entry["value"];
  EXPECT_EQ(about["Engine"], "tcg");
  EXPECT_EQ(about["QEMU"], "7.2.22");
  const json& vcpu = thread(all, "vCPU 0");
  EXPECT_EQ(vcpu["samples"]["length"], 3);
  EXPECT_EQ(vcpu["samples"]["timeDeltas"], json::parse("[1,1.000001,0.999999]"));
  EXPECT_EQ(vcpu["samples"]["threadCPUDelta"], json::parse("[1000000,1000000,1000000]"));
  EXPECT_EQ(this->stack(all, vcpu, 0),
            "at_8020\"\\ </script>/inlined/at_8010\"\\ </script>/inlined");
  const json& idle = thread(all, "vCPU 1");
  EXPECT_EQ(this->stack(all, idle, 0), "[idle]");
  EXPECT_EQ(idle["samples"]["threadCPUDelta"], json::parse("[0]"));
  const json& named = thread(all, "a \"name\"");
  EXPECT_EQ(named["samples"]["timeDeltas"], json::parse("[1,2]"));
  EXPECT_EQ(named["pid"], "7");
  EXPECT_EQ(named["tid"], 8);
  EXPECT_EQ(thread(all, ":9")["samples"]["length"], 1);
  EXPECT_EQ(all["threads"].size(), 4u);
}

TEST_F(Firefox, FramesHaveCategoriesLinesAndPlacesInTheirLibrary) {
  const Stack stack = kernel_stack();
  tick(0, 0, wire::Disposition::kSampled, &stack);
  const json all = exported();
  const json& frames = all["shared"]["frameTable"];
  std::vector<std::string> categories;
  for (const std::size_t category : frames["category"])
    categories.push_back(all["meta"]["categories"][category]["name"]);
  EXPECT_EQ(categories, (std::vector<std::string>{"Kernel", "Kernel", "Interrupt", "Interrupt"}));
  EXPECT_EQ(frames["address"], json::parse("[32,32,16,16]"));
  EXPECT_EQ(frames["inlineDepth"], json::parse("[0,1,0,1]"));
  EXPECT_EQ(frames["line"], json::parse("[7,9,7,9]"));
  const json& symbols = all["shared"]["nativeSymbols"];
  EXPECT_EQ(symbols["address"], json::parse("[28,12]"));
  EXPECT_EQ(symbols["functionSize"], json::parse("[16,16]"));
  ASSERT_EQ(all["libs"].size(), 1u);
  EXPECT_EQ(all["libs"][0]["name"], "kernel");
  EXPECT_EQ(all["libs"][0]["codeId"], "0102030405060708090a0b0c0d0e0f1011");
  EXPECT_EQ(all["libs"][0]["breakpadId"], "0403020106050807090A0B0C0D0E0F100");
}

TEST_F(Firefox, TicksWithoutSamplesAreMarkers) {
  const Stack stack = kernel_stack();
  tick(0, 0, wire::Disposition::kSampled, &stack);
  tick(1'000'000, 0, wire::Disposition::kFailed);
  tick(2'000'000, 0, wire::Disposition::kFailed);
  tick(3'000'000, 0, wire::Disposition::kSampled, &stack);
  tick(6'000'000, 0, wire::Disposition::kSampled, &stack);
  recording::Statistics statistics;
  statistics.due = 7;
  statistics.lost = 2;
  statistics.duration_ns = 7'000'000;
  ASSERT_TRUE(writer_->add_statistics(statistics));
  ASSERT_TRUE(writer_->add_warning("beware;\x1b[31m"));
  const json all = exported();
  const json& vcpu = thread(all, "vCPU 0");
  EXPECT_EQ(vcpu["samples"]["length"], 3);
  const json& markers = vcpu["markers"];
  ASSERT_EQ(markers["length"], 2);
  EXPECT_EQ(all["shared"]["stringArray"][markers["name"][0].get<std::size_t>()], "failed ticks");
  EXPECT_EQ(all["shared"]["stringArray"][markers["name"][1].get<std::size_t>()], "lost ticks");
  EXPECT_EQ(markers["startTime"], json::parse("[1,3]"));
  EXPECT_EQ(markers["endTime"], json::parse("[2,6]"));
  EXPECT_EQ(markers["data"][0]["ticks"], 2);
  EXPECT_EQ(markers["data"][1]["ticks"], 2);
  const json& notes = thread(all, "Events")["markers"];
  ASSERT_EQ(notes["length"], 1);
  const std::string text = notes["data"][0]["text"];
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.rfind("beware", 0), 0u);
}

// The viewer leaves out what lies behind the profile's end.
TEST_F(Firefox, TheEndIsBehindTheLastSample) {
  const Stack stack = kernel_stack();
  tick(5'000'000, 0, wire::Disposition::kSampled, &stack);
  tick(8'000'000, 0, wire::Disposition::kSampled, &stack);
  recording::Statistics statistics;
  statistics.duration_ns = 4'000'000;
  ASSERT_TRUE(writer_->add_statistics(statistics));
  EXPECT_EQ(exported()["meta"]["profilingEndTime"], 9);
}

TEST_F(Firefox, MoreGapsThanLostTicksAreNotShown) {
  const Stack stack = kernel_stack();
  for (std::uint64_t i = 0; i < 10; ++i)
    tick(4'000'000 * i, 0, wire::Disposition::kSampled, &stack);
  recording::Statistics statistics;
  statistics.due = 11;
  statistics.lost = 1;
  ASSERT_TRUE(writer_->add_statistics(statistics));
  EXPECT_EQ(thread(exported(), "vCPU 0")["markers"]["length"], 0);
}

TEST_F(Firefox, BytesAndTimesOfOtherSourcesHaveThreads) {
  const Stack stack = kernel_stack();
  tick(0, 0, wire::Disposition::kSampled, &stack);
  recording::Source source;
  source.name = "allocations";
  source.kind = recording::SourceKind::kAllocations;
  source.values = {{"bytes", recording::WeightUnit::kBytes, 2},
                   {"waited", recording::WeightUnit::kNanoseconds, 1}};
  const auto id = writer_->add_source(source);
  ASSERT_TRUE(id);
  recording::SampleInfo info;
  info.source = *id;
  info.vcpu = recording::kNoVcpu;
  info.weight = 50;
  const std::vector<std::int64_t> more = {2'500'000};
  const std::vector<recording::StackRef> none;
  ASSERT_TRUE(writer_->add_sample(info, none, more));
  const json all = exported();
  const json& bytes = thread(all, "allocations bytes")["samples"];
  EXPECT_EQ(bytes["weightType"], "bytes");
  EXPECT_EQ(bytes["weight"], json::parse("[100]"));
  const json& waited = thread(all, "allocations waited")["samples"];
  EXPECT_EQ(waited["weightType"], "tracing-ms");
  EXPECT_EQ(waited["weight"], json::parse("[2.5]"));
}

TEST_F(Firefox, AnEmptyRecordingIsAProfileWithoutThreads) {
  const json all = exported();
  EXPECT_TRUE(all["threads"].empty());
  EXPECT_EQ(all["shared"]["stackTable"]["length"], 0);
}

}  // namespace
}  // namespace ringside::exporters
