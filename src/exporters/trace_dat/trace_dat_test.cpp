#include "exporters/trace_dat/trace_dat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>

#include "exporters/exporters_test_util.h"
#include "exporters/trace_dat/ring_buffer.h"
#include "exporters/trace_dat/trace_dat_test_util.h"
#include "recording/recording_test_util.h"

// Places are those of trace-cmd.dat.v6.5, trace-cmd's page of the manual.
namespace ringside::exporters {
namespace {

using recording::testing::TempDir;
using testing::frame;
using testing::PipeSink;
using trace_dat::testing::Event;
using trace_dat::testing::events_of;

constexpr const char* kHostile = "\x1b[31m evil;\n%s \"\\\xff') $x";

// Functions of 0x100 bytes. Those of the kernel have hostile names.
class Namer final : public profile::FrameNamer {
 public:
  void name(const profile::FrameToName& what, profile::NamedFrame& out) override {
    if (what.image == nullptr) return;
    const std::uint64_t start = what.frame.lookup_address().value & ~std::uint64_t{0xff};
    const char* const name = what.image->name == "kernel" ? kHostile : "outer";
    out.functions = {fmt::format("{}{:x}", name, start), "inlined"};
    out.start = {start};
    out.size = 0x100;
  }
};

// The sections of a file.
struct File {
  explicit File(std::string_view bytes) : rest(bytes), whole(bytes) {
    EXPECT_EQ(take(3 + 7), "\x17\x08\x44tracing");
    EXPECT_EQ(take(2), std::string_view("6\0", 2));
    EXPECT_EQ(number<std::uint8_t>(), 0);
    EXPECT_EQ(number<std::uint8_t>(), 8);
    EXPECT_EQ(number<std::uint32_t>(), 4096u);
    EXPECT_EQ(take(12), std::string_view("header_page\0", 12));
    take(number<std::uint64_t>());
    EXPECT_EQ(take(13), std::string_view("header_event\0", 13));
    take(number<std::uint64_t>());
    formats = take_formats();
    EXPECT_EQ(number<std::uint32_t>(), 1u);
    EXPECT_EQ(take(9), std::string_view("ringside\0", 9));
    for (const std::string& format : take_formats()) formats.push_back(format);
    kallsyms = take(number<std::uint32_t>());
    EXPECT_EQ(number<std::uint32_t>(), 0u);
    command_lines = take(number<std::uint64_t>());
    const auto processors = number<std::uint32_t>();
    EXPECT_EQ(take(10), std::string_view("options  \0", 10));
    for (auto id = number<std::uint16_t>(); id != 0; id = number<std::uint16_t>())
      options[id] = take(number<std::uint32_t>());
    EXPECT_EQ(take(10), std::string_view("flyrecord\0", 10));
    for (std::uint32_t i = 0; i < processors; ++i) {
      const auto place = number<std::uint64_t>();
      EXPECT_EQ(place % 4096, 0u);
      buffers.push_back(events_of(whole.substr(place, number<std::uint64_t>())));
    }
    EXPECT_EQ(take(number<std::uint64_t>()) + std::string(1, '\0'), options[4]);
  }
  std::string take(std::uint64_t size) {
    EXPECT_LE(size, rest.size());
    std::string part(rest.substr(0, size));
    rest.remove_prefix(std::min<std::size_t>(size, rest.size()));
    return part;
  }
  template <class T>
  T number() {
    return load<T>(as_bytes(take(sizeof(T))));
  }
  std::vector<std::string> take_formats() {
    std::vector<std::string> texts;
    for (auto left = number<std::uint32_t>(); left > 0; --left)
      texts.push_back(take(number<std::uint64_t>()));
    return texts;
  }
  std::string_view rest;
  std::string_view whole;
  std::vector<std::string> formats;
  std::string kallsyms;
  std::string command_lines;
  std::map<unsigned, std::string> options;
  std::vector<std::vector<Event>> buffers;
};

template <class T>
T at(const Event& event, std::size_t place) {
  return load<T>(as_bytes(event.bytes), place);
}
// The text of a field of __data_loc.
std::string text_at(const Event& event, std::size_t place) {
  const auto where = at<std::uint32_t>(event, place);
  return event.bytes.substr(where & 0xffff, (where >> 16) - 1);
}

class TraceDatTest : public ::testing::Test {
 protected:
  TraceDatTest() : writer_(recording::Writer::create(dir_ / "t.data", header()).value()) {
    recording::ImageInfo kernel;
    kernel.name = "kernel";
    kernel.arch = Arch::kX86_64;
    EXPECT_TRUE(writer_.add_image(kernel));
    recording::ImageInfo program;
    program.name = "program";
    program.arch = Arch::kX86_64;
    EXPECT_TRUE(writer_.add_image(program));
    recording::Mapping mapping;
    mapping.image = 1;
    mapping.start = {0xffffffff81000000};
    mapping.end = {0xffffffff81800000};
    EXPECT_TRUE(writer_.add_mapping(mapping));
    EXPECT_TRUE(writer_.add_thread_name({0, 7, 8, 0, kHostile}));
    EXPECT_TRUE(writer_.add_thread_name({0, 9, 9, 0, "  "}));
    EXPECT_TRUE(writer_.add_thread_name({0, 10, 10, 0, "plain"}));
  }

