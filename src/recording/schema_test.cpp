#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "recording/block.h"
#include "recording/codec/encode.h"
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
  info.unit = nth(n, WeightUnit::kSamples);
  info.address_space = 0x8000 + n;
  info.pid = static_cast<std::uint32_t>(900 + n);
  info.tid = static_cast<std::uint32_t>(10'000 + n);
  return info;
}

Stack stack(std::size_t n) {
  Stack stack =
      make_stack({0xffffffff81000000 + n, 0xffffffff82000000}, nth(n, StopReason::kLostRegister));
  stack.stopped_at = {0x3000 + n};
  stack.frames[0].source = nth(n, FrameSource::kOrc);
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
  capture.pieces.push_back({{0x100 + n}, nth(n, wire::PieceKind::kValue), 300, 0, 7});
  return capture;
}

// Pieces as a large table has them.
std::string two_pieces() {
  std::string payload;
  encode({"kind", 2, 0, 12, "content"}, payload);
  encode({"kind", 2, 7, 12, "-five"}, payload);
  return payload;
}

void write_everything(const std::filesystem::path& path) {
  auto writer = Writer::create(path, every_field());
  ASSERT_TRUE(writer);
  const std::vector<std::byte> build_id = {std::byte{4}, std::byte{0xab}};
  ASSERT_TRUE(writer->add_image({0, "name", "path", build_id, Arch::kRiscv64, ~6ull, 7, 8}));
  ASSERT_TRUE(writer->add_image({}));
  ASSERT_TRUE(writer->add_mapping(
      {0, 2, {0xffffffff81000000}, {0xffffffff81000008}, {0x500000}, 6, 0x8001}));
  for (std::size_t n = 0; n < kStopReasonCount; ++n) {
    const Stack first = stack(n);
    const Stack second = make_stack({0x401000 + n});
    const Stack* parts[] = {&first, &second};
    ASSERT_TRUE(writer->add_sample(sample_info(n), parts));
    ASSERT_TRUE(writer->add_capture(capture(n)));
  }
  ASSERT_TRUE(writer->add_epoch({1100, "reason", 0x3003}));
  const Stack behind = stack(1);
  ASSERT_TRUE(writer->add_event({1200, {2}, "name", {{"key", "value"}}, {}}, &behind));
  ASSERT_TRUE(writer->add_thread_name({1300, 22, 33, 0x4004, "name, cut in \xe2\x82", "cgroup"}));
  ASSERT_TRUE(writer->add_warning("warning"));
  ASSERT_TRUE(writer->add_statistics({1, 2, 3, 4, 5, {{"name", 6}}}));
  ASSERT_TRUE(writer->finish());
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

std::string file_of(std::string_view payload) {
  BlockEncoder encoder;
  return file_header() + encoder.encode(BlockKind::kRecords, 0, payload) +
         encoder.encode(BlockKind::kEnd, 1, {});
}

class Schema : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(RINGSIDE_PROTOC).empty())
      GTEST_SKIP() << "protoc was not there when this was configured (script/bootstrap installs "
                      "protobuf-compiler)";
    ASSERT_NO_FATAL_FAILURE(write_everything(dir_ / "every.data"));
    payload_ = payload_of(slurp(dir_ / "every.data")) + two_pieces();
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
                                 std::regex("\n *(arch|level|disposition|unit|stop): [0-9]+")))
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
  EXPECT_EQ(b.thread_names, a.thread_names);
  EXPECT_EQ(b.blobs, a.blobs);
  EXPECT_EQ(b.events, a.events);
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
    EXPECT_EQ(seen.samples[n].info, sample_info(n)) << n;
    ASSERT_EQ(seen.samples[n].stacks.size(), 2u);
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
}

}  // namespace
}  // namespace ringside::recording
