#include "importers/firefox/firefox.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>

#include "importers/importers_test_util.h"

namespace ringside::importers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string meta(int version, const std::string& more = "") {
  return fmt::format(
      R"("meta":{{"interval":2,"startTime":1000.5,"product":"x","stackwalk":1,"version":30,)"
      R"("preprocessedProfileVersion":{},"logicalCPUs":8,"categories":[)"
      R"({{"name":"Other","color":"grey","subcategories":["Other"]}},)"
      R"({{"name":"Kernel","color":"orange","subcategories":["Other"]}},)"
      R"({{"name":"User","color":"blue","subcategories":["Other"]}}]{}}})",
      version, more);
}

// libc.so.6, with a build id, and a file of Windows.
constexpr const char* kLibraries =
    R"("libs":[{"name":"libc.so.6","path":"/lib/libc.so.6","arch":"x86_64","debugName":"libc",)"
    R"("codeId":"00112233445566778899aabbccddeeff00112233"},)"
    R"({"name":"a.dll","path":"C:\\a.dll","arch":"x86_64","codeId":"6132B96B70fd000"}])";

// main > write > do_write, the last one of the kernel, with copy inlined into it; and 0x1c in
// libc.so.6, of which no name is known.
constexpr const char* kStrings =
    R"("stringArray":["main","write","do_write","copy","0x1c","libc.so.6","fs/rw.c","http://x"])";
constexpr const char* kStacks66 =
    R"("stackTable":{"frame":[0,1,2,3,4],"prefixOffset":[0,1,1,1,4],"length":5})";
constexpr const char* kStacks47 =
    R"("stackTable":{"frame":[0,1,2,3,4],"prefix":[null,0,1,2,0],"length":5})";
constexpr const char* kFrames =
    R"("frameTable":{"address":[-1,16,-1,-1,28],"inlineDepth":[0,0,0,1,0],"category":[2,2,1,1,2],)"
    R"("func":[0,1,2,3,4],"line":[null,null,7,9,null],"length":5})";
constexpr const char* kResources =
    R"("resourceTable":{"lib":[0,null],"name":[5,7],"host":[null,null],"type":[1,3],"length":2})";

std::string functions(const char* file) {
  return fmt::format(
      R"("funcTable":{{"name":[0,1,2,3,4],"isJS":[],"resource":[1,0,-1,-1,0],"{}":[null,null,0,0,null],)"
      R"("lineNumber":[null,null,3,3,null],"length":5}})",
      file);
}

std::string thread(const std::string& samples, const std::string& more = "",
                   const std::string& pid = "\"12\"", const std::string& tid = "13") {
  return R"({"name":"worker","processName":"dd","pid":)" + pid + R"(,"tid":)" + tid +
         R"(,"samples":{)" + samples + "}" + more + "}";
}

std::string shared(const std::string& stacks = kStacks66) {
  return R"("shared":{)" + stacks + "," + kFrames + "," + functions("source") + "," + kResources +
         R"(,"sources":{"filename":[6],"length":1},)" + kStrings + "}";
}

// A file of version 66, in the order in which ringside writes it.
std::string file_with(const std::string& threads) {
  return "{" + meta(66) + R"(,"threads":[)" + threads + "]," + kLibraries + "," + shared() + "}";
}

constexpr const char* kTwoSamples = R"("stack":[3,4],"timeDeltas":[10.000001,0.5],"length":2)";

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class Firefox : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text) { return import(&import_firefox, {text}); }
  std::string error(const std::string& text) {
    const auto result = read(text);
    return result ? "" : result.error().message;
  }
  const recording::RecordedFrame& frame_named(const std::string& name) {
    return *std::find_if(recorded.frames.begin() + 1, recorded.frames.end(),
                         [&](const recording::RecordedFrame& frame) {
                           return recorded.texts[frame.function] == name;
                         });
  }
  void expect_two_samples() {
    ASSERT_EQ(recorded.samples.size(), 2u);
    EXPECT_THAT(recorded.samples[0].frames,
                ElementsAre("copy (inlined)", "do_write", "[libc.so.6] write", "[http://x] main"));
    EXPECT_THAT(recorded.samples[1].frames, ElementsAre("[libc.so.6] 0x1c", "[http://x] main"));
    EXPECT_EQ(recorded.samples[0].info.time_ns, 10'000'001u);
    EXPECT_EQ(recorded.samples[1].info.time_ns, 10'500'001u);
    EXPECT_EQ(recorded.samples[0].info.pid, 12u);
    EXPECT_EQ(recorded.samples[0].info.tid, 13u);
    EXPECT_EQ(recorded.samples[0].info.level, PrivilegeLevel::kKernel);
    EXPECT_EQ(recorded.samples[1].info.level, PrivilegeLevel::kUser);
    EXPECT_EQ(frame_named("do_write").kind, FrameKind::kKernel);
    EXPECT_EQ(frame_named("do_write").line, 7u);
    EXPECT_EQ(recorded.texts[frame_named("do_write").file], "fs/rw.c");
    EXPECT_EQ(frame_named("write").kind, FrameKind::kUser);
    EXPECT_EQ(frame_named("write").address.value, 16u);
  }
};

