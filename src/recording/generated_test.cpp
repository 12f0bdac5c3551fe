#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <protozero/pbf_writer.hpp>
#include <random>

#include "recording/block.h"
#include "recording/recording_test_util.h"

// Generated recordings with every kind of record: they are read as they were written, as far as
// they were written, and whatever a later version puts between.
namespace ringside::recording {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::slurp;
using testing::TempDir;

// The contents of a recording as lines, by kind: those of one source's samples, and of the other
// kinds. Nothing in them is an id of the file.
using Lines = std::map<std::string, std::vector<std::string>>;

// Whether `part` is the first lines of `whole`, kind by kind.
::testing::AssertionResult begins(const Lines& whole, const Lines& part) {
  for (const auto& [kind, lines] : part) {
    const auto found = whole.find(kind);
    if (found == whole.end() || found->second.size() < lines.size())
      return ::testing::AssertionFailure() << "too much of " << kind;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i] != found->second[i])
        return ::testing::AssertionFailure()
               << kind << ' ' << i << ": " << lines[i] << " instead of " << found->second[i];
  }
  return ::testing::AssertionSuccess();
}

std::string text_of(const SampleInfo& info, const std::string& waits_for) {
  return fmt::format(
      "vcpu {} level {} disposition {} space {:x} pid {} tid {} start {} {} {}", info.vcpu.value,
      static_cast<int>(info.level), static_cast<int>(info.disposition), info.address_space,
      info.pid ? fmt::format("{}", *info.pid) : "-", info.tid ? fmt::format("{}", *info.tid) : "-",
      info.thread_start_ns, name_of(info.state), waits_for);
}

std::string text_of(const StackRef& ref, const std::string& frames) {
  return fmt::format(" [{} {} {}:{}]", name_of(ref.role), name_of(ref.stop), ref.stopped_at,
                     frames);
}

// Makes records at random, writes them, and keeps what they are.
class Generator {
 public:
  Generator(Writer& writer, unsigned seed) : writer_(writer), random_(seed) {}

  static std::vector<Source> sources() {
    Source cpu = cpu_source({});
    Source two{0, "two", SourceKind::kAllocations, 0, 0, "", {{"count", {}, 1}, {"bytes", {}, 8}}};
    return {cpu, two};
  }
  void add(std::size_t records) {
    if (lines.empty()) begin();
    for (std::size_t i = 0; i < records; ++i) add_one();
  }

  Lines lines;

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  void keep(const std::string& kind, std::string line) { lines[kind].push_back(std::move(line)); }

  void begin() {
    EventType type{0,
                   "event",
                   2,
                   {{"n", FieldType::kInteger, {}},
                    {"t", FieldType::kText, {}},
                    {"b", FieldType::kBytes, {}},
                    {"s", FieldType::kSymbol, {}}}};
    for (int image = 0; image < 2; ++image) ASSERT_TRUE(writer_.add_image({}));
    ASSERT_TRUE(writer_.add_event_type(type));
    ASSERT_TRUE(writer_.add_counter_set(
        {0, "counters", 2, {{"address", KeyKind::kOffset}, {"thread", KeyKind::kThread}}}));
  }

  StackRef stack(std::string& text) {
    std::vector<RecordedFrame> frames(1 + below(5));
    std::string shown;
    for (RecordedFrame& frame : frames) {
      frame.exact = below(2) == 0;
      frame.address = {0x1000 + below(50)};
      if (below(4) == 0) {
        const std::string name = fmt::format("function_{}", below(30));
        frame.function = *writer_.add_text(name);
        frame.line = below(9);
        frame.inlined = below(2) == 0;
        shown += fmt::format(" {}:{}{}", name, frame.line, frame.inlined ? "i" : "");
      }
      shown += fmt::format(" {:x}{}", frame.address.value, frame.exact ? "e" : "");
    }
    StackRef ref = writer_.add_stack(frames);
    ref.role = static_cast<StackRole>(below(5));
    ref.stop = static_cast<StopReason>(below(kStopReasonCount));
    ref.stopped_at = {below(3)};
    text += text_of(ref, shown);
    return ref;
  }