  static recording::Header header() {
    recording::Header header;
    header.arch = Arch::kX86_64;
    header.vcpu_count = 2;
    header.interval_ns = 1'000'000;
    header.kernel = "6.1.0\n-guest";
    return header;
  }

  void add_sample(std::uint64_t time, VcpuId vcpu, std::uint32_t pid, std::uint32_t tid,
                  const Stack& kernel, const Stack* user = nullptr) {
    recording::SampleInfo info;
    info.time_ns = time;
    info.vcpu = vcpu;
    info.level = PrivilegeLevel::kKernel;
    info.pid = pid;
    info.tid = tid;
    info.weight = 3;
    const std::array<const Stack*, 2> stacks = {&kernel, user};
    EXPECT_TRUE(writer_.add_sample(info, std::span(stacks.data(), user == nullptr ? 1 : 2)));
  }
  // The return address is the end of its function.
  static Stack kernel_stack() {
    Stack stack;
    stack.frames = {frame(0xffffffff81000010, true, FrameKind::kKernel),
                    frame(0xffffffff81000300, false, FrameKind::kKernel)};
    stack.stop = StopReason::kUserMode;
    return stack;
  }
  static Stack user_stack() {
    Stack stack;
    stack.frames = {frame(0x401234, false, FrameKind::kUser, 2)};
    return stack;
  }

  void write(Sink& sink, ExportOptions options = {}) {
    if (!std::exchange(is_finished_, true)) {
      EXPECT_TRUE(writer_.finish());
    }
    auto reader = recording::Reader::open(dir_ / "t.data");
    ASSERT_TRUE(reader);
    Namer namer;
    profile::BuildOptions every_source;
    every_source.every_source = true;
    auto profile = profile::DetailedProfile::read(*reader, namer, every_source);
    ASSERT_TRUE(profile);
    ASSERT_TRUE(write_trace_dat(**profile, options, sink));
  }
  std::string bytes(ExportOptions options = {}) {
    StringSink sink;
    write(sink, options);
    return sink.text();
  }

