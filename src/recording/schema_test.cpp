#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "recording/block.h"
#include "recording/codec/encode.h"
#include "recording/old_record_test_util.h"
#include "recording/recording_test_util.h"

// The writer and the reader against recording.proto, by protoc: what it makes of a recording with
// every record, field and value is testdata/every-record.textproto, and what it makes of that text
// is read as that recording. RINGSIDE_UPDATE_GOLDEN=1 renews the file; tests/schema_rule.py demands
// that it has everything.
namespace ringside::recording {
namespace {

using testing::collect;
using testing::Collector;
using testing::make_stack;
using testing::slurp;
using testing::TempDir;

constexpr const char* kText = RINGSIDE_TESTDATA "/every-record.textproto";

// Each text is its field's name, and no two numbers of a record are equal.
Header every_field() {
  Header header;
  header.ringside_version = "ringside_version";
  header.command_line = {"command_line", "\xff is no UTF-8"};
  header.start_wall_ns = 1'700'000'000'000'000'003;
  header.start_monotonic_ns = 4004;
  header.arch = Arch::kX86_64;
  header.vcpu_count = 66;
  header.interval_ns = 7'000'007;
  header.engine = "engine";
  header.guest_os = "guest_os";
  header.kernel = "kernel";
  header.host = "host";
  header.qemu_version = "qemu_version";
  header.kernel_release = "kernel_release";
  for (const char byte : std::string_view("kernel_build_id"))
    header.kernel_build_id.push_back(static_cast<std::byte>(byte));
  header.deterministic_seed = 88;
  return header;
}

template <class Enum>
Enum nth(std::size_t n, Enum last) {
  return static_cast<Enum>(n % (static_cast<std::size_t>(last) + 1));
}

// A sample with every field, and of each enumeration its `n`-th value.
SampleInfo sample_info(std::size_t n) {
  SampleInfo info;
  info.time_ns = 1000 + n;
  info.vcpu = {static_cast<std::uint16_t>(2 + n)};
  info.level = nth(n, kLastPrivilegeLevel);
  info.disposition = nth(n, wire::Disposition::kFailed);
  info.pause_ns = 5000 + n;
  info.weight = 6 * n;
  info.thread_start_ns = 20'000 + n;
  info.state = nth(n, kLastThreadState);
  info.address_space = 0x8000 + n;
  info.pid = static_cast<std::uint32_t>(900 + n);
  info.tid = static_cast<std::uint32_t>(10'000 + n);
  return info;
}

Stack stack(std::size_t n) {
  Stack stack = make_stack({0xffffffff81000000 + n, 0xffffffff82000000}, nth(n, kLastStopReason));
  stack.stopped_at = {0x3000 + n};
  stack.frames[0].source = nth(n, FrameSource::kGuestsWalk);
  stack.frames[0].kind = nth(n, kLastFrameKind);
  return stack;
}

wire::Capture capture(std::size_t n) {
  wire::Capture capture;
  capture.host_time_ns = 1000 + n;
  capture.vcpu = {static_cast<std::uint16_t>(2 + n)};
  capture.arch = nth(n, kLastArch);
  capture.level = nth(n, kLastPrivilegeLevel);
  capture.disposition = nth(n, wire::Disposition::kFailed);
  capture.pause_ns = 6000 + n;
  capture.weight = 7 * n;
  capture.registers.set(0, 8);
  capture.registers.set(63, 9 + n);
  const std::string_view content = "content";
  capture.bytes.assign(as_bytes(content).begin(), as_bytes(content).end());
  capture.pieces.push_back({{0x100 + n}, nth(n, wire::PieceKind::kTask), 300, 0, 7});
  return capture;
}

Source source(std::size_t n) {
  return {
      static_cast<std::uint32_t>(1 + n),
      "source name",
      nth(n, kLastSourceKind),
      1,
      30'000 + n,
      "source engine",
      {{"value name", nth(n, kLastWeightUnit), 2 + n}, {"more", nth(n + 1, kLastWeightUnit), 1}}};
}

// Pieces as a large table has them.
std::string two_pieces() {
  std::string payload;
  encode({"kind", 2, 0, 12, "content"}, payload);
  encode({"kind", 2, 7, 12, "-five"}, payload);
  return payload;
}

Mark mark(std::size_t n) {
  return {static_cast<std::uint32_t>(1 + n), nth(n, kLastMarkKind), 40'000 + n, "mark name"};
}

Snapshot snapshot() { return {1, 50'001, 3, "snapshot reason"}; }

EventType event_type() {
  EventType type{1, "type name", 2, {}};
  for (std::size_t n = 0; n <= static_cast<std::size_t>(kLastFieldType); ++n)
    type.fields.push_back({"field name", nth(n, kLastFieldType), nth(n, kLastWeightUnit)});
  return type;
}

EventBatch events(Writer& writer) {
  EventBatch batch{1, 1, {70, 60}, {}, {80, 0}, {0, 90}, {}};
  batch.contexts.assign(2, writer.add_context(sample_info(0), {}));
  batch.fields = {
      {{-1, 100}, {}}, {{101, 0}, {}}, {{2, 1}, {}}, {{}, {"bytes", "\xff"}}, {{1, 1}, {}}};
  return batch;
}

CounterSet counter_set() {
  CounterSet set{1, "set name", 2, {}};
  for (std::size_t n = 0; n <= static_cast<std::size_t>(kLastKeyKind); ++n)
    set.key.push_back({"key name", nth(n, kLastKeyKind)});
  return set;
}

CounterBatch counters() {
  return {1, 2, {{2, 1}, {}, {110, 111}, {1, 0}, {3, 4}, {1, 0}, {112, 113}}, {{}, {-114, 115}}};
}

void write_everything(const std::filesystem::path& path) {
  std::vector<Source> sources;
  for (std::size_t n = 0; n <= static_cast<std::size_t>(kLastWeightUnit); ++n)
    sources.push_back(source(n));
  auto writer = Writer::create(path, every_field(), sources);
  ASSERT_TRUE(writer);
  const std::vector<std::byte> build_id = {std::byte{4}, std::byte{0xab}};
  ASSERT_TRUE(writer->add_image({0, "name", "path", build_id, Arch::kRiscv64, ~6ull, 7, 8}));
  ASSERT_TRUE(writer->add_image({}));
  ASSERT_TRUE(writer->add_mapping(
      {0, 2, {0xffffffff81000000}, {0xffffffff81000008}, {0x500000}, 6, 0x8001}));
  ASSERT_TRUE(writer->add_function({1, {0x5005}, 6, "function, cut in \xe2\x82", true}));
  for (std::size_t n = 0; n <= static_cast<std::size_t>(kLastClockKind); ++n)
    ASSERT_TRUE(writer->add_clock({0, nth(n, kLastClockKind), "clock name", 400 + n}));
  ASSERT_TRUE(writer->add_clock_tie({1, 2, 3, 4}));
  RecordedFrame named;
  named.function = *writer->add_text("function");
  named.file = *writer->add_text("file");
  named.line = 42;
  named.inlined = true;
  const StackRef names = writer->add_stack(std::vector{named});
  for (std::size_t n = 0; n < kStopReasonCount; ++n) {
    const Stack first = stack(n);
    StackRef second = writer->add_stack(make_stack({0x401000 + n}), 0);
    second.role = nth(n, kLastStackRole);
    SampleInfo info = sample_info(n);
    info.waits_for = named.file;
    const std::vector<std::int64_t> more = {-5};
    ASSERT_TRUE(writer->add_sample(
        info, std::vector{writer->add_stack(first, info.address_space), second, names}, more));
    ASSERT_TRUE(writer->add_capture(capture(n)));
  }
  for (std::size_t n = 0; n <= static_cast<std::size_t>(kLastMarkKind); ++n)
    ASSERT_TRUE(writer->add_mark(mark(n)));
  ASSERT_TRUE(writer->add_snapshot(snapshot()));
  ASSERT_TRUE(writer->add_event_type(event_type()));
  ASSERT_TRUE(writer->add_events(events(*writer)));
  ASSERT_TRUE(writer->add_counter_set(counter_set()));
  ASSERT_TRUE(writer->add_counters(counters()));
  ASSERT_TRUE(writer->add_epoch({1100, "reason", 0x3003}));
  ASSERT_TRUE(
      writer->add_thread_name({1300, 22, 33, 0x4004, "name, cut in \xe2\x82", "cgroup", true}));
  ASSERT_TRUE(writer->add_warning("warning"));
  ASSERT_TRUE(writer->add_statistics({2, 100, 2, 3, 4, 5, {{"name", 6}}}));
  ASSERT_TRUE(writer->finish());
}

// Samples of version 1, which readers of version 2 leave out.
std::string old_samples() {
  std::string records;
  for (std::size_t n = 0; n < kStopReasonCount; ++n)
    records += testing::old_sample_record(sample_info(n), nth(n, kLastWeightUnit),
                                          {{1, nth(n, kLastStopReason), {0x3000 + n}, {}}});
  return records;
}

// The records of all blocks, as one message.
std::string payload_of(std::string_view file) {
  std::string records;
  BlockDecoder decoder;
  Bytes rest = as_bytes(file).subspan(kFileHeaderSize);
  while (!rest.empty()) {
    const auto header = parse_block_header(rest);
    if (!header) return "no block";
    const Bytes stored = rest.subspan(kBlockHeaderSize, header->stored_size);
    EXPECT_TRUE(payload_is_intact(*header, stored));
    if (header->kind == static_cast<std::uint16_t>(BlockKind::kRecords))
      records += decoder.decode(*header, stored).value();
    rest = rest.subspan(kBlockHeaderSize + header->stored_size);
  }
  return records;
}

std::string file_of(std::string_view payload, std::uint16_t major = kMajorVersion) {
  BlockEncoder encoder;
  return file_header(major) + encoder.encode(BlockKind::kRecords, 0, payload) +
         encoder.encode(BlockKind::kEnd, 1, {});
}

class Schema : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(RINGSIDE_PROTOC).empty())
      GTEST_SKIP() << "protoc was not there when this was configured (script/bootstrap installs "
                      "protobuf-compiler)";
    ASSERT_NO_FATAL_FAILURE(write_everything(dir_ / "every.data"));
    payload_ = payload_of(slurp(dir_ / "every.data")) + two_pieces() + old_samples();
  }

  // `how`: --decode or --encode.
  std::string protoc(const std::string& how, const std::string& input) {
    std::ofstream(dir_ / "in", std::ios::binary) << input;
    const std::string command = std::string(RINGSIDE_PROTOC) + " --proto_path=" + RINGSIDE_SCHEMA +
                                " " + how + "=ringside.recording.Records recording.proto <" +
                                (dir_ / "in").string() + " >" + (dir_ / "out").string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return slurp(dir_ / "out");
  }

  TempDir dir_;
  std::string payload_;
};

TEST_F(Schema, KnowsWhatTheWriterWrites) {
  const std::string text = protoc("--decode", payload_);
  // protoc prints the number of a field, or of an enumeration's value, that it does not know.
  std::smatch unknown;
  EXPECT_FALSE(std::regex_search(text, unknown, std::regex("(^|\n) *[0-9]+(:| \\{)")))
      << unknown[0];
  EXPECT_FALSE(std::regex_search(text, unknown,
                                 std::regex("\n *(arch|level|disposition|unit|stop|kind): [0-9]+")))
      << unknown[0];
  if (std::getenv("RINGSIDE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kText, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, slurp(kText)) << "RINGSIDE_UPDATE_GOLDEN=1 renews it";
}

TEST_F(Schema, DescribesWhatTheReaderReads) {
  const std::string written = file_of(payload_);
  const std::string described = file_of(protoc("--encode", slurp(kText)));
  auto ours = Reader::open(as_bytes(written), "written");
  auto theirs = Reader::open(as_bytes(described), "described");
  ASSERT_TRUE(ours);
  ASSERT_TRUE(theirs) << theirs.error().message;
  EXPECT_EQ(theirs->damage(), "");
  const auto header = [](const Reader& reader) {
    std::string payload;
    encode(reader.header(), payload);
    return payload;
  };
  EXPECT_EQ(header(*theirs), header(*ours));
  const Collector a = collect(*ours);
  const Collector b = collect(*theirs);
  EXPECT_EQ(a.warnings, std::vector<std::string>{"warning"});
  EXPECT_EQ(b.warnings, a.warnings);
  EXPECT_EQ(b.images, a.images);
  EXPECT_EQ(b.mappings, a.mappings);
  EXPECT_EQ(b.frames, a.frames);
  EXPECT_EQ(b.nodes, a.nodes);
  EXPECT_EQ(b.samples, a.samples);
  EXPECT_EQ(b.epochs, a.epochs);
  EXPECT_EQ(b.functions, a.functions);
  EXPECT_EQ(b.thread_names, a.thread_names);
  EXPECT_EQ(b.blobs, a.blobs);
  EXPECT_EQ(b.sources, a.sources);
  EXPECT_EQ(b.clocks, a.clocks);
  EXPECT_EQ(b.clock_ties, a.clock_ties);
  EXPECT_EQ(b.texts, a.texts);
  EXPECT_EQ(b.marks, a.marks);
  EXPECT_EQ(b.snapshots, a.snapshots);
  EXPECT_EQ(b.event_types, a.event_types);
  EXPECT_EQ(b.event_batches, a.event_batches);
  EXPECT_EQ(b.counter_sets, a.counter_sets);
  EXPECT_EQ(b.counter_batches, a.counter_batches);
  EXPECT_EQ(b.statistics_seen, a.statistics_seen);
  ASSERT_EQ(b.captures.size(), a.captures.size());
  for (std::size_t i = 0; i < a.captures.size(); ++i) {
    std::string left;
    std::string right;
    encode(a.captures[i], left);
    encode(b.captures[i], right);
    EXPECT_EQ(right, left) << i;
  }
}

// The reader against the values themselves, so that a pair of fields that the writer swaps and the
// reader swaps back would be seen in the text.
TEST_F(Schema, TheReaderGivesTheValuesThatWereWritten) {
  const std::string described = file_of(protoc("--encode", slurp(kText)));
  auto reader = Reader::open(as_bytes(described), "described");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->header().interval_ns, every_field().interval_ns);
  EXPECT_EQ(reader->header().command_line, every_field().command_line);
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.samples.size(), kStopReasonCount);
  ASSERT_EQ(seen.captures.size(), kStopReasonCount);
  for (std::size_t n = 0; n < kStopReasonCount; ++n) {
    SampleInfo info = sample_info(n);
    info.waits_for = 2;
    EXPECT_EQ(seen.samples[n].info, info) << n;
    EXPECT_EQ(seen.samples[n].more_values, std::vector<std::int64_t>{-5});
    ASSERT_EQ(seen.samples[n].stacks.size(), 3u);
    EXPECT_EQ(seen.samples[n].stacks[1].role, nth(n, kLastStackRole));
    const StackRef& first = seen.samples[n].stacks[0];
    EXPECT_EQ(first.stop, stack(n).stop);
    const GuestVirt nowhere;  // of a complete stack
    EXPECT_EQ(first.stopped_at, is_complete(first.stop) ? nowhere : stack(n).stopped_at);
    const RecordedFrame& leaf = seen.frames[seen.nodes[first.node].frame];
    EXPECT_EQ(leaf.address, stack(n).frames[0].address);
    EXPECT_EQ(leaf.source, stack(n).frames[0].source);
    EXPECT_EQ(leaf.kind, stack(n).frames[0].kind);
    EXPECT_EQ(seen.captures[n].pieces[0].why, capture(n).pieces[0].why);
    EXPECT_EQ(seen.captures[n].registers.get(63), 9 + n);
  }
  ASSERT_EQ(seen.blobs.size(), 1u);
  EXPECT_EQ(seen.blobs[0].second, "content-five");
  ASSERT_GT(seen.sources.size(), 1u);
  for (std::size_t n = 0; n < seen.sources.size(); ++n) EXPECT_EQ(seen.sources[n], source(n)) << n;
  ASSERT_EQ(seen.clocks.size(), 5u);
  EXPECT_EQ(seen.clocks[2], (Clock{3, ClockKind::kGuestCounter, "clock name", 402}));
  EXPECT_EQ(seen.clock_ties, std::vector{(ClockTie{1, 2, 3, 4})});
  EXPECT_EQ(seen.texts, (std::vector<std::string>{"", "function", "file"}));
  const RecordedFrame& named = seen.frames[seen.nodes[seen.samples[0].stacks[2].node].frame];
  EXPECT_EQ(seen.texts[named.function], "function");
  EXPECT_EQ(seen.texts[named.file], "file");
  EXPECT_EQ(named.line, 42u);
  EXPECT_TRUE(named.inlined);
  EXPECT_EQ(seen.statistics_seen.back().source, 2u);
  EXPECT_EQ(seen.functions,
            (std::vector<ImageFunction>{{1, {0x5005}, 6, "function, cut in \xe2\x82", true}}));
  ASSERT_EQ(seen.marks.size(), 4u);
  for (std::size_t n = 0; n < seen.marks.size(); ++n) EXPECT_EQ(seen.marks[n], mark(n)) << n;
  EXPECT_EQ(seen.snapshots, std::vector{snapshot()});
  EXPECT_EQ(seen.event_types, std::vector{event_type()});
  EXPECT_EQ(seen.counter_sets, std::vector{counter_set()});
  ASSERT_EQ(seen.event_batches.size(), 1u);
  TempDir scratch;
  auto writer = Writer::create(scratch / "other.data", {});
  EventBatch batch = events(*writer);
  batch.contexts = seen.event_batches[0].contexts;
  EXPECT_EQ(seen.event_batches[0], batch);
  EXPECT_EQ(seen.counter_batches, std::vector{counters()});
  EXPECT_EQ(seen.left.size(), 1u) << "samples of version 1 have no place here";
}

TEST_F(Schema, TheReaderGivesTheSamplesOfVersion1) {
  std::string payload;
  encode(every_field(), payload);
  payload += old_samples();
  const std::string old = file_of(protoc("--encode", protoc("--decode", payload)), 1);
  auto reader = Reader::open(as_bytes(old), "old");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  EXPECT_TRUE(seen.left.empty());
  ASSERT_EQ(seen.samples.size(), kStopReasonCount);
  for (std::size_t n = 0; n < kStopReasonCount; ++n) {
    SampleInfo info = sample_info(n);  // without what version 1 does not have
    info.thread_start_ns = 0;
    info.state = ThreadState::kUnknown;
    info.source = seen.samples[n].info.source;
    EXPECT_EQ(seen.samples[n].info, info) << n;
    const auto source = std::find_if(seen.sources.begin(), seen.sources.end(),
                                     [&](const Source& one) { return one.id == info.source; });
    ASSERT_NE(source, seen.sources.end());
    EXPECT_EQ(source->values.front().unit, nth(n, kLastWeightUnit));
    ASSERT_EQ(seen.samples[n].stacks.size(), 1u);
    EXPECT_EQ(seen.samples[n].stacks[0].node, kLostStack) << "it has no nodes";
    EXPECT_EQ(seen.samples[n].stacks[0].stop, nth(n, kLastStopReason));
  }
  EXPECT_EQ(seen.sources.front(), cpu_source(every_field()));
}

}  // namespace
}  // namespace ringside::recording