  SampleInfo info(std::string& text) {
    SampleInfo info;
    info.vcpu = below(5) == 0 ? kNoVcpu : VcpuId{static_cast<std::uint16_t>(below(4))};
    info.level = static_cast<PrivilegeLevel>(below(5));
    info.disposition = static_cast<wire::Disposition>(below(4));
    info.address_space = below(3);
    if (below(3) != 0) info.pid = below(20);
    if (below(3) != 0) info.tid = below(20);
    info.thread_start_ns = below(3);
    info.state = static_cast<ThreadState>(below(7));
    std::string waits_for;
    if (below(4) == 0) info.waits_for = *writer_.add_text(waits_for = fmt::format("w{}", below(5)));
    text += text_of(info, waits_for);
    return info;
  }

  void add_one() {
    time_ += below(2'000'000);
    switch (below(13)) {
      case 0:
        return add_events();
      case 1:
        return add_counters();
      case 2: {
        const ThreadName name{time_, below(9), below(9), below(2), fmt::format("n{}", below(9)),
                              ""};
        ASSERT_TRUE(writer_.add_thread_name(name));
        ++before_;
        return keep("name",
                    fmt::format("{} {} {} {}", name.time_ns, name.pid, name.tid, name.name));
      }
      case 3:
        ASSERT_TRUE(writer_.add_epoch({time_, "reboot", time_}));
        ++before_;
        return keep("epoch", fmt::format("{}", time_));
      case 4: {
        const ImageFunction function{
            1 + below(2), {time_}, below(99), fmt::format("f{}", below(9)), below(2) != 0};
        ASSERT_TRUE(writer_.add_function(function));
        return keep("function",
                    fmt::format("{} {} {} {} {}", function.image, function.address.value,
                                function.size, function.name, function.in_file));
      }
      case 5:
        if (below(4) == 0) {
          ASSERT_TRUE(writer_.flush());
        }
        return;
      default:
        return add_sample();
    }
  }

  void add_sample() {
    std::string text = fmt::format("{} ", time_);
    SampleInfo sample = info(text);
    sample.time_ns = time_;
    sample.source = 1 + below(2);
    sample.pause_ns = below(3) == 0 ? below(1000) : 0;
    sample.weight = below(3) == 0 ? below(1000) : 1;
    std::vector<std::int64_t> more;
    if (sample.source == 2) more.push_back(static_cast<std::int64_t>(below(100)) - 50);
    std::vector<StackRef> stacks;
    for (std::uint32_t count = below(4); count > 0; --count) stacks.push_back(stack(text));
    ASSERT_TRUE(writer_.add_sample(sample, stacks, more));
    keep(fmt::format("source {}", sample.source),
         fmt::format("{} pause {} weight {} {} behind {}", text, sample.pause_ns, sample.weight,
                     more.empty() ? 0 : more[0], before_));
  }

  void add_events() {
    EventBatch batch;
    batch.type = 1;
    batch.fields.resize(4);
    const bool has_keys = below(2) == 0;
    for (std::uint32_t rows = 1 + below(3); rows > 0; --rows) {
      std::string text = fmt::format("{} ", time_);
      const SampleInfo owner = info(text);
      std::vector<StackRef> stacks;
      if (below(2) == 0) stacks.push_back(stack(text));
      batch.times.push_back(time_);
      batch.contexts.push_back(writer_.add_context(owner, stacks));
      if (has_keys) batch.keys.push_back(below(100));
      const auto number = static_cast<std::int64_t>(below(100)) - 50;
      const std::string word = fmt::format("t{}", below(9));
      const std::string bytes(below(3), '\xfe');
      RecordedFrame frame;
      frame.address = {0x2000 + below(9)};
      batch.fields[0].numbers.push_back(number);
      batch.fields[1].numbers.push_back(*writer_.add_text(word));
      batch.fields[2].bytes.push_back(bytes);
      batch.fields[3].numbers.push_back(writer_.add_frame(frame));
      keep("event", fmt::format("{} key {} {} {} {} {:x}", text, has_keys ? batch.keys.back() : 0,
                                number, word, bytes.size(), frame.address.value));
    }
    ASSERT_TRUE(writer_.add_events(batch));
  }