TEST_F(Firefox, SamplesOfAThreadHaveStacksTimesAndOwners) {
  const auto imported = read(file_with(thread(kTwoSamples)));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->records, 2u);
  EXPECT_THAT(imported->warnings, IsEmpty());
  expect_two_samples();
  EXPECT_EQ(recorded.header.start_wall_ns, 1'000'500'000u);
  EXPECT_EQ(recorded.header.vcpu_count, 8u);
  EXPECT_EQ(recorded.header.interval_ns, 2'000'000u);
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_EQ(recorded.thread_names[0].name, "worker");
  EXPECT_EQ(recorded.thread_names[1].name, "dd");
  EXPECT_EQ(recorded.thread_names[1].tid, 0u);
  ASSERT_FALSE(recorded.images.empty());
  const auto libc = std::find_if(recorded.images.begin(), recorded.images.end(),
                                 [](const auto& image) { return image.name == "libc.so.6"; });
  ASSERT_NE(libc, recorded.images.end());
  EXPECT_EQ(libc->path, "/lib/libc.so.6");
  EXPECT_EQ(libc->build_id.size(), 20u);
  EXPECT_EQ(libc->arch, Arch::kX86_64);
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kOther);
  EXPECT_EQ(recorded.sources[0].period, 2'000'000u);
  EXPECT_EQ(recorded.statistics_of[1].due, 2u);
}

TEST_F(Firefox, GzipIsUnpacked) {
  const std::string packed = gzip(file_with(thread(kTwoSamples)));
  ASSERT_TRUE(read(packed));
  expect_two_samples();
  ASSERT_TRUE(read(gzip("{") + gzip(file_with(thread(kTwoSamples)).substr(1))));
  expect_two_samples();
}

TEST_F(Firefox, TablesStandWhereTheirVersionHasThem) {
  const std::string times = R"("stack":[3,4],"time":[10.000001,10.500001],"length":2)";
  const std::string own =
      std::string(",") + kFrames + "," + functions("fileName") + "," + kResources;
  // fileName is a string's index.
  std::string own_files = own;
  own_files.replace(own_files.find("null,null,0,0,null],\"line"), 22, "null,null,6,6,null],\"l");
  const auto file = [&](int version, const std::string& more, const std::string& rest) {
    return "{" + std::string(kLibraries) + R"(,"threads":[)" + thread(times, more) + "]," +
           meta(version) + rest + "}";
  };
  ASSERT_TRUE(read(file(47, std::string(",") + kStacks47 + own_files + "," + kStrings, "")));
  expect_two_samples();
  ASSERT_TRUE(read(file(57, std::string(",") + kStacks47 + own_files,
                        R"(,"shared":{)" + std::string(kStrings) + "}")));
  expect_two_samples();
  ASSERT_TRUE(read(file(65, "", "," + shared(kStacks47))));
  expect_two_samples();
}

TEST_F(Firefox, FlagsSayWhichColumnsHaveValues) {
  // Versions 71 and 75: 0 stands where a flag is missing.
  const std::string tables =
      R"("shared":{)" + std::string(kStacks66) +
      R"(,"frameTable":{"flags":[4,6,20,21,6],"address":[0,16,0,0,28],"lib":[0,0,0,0,0],)"
      R"("category":[2,2,1,1,2],"func":[0,1,2,3,4],"line":[0,0,7,9,0],"length":5},)"
      R"("funcTable":{"flags":[4,4,24,24,4],"name":[0,1,2,3,4],"resource":[1,0,0,0,0],)"
      R"("source":[0,0,0,0,0],"lineNumber":[0,0,3,3,0],"length":5},)"
      R"("resourceTable":{"name":[5,7],"host":[null,null],"type":[1,3],"length":2},)"
      R"("sources":{"filename":[6],"length":1},)" +
      kStrings + "}";
  const auto imported = read("{" + meta(75) + R"(,"threads":[)" + thread(kTwoSamples) + "]," +
                             kLibraries + "," + tables + "}");
  ASSERT_TRUE(imported) << imported.error().message;
  expect_two_samples();
}

