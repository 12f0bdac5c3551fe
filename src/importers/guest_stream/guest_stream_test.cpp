#include "importers/guest_stream/guest_stream.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <tuple>

#include "elf/elf_writer.h"
#include "importers/importers_test_util.h"
#include "wire/testing/guest_rings.h"

namespace ringside::importers {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wire::testing::GuestRings;
using wire::testing::the_time;

constexpr std::uint64_t kSecond = 1'000'000;  // of the guest's clock
constexpr std::uintptr_t kCode = 0xffffffff81000000;

// The stream of a CPU's ring, as it is now.
std::string drained(std::uint32_t cpu) {
  std::string stream;
  std::array<std::uint64_t, RINGSIDE_LEAST_BUFFER / 8> buffer{};
  while (const std::size_t bytes = ringside_drain(cpu, buffer.data(), RINGSIDE_LEAST_BUFFER))
    stream.append(reinterpret_cast<const char*>(buffer.data()), bytes);
  return stream;
}

// Takes a sample at a moment of the guest's clock.
void sample_at(std::uint64_t time, std::uint32_t cpu, const std::vector<std::uintptr_t>& kernel,
               const std::vector<std::uintptr_t>& user = {}, const char* name = "shell") {
  ringside_stack stacks[2]{};
  stacks[0].frames = kernel.data();
  stacks[0].count = static_cast<std::uint32_t>(kernel.size());
  stacks[0].stop = user.empty() ? RINGSIDE_END : RINGSIDE_USER_MODE;
  stacks[1].frames = user.data();
  stacks[1].count = static_cast<std::uint32_t>(user.size());
  ringside_task task{};
  task.address_space = 0x7000;
  task.pid = 3;
  task.tid = 4;
  task.name = name;
  the_time = time - 1;
  ringside_sample(cpu, RINGSIDE_TIMER, &task, kernel.empty() ? nullptr : &stacks[0],
                  user.empty() ? nullptr : &stacks[1]);
}

class GuestStreamTest : public ImportTest {
 protected:
  [[nodiscard]] std::vector<double> seconds() const {
    std::vector<double> times;
    for (const auto& sample : recorded.samples)
      times.push_back(static_cast<double>(sample.info.time_ns) / 1e9);
    return times;
  }
};

TEST_F(GuestStreamTest, MergesTheCpusOfOneStreamAndOfSeveral) {
  const GuestRings rings(2, 1024, RINGSIDE_DROP);
  sample_at(1 * kSecond, 0, {kCode + 1, kCode + 2});
  sample_at(3 * kSecond, 0, {kCode + 1});
  sample_at(2 * kSecond, 1, {kCode + 3}, {0x1000, 0x2000});
  sample_at(4 * kSecond, 1, {}, {0x1000});
  const std::string streams[] = {drained(0), drained(1)};
  for (const auto& inputs : {std::vector<std::string>{streams[0] + streams[1]},
                             std::vector<std::string>{streams[1], streams[0]}}) {
    const auto result = import(import_guest_stream, inputs);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->records, 4u);
    EXPECT_TRUE(result->warnings.empty());
    EXPECT_EQ(recorded.header.engine, "ring");
    EXPECT_EQ(recorded.header.arch, Arch::kX86_64);
    EXPECT_EQ(recorded.header.vcpu_count, 2u);
    EXPECT_THAT(seconds(), ElementsAre(0, 1, 2, 3));
    ASSERT_EQ(recorded.samples.size(), 4u);
    EXPECT_THAT(recorded.samples[0].frames,
                ElementsAre("0xffffffff81000001", "0xffffffff81000001"));
    EXPECT_THAT(recorded.samples[1].frames, ElementsAre("0xffffffff81000003", "0x1000", "0x1fff"));
    EXPECT_EQ(recorded.samples[1].info.vcpu, VcpuId{1});
    EXPECT_EQ(recorded.samples[1].info.level, PrivilegeLevel::kKernel);
    EXPECT_EQ(recorded.samples[3].info.level, PrivilegeLevel::kUser);
    EXPECT_EQ(recorded.samples[3].info.pid, 3u);
    EXPECT_EQ(recorded.samples[3].info.tid, 4u);
    EXPECT_EQ(recorded.samples[3].info.address_space, 0x7000u);
  }
}