  void add_counters() {
    CounterBatch batch;
    batch.set = 1;
    batch.mark = *writer_.add_mark({0, MarkKind::kProbe, time_, "probe"});
    batch.keys.resize(2);
    batch.values.resize(2);
    for (std::uint32_t rows = 1 + below(3); rows > 0; --rows) {
      const Thread thread{below(5), below(5), 0};
      batch.keys[0].push_back(below(100));
      batch.keys[1].push_back(writer_.add_thread(thread));
      batch.values[0].push_back(1);
      batch.values[1].push_back(static_cast<std::int64_t>(below(100)) - 50);
      keep("counter", fmt::format("{} {}/{} {} {}", batch.keys[0].back(), *thread.pid, *thread.tid,
                                  batch.values[1].back(), time_));
    }
    ASSERT_TRUE(writer_.add_counters(batch));
  }

  Writer& writer_;
  std::mt19937_64 random_;
  std::uint64_t time_ = 0;
  std::size_t before_ = 0;  // names and epochs that were written
};

// The same lines out of a recording.
class Described final : public testing::Collector {
 public:
  Lines lines;

  void sample(const Sample& sample) override {
    lines[fmt::format("source {}", sample.info.source)].push_back(fmt::format(
        "{} pause {} weight {} {} behind {}", described(sample), sample.info.pause_ns,
        sample.info.weight, sample.more_values.empty() ? 0 : sample.more_values[0], before_));
  }
  void thread_name(const ThreadName& name) override {
    ++before_;
    lines["name"].push_back(
        fmt::format("{} {} {} {}", name.time_ns, name.pid, name.tid, name.name));
  }
  void function(const ImageFunction& function) override {
    lines["function"].push_back(fmt::format("{} {} {} {} {}", function.image,
                                            function.address.value, function.size, function.name,
                                            function.in_file));
  }
  void epoch(const GuestEpoch& epoch) override {
    ++before_;
    lines["epoch"].push_back(fmt::format("{}", epoch.time_ns));
  }
  void events(const EventBatch& batch) override {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      Sample sample;
      sample.info.time_ns = batch.times[row];
      expand(batch.contexts[row], sample);
      const auto number = [&](std::size_t field) {
        const auto& numbers = batch.fields[field].numbers;
        return numbers.empty() ? 0 : numbers[row];
      };
      const auto& bytes = batch.fields[2].bytes;
      lines["event"].push_back(fmt::format(
          "{} key {} {} {} {} {:x}", described(sample), batch.keys.empty() ? 0 : batch.keys[row],
          number(0), texts[static_cast<std::size_t>(number(1))],
          bytes.empty() ? 0 : bytes[row].size(),
          frames[static_cast<std::size_t>(number(3))].address.value));
    }
  }
  void mark(const Mark& mark) override { mark_times_[mark.id] = mark.time_ns; }
  void counters(const CounterBatch& batch) override {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const Thread& thread = thread_of(static_cast<std::uint32_t>(batch.keys[1][row]));
      lines["counter"].push_back(fmt::format(
          "{} {}/{} {} {}", batch.keys[0][row], thread.pid.value_or(99), thread.tid.value_or(99),
          batch.values[1].empty() ? 1 : batch.values[1][row], mark_times_[batch.mark]));
    }
  }

 private:
  std::string described(const Sample& sample) {
    std::string text = fmt::format("{} ", sample.info.time_ns) +
                       text_of(sample.info, texts[sample.info.waits_for]);
    for (const StackRef& ref : sample.stacks) {
      std::string shown;
      for (std::uint32_t id = ref.node; id != 0 && id != kLostStack; id = nodes[id].parent) {
        const RecordedFrame& frame = frames[nodes[id].frame];
        if (frame.function != 0)
          shown +=
              fmt::format(" {}:{}{}", texts[frame.function], frame.line, frame.inlined ? "i" : "");
        shown += fmt::format(" {:x}{}", frame.address.value, frame.exact ? "e" : "");
      }
      text += text_of(ref, shown);
    }
    return text;
  }

  std::map<std::uint32_t, std::uint64_t> mark_times_;
  std::size_t before_ = 0;
};