TEST_F(Firefox, ThreadsAreMergedInOrderOfTime) {
  ASSERT_TRUE(read(file_with(
      thread(R"("stack":[0,0],"time":[5,9],"weight":[2,-3],"weightType":"samples")") + "," +
      thread(R"("stack":[0,0],"time":[-1,6],"weight":[0.5,0.25],"weightType":"tracing-ms")", "",
             "\"a.1\"", "\"b\""))));
  std::vector<std::pair<std::uint64_t, std::int64_t>> all;
  for (const auto& sample : recorded.samples)
    all.emplace_back(sample.info.time_ns, static_cast<std::int64_t>(sample.info.weight));
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all,
              ElementsAre(std::make_pair(0u, 500'000), std::make_pair(6'000'000u, 2),
                          std::make_pair(7'000'000u, 250'000), std::make_pair(10'000'000u, -3)));
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[1].values[0].unit, recording::WeightUnit::kNanoseconds);
  EXPECT_EQ(recorded.thread_names.size(), 4u);
}

TEST_F(Firefox, AllocationsAreSourcesOfTheirOwn) {
  ASSERT_TRUE(read(file_with(thread(
      kTwoSamples, R"(,"nativeAllocations":{"stack":[1,null],"time":[1,2],"weight":[64,-64],)"
                   R"("weightType":"bytes","length":2})"))));
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[1].name, "native allocations");
  EXPECT_EQ(recorded.sources[1].kind, recording::SourceKind::kAllocations);
  EXPECT_EQ(recorded.statistics_of[2].due, 2u);
}

TEST_F(Firefox, ASampleWithoutStackIsNone) {
  ASSERT_TRUE(read(file_with(thread(R"("stack":[null,0],"time":[1,2],"length":2)"))));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.samples[0].info.disposition, wire::Disposition::kFailed);
  EXPECT_EQ(recorded.samples[1].info.disposition, wire::Disposition::kSampled);
}

// As ringside writes it: the ticks of vCPUs, the same by thread, and other sources.
TEST_F(Firefox, RingsidesOwnViewsAreJoined) {
  const auto one = [](const char* name, const char* process, const char* pid, const char* tid,
                      const char* samples) {
    return fmt::format(R"({{"name":"{}","processName":"{}","pid":"{}","tid":{},"samples":{{{}}}}})",
                       name, process, pid, tid, samples);
  };
  std::string text = file_with(
      one("vCPU 0", "vCPUs", "vCPUs", "\"vCPU 0\"", R"("stack":[3,5],"timeDeltas":[1,1])") + "," +
      one("vCPU 1", "vCPUs", "vCPUs", "\"vCPU 1\"", R"("stack":[0,1],"timeDeltas":[1,1])") + "," +
      one("dd", "dd", "7", "7", R"("stack":[0,1],"timeDeltas":[1,1])") + "," +
      one("sh", "sh", "8", "9", R"("stack":[3],"timeDeltas":[1])") + "," +
      one("off count", "Other sources", "other sources", "\"off count\"",
          R"("stack":[0],"timeDeltas":[1],"weight":[4],"weightType":"samples")") +
      "," + one("Events", "ringside", "ringside", "\"events\"", R"("stack":[],"timeDeltas":[])"));
  text.replace(text.find("\"product\":\"x\""), 13, "\"product\":\"ringside\"");
  text.replace(text.find("\"Other\",\"color\""), 7, "\"Idle\"");
  // One more stack, which is idle.
  text.replace(text.find("[0,1,2,3,4],\"prefixOffset\":[0,1,1,1,4]"), 38,
               "[0,1,2,3,4,5],\"prefixOffset\":[0,1,1,1,4,0]");
  text.replace(text.find("\"category\":[2,2,1,1,2],\"func\":[0,1,2,3,4]"), 41,
               "\"category\":[2,2,1,1,2,0],\"func\":[0,1,2,3,4,0]");
  const auto imported = read(text);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->records, 5u);
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kCpu);
  EXPECT_EQ(recorded.sources[1].name, "off count");
  const auto find = [&](std::uint16_t vcpu, std::uint64_t time) {
    return *std::find_if(recorded.samples.begin(), recorded.samples.end(), [&](const auto& sample) {
      return sample.info.vcpu == VcpuId{vcpu} && sample.info.time_ns == time;
    });
  };
  EXPECT_EQ(find(0, 1'000'000).info.tid, 9u);
  EXPECT_EQ(find(0, 2'000'000).info.disposition, wire::Disposition::kIdle);
  EXPECT_EQ(find(1, 1'000'000).info.pid, 7u);
  EXPECT_EQ(find(1, 2'000'000).info.pid, 7u);
}