// The clock begins anew with the kernel, and its records come behind those of the kernel before.
TEST_F(GuestStreamTest, TimesGoOnWhereAKernelBeginsAnew) {
  std::string stream;
  for (const std::uint64_t start : {5 * kSecond, 2 * kSecond, 1 * kSecond}) {
    const GuestRings rings(2, 1024, RINGSIDE_DROP);
    sample_at(start + kSecond, 1, {kCode + start});
    sample_at(start, 0, {kCode + start});
    sample_at(start + 3 * kSecond, 0, {kCode + start});
    stream += drained(0) + drained(1);
  }
  const auto result = import(import_guest_stream, {stream});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(seconds(), ElementsAre(0, 1, 3, 3, 4, 6, 6, 7, 9));
  EXPECT_THAT(result->warnings, ElementsAre(HasSubstr("kernel began anew 2 times")));
  EXPECT_EQ(recorded.statistics_of.at(recording::kCpuSource).lost, 0u);
}

// A CPU that had nothing to record shows by its infos which kernel it is of.
TEST_F(GuestStreamTest, ACpuWithoutRecordsBeginsAnewToo) {
  std::array<std::string, 2> streams;
  std::string mixed;
  for (const bool is_first : {true, false}) {
    const GuestRings rings(2, 1024, RINGSIDE_DROP);
    the_time = is_first ? 9 * kSecond : kSecond;
    if (is_first) sample_at(9 * kSecond, 0, {kCode});
    if (!is_first) sample_at(kSecond, 1, {kCode});
    if (!is_first) sample_at(2 * kSecond, 0, {kCode});
    const std::array<std::string, 2> drains = {drained(0), drained(1)};
    for (const std::size_t cpu : {0, 1}) streams[cpu] += drains[cpu];
    mixed += drains[1] + drains[0];
  }
  for (const auto& inputs : {std::vector<std::string>{streams[0], streams[1]},
                             std::vector<std::string>{streams[1], streams[0]},
                             {mixed}}) {
    const auto result = import(import_guest_stream, inputs);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(seconds(), ElementsAre(0, 0, 1));
    EXPECT_EQ(recorded.samples[1].info.vcpu, VcpuId{1});
    EXPECT_THAT(result->warnings, ElementsAre(HasSubstr("kernel began anew 1 times")));
  }
}

TEST_F(GuestStreamTest, InputsThatDisagreeAboutRestartsAreReported) {
  std::string one;
  std::string other;
  for (const std::uint64_t start : {5 * kSecond, kSecond}) {
    const GuestRings rings(2, 1024, RINGSIDE_DROP);
    sample_at(start, 0, {kCode});
    one += drained(0);
    sample_at(start, 1, {kCode});
    if (start == kSecond) other += drained(1);
  }
  const auto result = import(import_guest_stream, {one, other});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->warnings, Contains(HasSubstr("began anew 0 times in it, and 1 times")));
}