Described read(Bytes bytes) {
  Described seen;
  auto reader = Reader::open(bytes, "generated");
  EXPECT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(reader && reader->for_each(seen));
  return seen;
}

struct Generated {
  std::string bytes;
  Lines lines;
};

Generated generated(unsigned seed, std::size_t records) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {}, Generator::sources());
  EXPECT_TRUE(writer);
  Generator generator(*writer, seed);
  generator.add(records);
  EXPECT_TRUE(writer->finish());
  return {slurp(dir / "a.data"), std::move(generator.lines)};
}

TEST(Generated, IsReadAsItWasWritten) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Generated made = generated(seed, 20 * seed * seed);
    const Described seen = read(as_bytes(made.bytes));
    EXPECT_TRUE(begins(made.lines, seen.lines)) << seed;
    EXPECT_TRUE(begins(seen.lines, made.lines)) << seed;
    EXPECT_TRUE(seen.warnings.empty() && seen.left.empty()) << seed;
  }
}

TEST(Generated, IsReadAsFarAsItIsThere) {
  std::mt19937 random(1);
  const Generated made = generated(1, 2000);
  std::size_t longest = 0;  // of which nothing can be read
  for (int i = 0; i < 50; ++i) {
    const std::size_t size = random() % made.bytes.size();
    const Bytes cut = as_bytes(made.bytes).first(size);
    if (!Reader::open(cut, "cut")) {
      longest = std::max(longest, size);
      continue;
    }
    EXPECT_TRUE(begins(made.lines, read(cut).lines)) << size;
  }
  EXPECT_LT(longest, 1000u) << "the first block is there";
}

TEST(Generated, IsReadAsFarAsAKilledWriterCame) {
  std::mt19937 random(2);
  const Generated made = generated(3, 30'000);
  std::size_t cut_short = 0;
  for (int i = 0; i < 10; ++i) {
    TempDir dir;
    const pid_t child = ::fork();
    if (child == 0) {
      auto writer = Writer::create(dir / "a.data", {}, Generator::sources());
      Generator generator(*writer, 3);
      generator.add(30'000);
      ::_exit(writer->finish() ? 0 : 1);
    }
    ::usleep(static_cast<useconds_t>(random() % 150'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string bytes = slurp(dir / "a.data");
    const auto reader = Reader::open(as_bytes(bytes), "killed");
    if (!reader) continue;  // it had not begun
    EXPECT_TRUE(begins(made.lines, read(as_bytes(bytes)).lines));
    if (!reader->complete()) ++cut_short;
  }
  EXPECT_GT(cut_short, 0u) << "no writer was killed while it wrote";
}

// Blocks and records stand in it that are not known yet.
TEST(Generated, OfALaterVersionIsReadWithoutWhatIsNew) {
  const Generated made = generated(5, 2000);
  std::string later = file_header();
  later[10] = 7;  // its minor version
  BlockEncoder encoder;
  BlockDecoder decoder;
  std::uint32_t sequence = 0;
  for (Bytes rest = as_bytes(made.bytes).subspan(kFileHeaderSize); !rest.empty();) {
    const auto header = parse_block_header(rest);
    ASSERT_TRUE(header);
    const Bytes stored = rest.subspan(kBlockHeaderSize, header->stored_size);
    std::string payload(decoder.decode(*header, stored).value());
    if (!payload.empty()) {
      std::string front;
      protozero::pbf_writer records(front);
      records.add_string(90, "a record of tomorrow");
      records.add_uint64(91, 1);
      payload = front + payload + front;
      later += encoder.encode(static_cast<BlockKind>(77), sequence++, "a block of tomorrow");
    }
    later += encoder.encode(static_cast<BlockKind>(header->kind), sequence++, payload);
    rest = rest.subspan(kBlockHeaderSize + header->stored_size);
  }
  const Described seen = read(as_bytes(later));
  EXPECT_TRUE(begins(made.lines, seen.lines));
  EXPECT_TRUE(begins(seen.lines, made.lines));
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("such as 90")));
}

}  // namespace
}  // namespace ringside::recording
