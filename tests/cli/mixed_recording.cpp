// Writes a recording of everything that one can have: ticks of two engines, stretches off the CPU,
// allocations, events with fields, counters with marks and a snapshot of 500 threads. The numbers
// are those that sources_test.py expects.
#include <fmt/core.h>

#include <array>
#include <string>
#include <vector>

#include "elf/elf_writer.h"
#include "recording/writer.h"

namespace ringside {
namespace {

using recording::Source;
using recording::SourceKind;
using recording::WeightUnit;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kBase = 0xffffffff81000000;
constexpr std::uint64_t kBias = 0x1000000;
constexpr std::uint64_t kFunctionSize = 0x100;
constexpr std::array kFunctions = {"schedule", "kmalloc", "handle_fault", "submit_bio"};
constexpr std::uint32_t kThreads = 500;
constexpr std::uint64_t kOfNoThread = 1234;  // the tick of which only the process is known
constexpr std::uint64_t kOfNoName = 1244;    // the tick of a thread without a name
constexpr std::uint32_t kNamelessThread = 9001;
// Two ticks, one on each vCPU, in user code of which not even the process is known.
constexpr std::uint64_t kOfNobody = 1253;
constexpr std::uint64_t kOfNobodyElse = 1254;
constexpr unsigned kInfoOfGlobalFunction = 0x12;  // STB_GLOBAL, STT_FUNC

std::vector<Source> sources() {
  Source cpu;
  cpu.name = recording::kCpuSourceName;
  cpu.period = kMs;
  cpu.engine = "tcg";
  cpu.values = {{"ticks", WeightUnit::kTicks, 1}};
  Source monitor = cpu;
  monitor.name = "monitor";
  monitor.period = 5 * kMs;
  monitor.engine = "qmp";
  Source off_cpu{0,
                 "off-cpu",
                 SourceKind::kOffCpu,
                 0,
                 0,
                 "",
                 {{"count", WeightUnit::kCount, 1}, {"time", WeightUnit::kNanoseconds, 1}}};
  Source allocations{0,
                     "allocations",
                     SourceKind::kAllocations,
                     0,
                     512,
                     "",
                     {{"count", WeightUnit::kCount, 1},
                      {"bytes", WeightUnit::kBytes, 16},
                      {"change", WeightUnit::kBytes, 16}}};
  Source requests{0,
                  "requests",
                  SourceKind::kProbe,
                  1,
                  0,
                  "",
                  {{"count", WeightUnit::kCount, 1},
                   {recording::kDurationValue, WeightUnit::kNanoseconds, 1},
                   {"bytes", WeightUnit::kBytes, 1}}};
  Source instructions{0,
                      "instructions",
                      SourceKind::kOther,
                      0,
                      0,
                      "",
                      {{"instructions", WeightUnit::kInstructions, 1}}};
  Source threads{0, "threads", SourceKind::kOther, 0, 0, "", {{"count", WeightUnit::kCount, 1}}};
  return {cpu, monitor, off_cpu, allocations, requests, instructions, threads};
}
enum : std::uint32_t { kCpu = 1, kMonitor, kOffCpu, kAllocations, kRequests, kInstructions, kAll };

class Mixed {
 public:
  explicit Mixed(recording::Writer& writer) : writer_(writer) {}

  Result<void> write() {
    RINGSIDE_TRY(add_places());
    RINGSIDE_TRY(add_samples());
    RINGSIDE_TRY(add_requests());
    RINGSIDE_TRY(add_instructions());
    RINGSIDE_TRY(add_threads());
    recording::Statistics statistics;
    statistics.due = 3010;
    statistics.lost = 10;
    statistics.counters[recording::kLostByHost] = 10;
    statistics.duration_ns = 3000 * kMs;
    RINGSIDE_TRY(writer_.add_statistics(statistics));
    return writer_.finish();
  }

 private:
  Result<void> add_places() {
    elf::ElfWriter file(Arch::kX86_64, true, 2);
    file.add_segment({kBase}, kFunctions.size() * kFunctionSize, true, false, {});
    std::vector<elf::ElfWriter::Symbol> symbols;
    for (std::size_t i = 0; i < kFunctions.size(); ++i)
      symbols.push_back({.name = kFunctions[i],
                         .address = {kBase + i * kFunctionSize},
                         .size = kFunctionSize,
                         .info = kInfoOfGlobalFunction});
    file.set_symbols(std::move(symbols));
    recording::ImageInfo image;
    image.name = "kernel";
    image.arch = Arch::kX86_64;
    image.load_bias = kBias;
    RINGSIDE_ASSIGN(image_, writer_.add_image(image));
    const std::vector<std::byte> elf = file.write();
    RINGSIDE_TRY(writer_.add_blob({recording::kImageFileBlob, image_, elf}));
    recording::Mapping mapping;
    mapping.image = image_;
    mapping.start = {kBase + kBias};
    mapping.end = mapping.start + kFunctions.size() * kFunctionSize;
    RINGSIDE_TRY(writer_.add_mapping(mapping));
    for (std::uint32_t pid = 1; pid <= kThreads; ++pid)
      RINGSIDE_TRY(writer_.add_thread_name({0, pid, 0, 0, fmt::format("thread-{}", pid), {}}));
    return {};
  }