TEST_F(Firefox, FaultsAreCountedAndTheRestIsRead) {
  const auto imported = read(
      file_with("7," + thread(R"("stack":[0,99,"x",1,0],"time":[1,2,3,2.5,1e300],"length":5)")));
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 3u);
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_THAT(imported->warnings[0], HasSubstr("5 entries are left out; the first is at offset"));
  EXPECT_THAT(imported->warnings[0], HasSubstr("a thread is an object"));
}

TEST_F(Firefox, StacksThatAreNoTreeAreLeftOut) {
  for (const char* prefixes : {"[0,1,1,1,9]", "[5,5,5,5,5]", "[-1,1,1,1,1]", "[]"}) {
    std::string text = file_with(thread(kTwoSamples));
    const std::string good = "[0,1,1,1,4]";
    text.replace(text.find(good), good.size(), prefixes);
    const auto imported = read(text);
    EXPECT_LE(imported ? imported->records : 0, 1u) << prefixes;
  }
}

TEST_F(Firefox, OtherProfilesAreRefusedInWords) {
  EXPECT_THAT(error(R"({"meta":{"version":36,"interval":1,"stackwalk":1},"threads":[]})"),
              HasSubstr("a raw profile (version 36), as Firefox records it"));
  EXPECT_THAT(error("{" + meta(46) + "}"), HasSubstr("version 46; 47 to 75 can be read"));
  EXPECT_THAT(error("{" + meta(76) + "}"), HasSubstr("version 76, which is newer than 75"));
  EXPECT_THAT(error(R"({"threads":[]})"), HasSubstr("no \"preprocessedProfileVersion\""));
  EXPECT_THAT(error("{" + meta(66) + "}"), HasSubstr("no array \"threads\""));
  EXPECT_THAT(error(file_with("")), HasSubstr("none of its 0 threads has a sample"));
  EXPECT_THAT(error("{\"meta\":nul}"), HasSubstr("input: offset 0x"));
}

TEST_F(Firefox, KeepsWhatCameBeforeACut) {
  const std::string text = "{" + meta(66) + "," + kLibraries + "," + shared() + R"(,"threads":[)" +
                           thread(kTwoSamples) + "," + thread(kTwoSamples) + "]}";
  std::uint64_t before = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto imported = read(text.substr(0, size));
    const std::uint64_t records = imported ? imported->records : 0;
    EXPECT_GE(records, before) << size;
    before = records;
    if (imported && size < text.size()) {
      EXPECT_THAT(imported->warnings.back(), HasSubstr("the rest is left out, from offset"));
    }
  }
  EXPECT_EQ(before, 4u);
}

TEST_F(Firefox, ACutOrDamagedGzipNeverCrashes) {
  const std::string packed = gzip(file_with(thread(kTwoSamples)));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const auto imported = read(packed.substr(0, size));
    EXPECT_FALSE(imported && imported->warnings.empty());
    std::string damaged = packed;
    damaged[size] = static_cast<char>(damaged[size] ^ 0x40);
    static_cast<void>(read(damaged));
  }
}

TEST_F(Firefox, BombsAreRefused) {
  // A thousand times as long unpacked.
  EXPECT_THAT(error(gzip("{\"a\":" + std::string(5 << 20, ' '))), HasSubstr("longer than 4 MiB"));
}

TEST_F(Firefox, IsRecognizedByItsMetaInformation) {
  const auto likeness = [](const std::string& text) {
    return firefox_likeness({"input", as_bytes(text), {}}, {});
  };
  EXPECT_EQ(likeness(file_with("")), Likeness::kCertain);
  EXPECT_EQ(likeness(gzip(file_with(""))), Likeness::kCertain);
  EXPECT_EQ(likeness(R"({"meta":{"version":36,"interval":1,"stackwalk":1}})"), Likeness::kCertain);
  EXPECT_EQ(likeness(R"({"meta":{}})"), Likeness::kNone);
  EXPECT_EQ(likeness(gzip("hello")), Likeness::kNone);
  EXPECT_EQ(likeness(""), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