TEST_F(GuestStreamTest, NamesThreadsWhenTheirNamesAreNew) {
  const GuestRings rings(1, 1024, RINGSIDE_DROP);
  sample_at(1 * kSecond, 0, {kCode});
  sample_at(2 * kSecond, 0, {kCode});
  sample_at(3 * kSecond, 0, {kCode}, {}, "editor");
  ASSERT_TRUE(import(import_guest_stream, {drained(0)}));
  std::vector<std::string> names;
  for (const auto& name : recorded.thread_names)
    names.push_back(fmt::format("{} {}", name.time_ns / 1'000'000'000, name.name));
  EXPECT_THAT(names, ElementsAre("0 shell", "2 editor"));
}

TEST_F(GuestStreamTest, AnIdleCpuIsIdle) {
  const GuestRings rings(1, 1024, RINGSIDE_DROP);
  ringside_sample(0, RINGSIDE_TIMER, nullptr, nullptr, nullptr);
  ASSERT_TRUE(import(import_guest_stream, {drained(0)}));
  ASSERT_EQ(recorded.samples.size(), 1u);
  EXPECT_EQ(recorded.samples[0].info.disposition, wire::Disposition::kIdle);
}

// 64 records of 16 words fill the ring.
TEST_F(GuestStreamTest, CountsWhatWasLostInTheRingAndOnTheWay) {
  const GuestRings rings(1, 1024, RINGSIDE_DROP);
  const std::vector<std::uintptr_t> frames(8, kCode);
  sample_at(1, 0, frames);
  std::string stream = drained(0);
  for (std::uint64_t n = 0; n < 70; ++n) sample_at(2 + n, 0, frames);
  const std::string full = drained(0);
  constexpr std::size_t kInfoBytes = 96;
  constexpr std::size_t kSampleBytes = 128;
  // The tenth of them has a wrong byte, and the next one is cut.
  stream += full;
  stream[2 * kInfoBytes + 10 * kSampleBytes + 100] ^= 1;
  stream.erase(2 * kInfoBytes + 12 * kSampleBytes - 5, 3);
  const auto result = import(import_guest_stream, {stream});
  ASSERT_TRUE(result);
  EXPECT_EQ(recorded.samples.size(), 1u + 64 - 2);
  const auto statistics = recorded.statistics_of.at(recording::kCpuSource);
  EXPECT_EQ(statistics.due, 71u);
  EXPECT_EQ(statistics.lost, 8u);
  EXPECT_EQ(statistics.counters.at("lost, guest's own ring full"), 6u);
  EXPECT_EQ(statistics.counters.at("lost, overwritten or damaged before it was read"), 2u);
  EXPECT_THAT(result->warnings, ElementsAre(HasSubstr("253 bytes belong to no record; the first is "
                                                      "at offset 0x5c0")));
}

TEST_F(GuestStreamTest, ItsClockIsTheGivenOneOrTicks) {
  const GuestRings rings(1, 1024, RINGSIDE_DROP);
  sample_at(1 * kSecond, 0, {kCode});
  sample_at(3 * kSecond, 0, {kCode});
  const std::string stream = drained(0);
  ImportOptions options;
  options.counter_hz = 4 * kSecond;
  ASSERT_TRUE(import(import_guest_stream, {stream}, options));
  EXPECT_THAT(seconds(), ElementsAre(0, 0.5));
  EXPECT_TRUE(recorded.clocks.empty());
}

TEST_F(GuestStreamTest, WithoutARateTimesAreTicks) {
  const GuestRings rings(1, 1024, RINGSIDE_DROP, 0);
  sample_at(100, 0, {kCode});
  sample_at(142, 0, {kCode});
  ASSERT_TRUE(import(import_guest_stream, {drained(0)}));
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kGuestCounter);
  EXPECT_EQ(recorded.samples[1].info.time_ns, 42u);
}

TEST_F(GuestStreamTest, AllocationsAndEventsAreTablesOfTheirNames) {
  const GuestRings rings(1, 4096, RINGSIDE_DROP);
  const std::uintptr_t frames[] = {kCode + 0x10, kCode + 0x20};
  ringside_stack stack{};
  stack.frames = frames;
  stack.count = 2;
  ringside_allocation allocation{};
  allocation.allocator = "buddy";
  allocation.unit = RINGSIDE_IN_PAGES;
  allocation.pointer = 0x1000;
  allocation.size = 4;
  ringside_allocated(0, &allocation, nullptr, &stack);
  allocation.operation = RINGSIDE_FREE;
  ringside_allocated(0, &allocation, nullptr, nullptr);
  const std::int64_t numbers[] = {-5, 6};
  ringside_event(0, "switch", numbers, 2, nullptr, &stack);
  const auto result = import(import_guest_stream, {drained(0)});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->records, 3u);
  ASSERT_EQ(recorded.sources.size(), 3u);
  EXPECT_EQ(recorded.sources[1].name, "buddy");
  EXPECT_EQ(recorded.sources[1].kind, recording::SourceKind::kAllocations);
  ASSERT_EQ(recorded.sources[1].values.size(), 2u);
  EXPECT_EQ(recorded.sources[1].values[1].unit, recording::WeightUnit::kPages);
  EXPECT_EQ(recorded.sources[2].name, "switch");
  ASSERT_EQ(recorded.happened.size(), 3u);
  const auto& [allocated, freed, switched] =
      std::tie(recorded.happened[0], recorded.happened[1], recorded.happened[2]);
  EXPECT_EQ(allocated.type, "buddy");
  EXPECT_THAT(allocated.fields, ElementsAre("operation alloc", "pointer 4096", "old 0", "size 4"));
  // Return addresses: the code is the calls before them.
  EXPECT_THAT(allocated.frames, ElementsAre("0xffffffff8100000f", "0xffffffff8100001f"));
  EXPECT_EQ(freed.fields[0], "operation free");
  EXPECT_TRUE(freed.frames.empty());
  EXPECT_EQ(switched.type, "switch");
  EXPECT_THAT(switched.fields, ElementsAre("n0 -5", "n1 6"));
  EXPECT_EQ(switched.frames.size(), 2u);
}