  // Code of the kernel that was called by code of which only the name is known.
  recording::StackRef stack(std::size_t function, const std::string& caller) {
    recording::RecordedFrame leaf;
    leaf.address = {kBase + kBias + function * kFunctionSize + 0x10};
    leaf.exact = true;
    leaf.image = image_;
    recording::RecordedFrame outer;
    outer.function = *writer_.add_text(caller);
    return writer_.add_stack(std::vector{leaf, outer});
  }

  static recording::SampleInfo info_of(std::uint32_t source, std::uint64_t i) {
    recording::SampleInfo info;
    info.source = source;
    info.pid = info.tid = static_cast<std::uint32_t>(1 + i % 20);
    info.level = PrivilegeLevel::kKernel;
    return info;
  }

  Result<void> add_samples() {
    RINGSIDE_ASSIGN(const std::uint32_t futex, writer_.add_text("futex_wait"));
    for (std::uint64_t i = 0; i < 3000; ++i) {
      recording::SampleInfo info = info_of(kCpu, i);
      info.time_ns = i * kMs;
      info.vcpu = {static_cast<std::uint16_t>(i % 2)};
      info.pause_ns = 1000;
      if (i == kOfNoThread) info.tid.reset();
      if (i == kOfNoName) info.pid = info.tid = kNamelessThread;
      const bool is_idle = i % 10 == 9;
      if (is_idle) info.disposition = wire::Disposition::kIdle;
      std::vector<recording::StackRef> stacks = {stack(i % 4, "cpu_loop")};
      if (i == kOfNobody || i == kOfNobodyElse) {
        info.pid.reset();
        info.tid.reset();
        info.level = PrivilegeLevel::kUser;
        recording::RecordedFrame nowhere;
        nowhere.address = {0x7000'0000};
        nowhere.exact = true;
        nowhere.kind = FrameKind::kUser;
        stacks = {writer_.add_stack(std::vector{nowhere})};
      }
      RINGSIDE_TRY(writer_.add_sample(info, std::span(stacks).first(is_idle ? 0 : 1), {}));
      if (i % 5 == 0) {
        info = info_of(kMonitor, i);
        info.time_ns = i * kMs;
        info.weight = 2;
        RINGSIDE_TRY(writer_.add_sample(info, std::vector{stack(0, "monitor_loop")}, {}));
      }
      if (i % 15 == 0) {
        info = info_of(kOffCpu, i);
        info.time_ns = i * kMs;
        info.vcpu = recording::kNoVcpu;
        info.state = recording::ThreadState::kSleeping;
        info.waits_for = futex;
        recording::StackRef waker = stack(3, "interrupt");
        waker.role = recording::StackRole::kWaker;
        const std::vector<std::int64_t> time = {static_cast<std::int64_t>(1000 * (i + 1))};
        RINGSIDE_TRY(writer_.add_sample(info, std::vector{stack(0, "wait"), waker}, time));
      }
      if (i % 3 == 0) {
        info = info_of(kAllocations, i);
        info.time_ns = i * kMs;
        info.weight = 1 + i % 2;
        const auto bytes = static_cast<std::int64_t>(i);
        const bool frees = i % 2 == 1;
        const std::vector<std::int64_t> values = {bytes, frees ? -bytes : bytes};
        RINGSIDE_TRY(writer_.add_sample(
            info, std::vector{stack(frees ? 2 : 1, frees ? "free" : "allocate")}, values));
      }
    }
    return {};
  }

  Result<void> add_requests() {
    RINGSIDE_ASSIGN(
        const std::uint32_t tsc,
        writer_.add_clock({0, recording::ClockKind::kGuestCounter, "TSC", 1'000'000'000}));
    RINGSIDE_TRY(writer_.add_clock_tie({tsc, 5'000'000, recording::kHostClock, 0}));
    using recording::FieldType;
    recording::EventType type;
    type.name = "block_rq";
    type.source = kRequests;
    type.fields = {{"device", FieldType::kText, {}},
                   {"bytes", FieldType::kInteger, WeightUnit::kBytes},
                   {"buffer", FieldType::kAddress, {}},
                   {"command", FieldType::kBytes, {}},
                   {"caller", FieldType::kSymbol, {}}};
    recording::EventBatch batch;
    RINGSIDE_ASSIGN(batch.type, writer_.add_event_type(type));
    batch.fields.resize(type.fields.size());
    RINGSIDE_ASSIGN(const std::uint32_t device, writer_.add_text("vda"));
    recording::RecordedFrame caller;
    caller.function = *writer_.add_text("ext4_readpages");
    const std::uint32_t symbol = writer_.add_frame(caller);
    for (std::uint64_t i = 0; i < 300; ++i) {
      recording::SampleInfo info = info_of(kRequests, i);
      info.vcpu = {static_cast<std::uint16_t>(i % 2)};
      batch.times.push_back(5'000'000 + i * 10'000'000);
      batch.contexts.push_back(writer_.add_context(info, std::vector{stack(3, "read")}));
      batch.durations.push_back(100 * i);
      batch.keys.push_back(i / 2);
      batch.fields[0].numbers.push_back(device);
      batch.fields[1].numbers.push_back(static_cast<std::int64_t>(512 * (1 + i % 8)));
      batch.fields[2].numbers.push_back(static_cast<std::int64_t>(kBase + i));
      batch.fields[3].bytes.push_back(std::string("\x28\x00\xff", 3));
      batch.fields[4].numbers.push_back(symbol);
    }
    return writer_.add_events(batch);
  }

  // At each of four marks each function has run (mark + 1) * (function + 1) * 100 instructions more
  // on vCPU 0, and 1 more on vCPU 1.
  Result<void> add_instructions() {
    using recording::KeyKind;
    using recording::MarkKind;
    recording::CounterSet set;
    set.name = "instructions";
    set.source = kInstructions;
    set.key = {{"image", KeyKind::kImage}, {"address", KeyKind::kOffset}, {"vcpu", KeyKind::kVcpu}};
    RINGSIDE_ASSIGN(const std::uint32_t id, writer_.add_counter_set(set));
    constexpr std::array kMarks = {MarkKind::kStart, MarkKind::kAfter, MarkKind::kProbe,
                                   MarkKind::kEnd};
    for (std::uint64_t m = 0; m < kMarks.size(); ++m) {
      recording::CounterBatch batch;
      batch.set = id;
      RINGSIDE_ASSIGN(batch.mark,
                      writer_.add_mark({0, kMarks[m], m * 1000 * kMs, m == 2 ? "submit_bio" : ""}));
      batch.keys.resize(3);
      batch.values.resize(1);
      for (std::uint64_t function = 0; function < kFunctions.size(); ++function)
        for (std::uint64_t vcpu = 0; vcpu < 2; ++vcpu) {
          batch.keys[0].push_back(image_);
          batch.keys[1].push_back(kBase + function * kFunctionSize + 4);
          batch.keys[2].push_back(vcpu);
          batch.values[0].push_back(
              static_cast<std::int64_t>(vcpu == 1 ? 1 : (m + 1) * (function + 1) * 100));
        }
      RINGSIDE_TRY(writer_.add_counters(batch));
    }
    return {};
  }

  Result<void> add_threads() {
    recording::EventType type;
    type.name = "thread";
    type.source = kAll;
    type.fields = {{"cpu time", recording::FieldType::kInteger, WeightUnit::kNanoseconds}};
    recording::EventBatch batch;
    RINGSIDE_ASSIGN(batch.type, writer_.add_event_type(type));
    RINGSIDE_ASSIGN(batch.snapshot,
                    writer_.add_snapshot({0, 3000 * kMs, recording::kHostClock, "end"}));
    batch.fields.resize(1);
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      recording::SampleInfo info;
      info.pid = info.tid = i + 1;
      info.thread_start_ns = i;
      info.level = PrivilegeLevel::kKernel;
      const bool runs = i % 250 == 0;
      info.vcpu = runs ? VcpuId{static_cast<std::uint16_t>(i / 250)} : recording::kNoVcpu;
      info.state = runs ? recording::ThreadState::kRunning : recording::ThreadState::kSleeping;
      batch.times.push_back(3000 * kMs);
      batch.contexts.push_back(
          writer_.add_context(info, std::vector{stack(0, runs ? "cpu_loop" : "wait")}));
      batch.fields[0].numbers.push_back(1000 * i);
    }
    return writer_.add_events(batch);
  }

  recording::Writer& writer_;
  std::uint32_t image_ = 0;
};

Result<void> write(const std::string& path) {
  recording::Header header;
  header.arch = Arch::kX86_64;
  header.vcpu_count = 2;
  header.interval_ns = kMs;
  header.engine = "tcg";
  header.guest_os = "linux";
  header.kernel = "a made-up kernel";
  RINGSIDE_ASSIGN(auto writer, recording::Writer::create(path, header, sources()));
  return Mixed(writer).write();
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: mixed_recording FILE\n");
    return 2;
  }
  if (const auto written = ringside::write(argv[1]); !written) {
    fmt::print(stderr, "mixed_recording: {}\n", written.error().message);
    return 1;
  }
  return 0;
}