  TempDir dir_;
  recording::Writer writer_;
  bool is_finished_ = false;
};

TEST_F(TraceDatTest, ASampleAndItsStacksFollowEachOther) {
  const Stack kernel = kernel_stack();
  const Stack user = user_stack();
  add_sample(5'000'000'000, {1}, 7, 8, kernel, &user);
  const std::string file = bytes();
  const File trace(file);
  ASSERT_EQ(trace.buffers.size(), 2u);
  EXPECT_TRUE(trace.buffers[0].empty());
  ASSERT_EQ(trace.buffers[1].size(), 3u);
  for (const Event& event : trace.buffers[1]) {
    EXPECT_EQ(event.time, 5'000'000'000u);
    EXPECT_EQ(at<std::int32_t>(event, 4), 8);  // common_pid
  }
  const Event& sample = trace.buffers[1][0];
  EXPECT_NE(trace.formats.back().find(fmt::format("ID: {}\n", at<std::uint16_t>(sample, 0))),
            std::string::npos);
  EXPECT_EQ(at<std::int32_t>(sample, 8), 7);
  EXPECT_EQ(at<std::uint8_t>(sample, 16), 1);  // kernel
  EXPECT_EQ(at<std::int64_t>(sample, 24), 3);
  const Event& callers = trace.buffers[1][1];
  EXPECT_EQ(at<std::uint16_t>(callers, 0), 4);  // TRACE_STACK
  EXPECT_EQ(at<std::int32_t>(callers, 8), 2);
  EXPECT_EQ(at<std::uint64_t>(callers, 16), 0xffffffff81000010);
  EXPECT_EQ(at<std::uint64_t>(callers, 24), 0xffffffff810002ff)
      << "readers would take the next function";
  EXPECT_EQ(at<std::uint64_t>(callers, 32), ~std::uint64_t{0});
  const Event& lines = trace.buffers[1][2];
  EXPECT_EQ(at<std::uint16_t>(lines, 0), 12);  // TRACE_USER_STACK
  EXPECT_EQ(at<std::int32_t>(lines, 8), 7);
  EXPECT_EQ(text_at(lines, 12), "<user stack trace>\n=> inlined (401234)\n=> outer401200 (401234)");
}

TEST_F(TraceDatTest, NamesBreakNoLineAndNoWord) {
  add_sample(1, {0}, 7, 8, kernel_stack());
  add_sample(2, {0}, 9, 9, kernel_stack());
  add_sample(3, {0}, 10, 10, kernel_stack());
  const std::string file = bytes();
  const File trace(file);
  std::istringstream symbols(trace.kallsyms);
  std::vector<std::string> words;
  for (std::string line; std::getline(symbols, line);) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ' '), 2) << line;
    words.push_back(line.substr(19));
  }
  EXPECT_EQ(words.size(), 3u);
  EXPECT_EQ(words.back(), "_end");
  EXPECT_EQ(words.front(), "_[31m_evil:_%s_\"\\\xef\xbf\xbd')_$xffffffff81000000");
  EXPECT_EQ(trace.command_lines, "8 _[31m evil: %s \"\\\xef\xbf\xbd') $x\n9 __\n10 plain\n");
  for (const std::string& text : {trace.kallsyms, trace.command_lines, trace.options.at(5)})
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(trace.options.at(5), std::string("6.1.0 -guest\0", 13));
}

TEST_F(TraceDatTest, EventsAndFieldsHaveIdentifiers) {
  recording::Source source;
  source.name = kHostile;
  source.kind = recording::SourceKind::kProbe;
  source.values = {{"count", recording::WeightUnit::kCount, 1}};
  const auto source_id = writer_.add_source(source);
  ASSERT_TRUE(source_id);
  recording::EventType type;
  type.name = "\"); evil";
  type.source = *source_id;
  type.fields = {{kHostile, recording::FieldType::kText, {}},
                 {kHostile, recording::FieldType::kInteger, recording::WeightUnit::kBytes},
                 {"comm", recording::FieldType::kBytes, {}},
                 {"9", recording::FieldType::kAddress, {}}};
  const auto type_id = writer_.add_event_type(type);
  ASSERT_TRUE(type_id);
  recording::SampleInfo info;
  info.source = *source_id;
  info.vcpu = {1};
  info.pid = info.tid = 10;
  recording::EventBatch batch;
  batch.type = *type_id;
  batch.times = {5};
  batch.contexts = {writer_.add_context(info, {})};
  const auto text = writer_.add_text(kHostile + std::string(5000, 'x'));
  ASSERT_TRUE(text);
  batch.fields = {{{*text}, {}}, {{-2}, {}}, {{}, {std::string("\0\xff", 2)}}, {{255}, {}}};
  ASSERT_TRUE(writer_.add_events(batch));
  const std::string file = bytes();
  const File trace(file);
  const std::string& format = trace.formats.back();
  EXPECT_TRUE(format.starts_with("name: ____evil\n")) << format;
  const std::string name = "__31m_evil___s________x";
  EXPECT_NE(format.find("print fmt: \"process=%d comm=%s mode=%s " + name + "=%s " + name +
                        "_2=%lld bytes comm_2=%s _9=0x%llx\", REC->process"),
            std::string::npos)
      << format;
  for (const char letter : format)
    EXPECT_TRUE(std::isprint(letter) != 0 || letter == '\n' || letter == '\t');
  ASSERT_EQ(trace.buffers[1].size(), 2u);  // and "[no stack]"
  const Event& event = trace.buffers[1][0];
  EXPECT_LE(event.bytes.size(), trace_dat::kMostEvent);
  EXPECT_TRUE(text_at(event, 24).starts_with(" [31m evil: %s")) << text_at(event, 24);
  EXPECT_EQ(at<std::int64_t>(event, 32), -2);
  EXPECT_EQ(at<std::uint32_t>(event, 40) >> 16, 2u);
  EXPECT_EQ(at<std::uint64_t>(event, 48), 255u);
}

TEST_F(TraceDatTest, NobodysProcessorIsTheLastOne) {
  add_sample(5, recording::kNoVcpu, 7, 8, kernel_stack());
  const std::string file = bytes();
  const File trace(file);
  ASSERT_EQ(trace.buffers.size(), 3u);
  EXPECT_EQ(trace.buffers[2].size(), 2u);
}

TEST_F(TraceDatTest, IdleProcessorsAreShownOnDemand) {
  recording::SampleInfo idle;
  idle.vcpu = {1};
  idle.disposition = wire::Disposition::kIdle;
  EXPECT_TRUE(writer_.add_sample(idle, nullptr));
  ExportOptions options;
  options.show_idle = true;
  const std::string file = bytes(options);
  const File trace(file);
  ASSERT_EQ(trace.buffers[1].size(), 1u);
  EXPECT_EQ(trace.buffers[1][0].time, 1u) << "KernelShark cannot sort 0";
  EXPECT_EQ(at<std::int32_t>(trace.buffers[1][0], 4), 0);
  EXPECT_EQ(at<std::uint8_t>(trace.buffers[1][0], 16), 6);
}

TEST_F(TraceDatTest, LongStacksAreSeveralEvents) {
  Stack kernel;
  Stack user;
  for (std::uint64_t i = 0; i < 512; ++i) {
    kernel.frames.push_back(frame(0xffffffff81000000 + i * 0x100, true, FrameKind::kKernel));
    user.frames.push_back(frame(0x401000 + i * 0x100, true, FrameKind::kUser, 2));
  }
  kernel.stop = StopReason::kUserMode;
  add_sample(5, {0}, 7, 8, kernel, &user);
  const std::string file = bytes();
  const File trace(file);
  std::size_t callers = 0;
  std::ptrdiff_t lines = 0;
  for (const Event& event : trace.buffers[0]) {
    if (at<std::uint16_t>(event, 0) == 4) callers += at<std::uint32_t>(event, 8);
    if (at<std::uint16_t>(event, 0) != 12) continue;
    const std::string text = text_at(event, 12);
    lines += std::count(text.begin(), text.end(), '\n');
  }
  EXPECT_EQ(callers, 512u);
  EXPECT_EQ(lines, 1024);
}

TEST_F(TraceDatTest, APipeGetsTheSameBytes) {
  add_sample(5, {0}, 7, 8, kernel_stack());
  add_sample(6, {1}, 9, 9, kernel_stack());
  PipeSink pipe;
  write(pipe);
  EXPECT_EQ(pipe.text_, bytes());
}

}  // namespace
}  // namespace ringside::exporters