class PlacingTarget final : public Target {
 public:
  void place_kernel(std::uint64_t bias) override { load_bias = bias; }
  Result<recording::Writer*> create(recording::Header,
                                    const std::vector<recording::Source>&) override {
    return fail(ErrorCode::kUnsupported, "only placed");
  }
  std::optional<std::uint64_t> load_bias;
};

// A function that makes its frame at the second instruction, and another one behind it.
TEST_F(GuestStreamTest, FindsTheKernelAndTheCallersThatFramePointersMiss) {
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  // push %rbp; mov %rsp,%rbp; nop; pop %rbp; ret
  const std::array<std::uint8_t, 8> bytes = {0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0xc3, 0xcc};
  std::vector<std::byte> code(0x100, std::byte{0x90});
  std::memcpy(code.data() + 0x40, bytes.data(), bytes.size());
  writer.add_segment(ImageAddr{kCode}, 0x1000, true, false, code);
  writer.set_symbols({{.name = "leaf", .address = ImageAddr{kCode + 0x40}, .size = 7},
                      {.name = "the_time", .address = ImageAddr{kCode + 0x80}, .size = 8}});
  ImportOptions options;
  options.kernel = *elf::ElfFile::from_bytes(writer.write(), "kernel");

  const GuestRings rings(1, 4096, RINGSIDE_DROP);
  const std::uint64_t bias = reinterpret_cast<std::uintptr_t>(&the_time) - (kCode + 0x80);
  const std::uintptr_t caller = kCode + bias + 0x10;
  const std::uintptr_t its_caller = kCode + bias + 0x20;
  // The frame of the leaf's caller, and what lies on the stack below it.
  std::array<std::uintptr_t, 8> stack{};
  stack[5] = 0;
  stack[6] = its_caller;
  const auto at = [&](std::size_t word) { return reinterpret_cast<std::uintptr_t>(&stack[word]); };
  const auto sample = [&](std::uintptr_t offset, std::size_t sp, std::size_t fp) {
    const ringside_registers registers{kCode + bias + 0x40 + offset, at(sp), at(fp), 0};
    std::uintptr_t frames[RINGSIDE_MAX_FRAMES];
    const ringside_stack walked =
        ringside_walk(&registers, at(0), at(0) + sizeof(stack), nullptr, frames);
    ringside_sample(0, RINGSIDE_NMI, nullptr, &walked, nullptr);
  };
  stack[4] = caller;
  sample(0, 4, 5);  // before it has pushed the frame pointer
  stack[3] = at(5);
  sample(1, 3, 5);  // before it has set it
  sample(4, 3, 3);  // with its frame
  sample(6, 4, 5);  // without it again
  const std::string stream = drained(0);
  const Input input{"input", as_bytes(stream), {}};
  PlacingTarget target;
  EXPECT_FALSE(import_guest_stream({&input, 1}, options, target));
  EXPECT_EQ(target.load_bias, bias);
  ASSERT_TRUE(import(import_guest_stream, {stream}, options));
  for (const auto& one : recorded.samples)
    EXPECT_THAT(std::vector(one.frames.begin() + 1, one.frames.end()),
                ElementsAre(fmt::format("{:#x}", caller - 1), fmt::format("{:#x}", its_caller - 1)))
        << one.frames[0];
  EXPECT_EQ(recorded.samples.size(), 4u);
}

TEST_F(GuestStreamTest, ZerosBehindTheLastRecordAreThoseOfADisk) {
  const GuestRings rings(1, 1024, RINGSIDE_DROP);
  sample_at(1 * kSecond, 0, {kCode});
  sample_at(2 * kSecond, 0, {kCode, 0});  // a record that ends with zeros itself
  const std::string stream = drained(0);
  for (const std::size_t zeros : {1, 8, 512, 100'000, 3'000'000}) {
    const auto result = import(import_guest_stream, {stream + std::string(zeros, '\0')});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->records, 2u);
    EXPECT_TRUE(result->warnings.empty()) << zeros;
  }
  // Zeros between records are not.
  const auto result = import(import_guest_stream, {stream + std::string(512, '\0') + stream});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->warnings, Contains(HasSubstr("512 bytes belong to no record")));
}

TEST_F(GuestStreamTest, OtherBytesAreNone) {
  const auto result = import(import_guest_stream, {std::string(1000, 'x')});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message,
              HasSubstr("input: there is no record of ringside's guest library in its 1000 bytes"));
  const Input input{"input", as_bytes(std::string_view("no stream at all")), {}};
  EXPECT_EQ(guest_stream_likeness(input, {}), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
