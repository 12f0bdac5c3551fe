#include <gtest/gtest.h>

#include "recording/recording_test_util.h"

namespace ringside::recording {
namespace {

using testing::collect;
using testing::Collector;
using testing::make_stack;
using testing::sampled;
using testing::TempDir;
using testing::with;

Header some_header() {
  Header header;
  header.ringside_version = "0.1.0";
  header.command_line = {"ringside", "record", "--", "qemu-system-x86_64", ""};
  header.start_wall_ns = 1'700'000'000'000'000'000;
  header.start_monotonic_ns = 12345;
  header.arch = Arch::kX86_64;
  header.vcpu_count = 4;
  header.interval_ns = 10'000'000;
  header.engine = "gdb";
  header.guest_os = "linux";
  header.kernel = "6.1.0-18-cloud-amd64";
  header.host = "build1";
  header.qemu_version = "7.2.22";
  return header;
}

TEST(RoundTrip, HeaderImagesAndMappings) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", some_header());
  ASSERT_TRUE(writer);
  ImageInfo image{0,     "vmlinux", "/boot/vmlinux", {std::byte{0xab}, std::byte{0}}, Arch::kX86_64,
                  ~0ull, 0x2000000};
  Mapping mapping{0, 1, {0xffffffff81000000}, {0xffffffff82000000}, {0x200000}, 77, 0};
  image.id = *writer->add_image(image);
  mapping.image = image.id;
  mapping.id = *writer->add_mapping(mapping);
  EXPECT_EQ(image.id, 1u);
  EXPECT_EQ(mapping.id, 1u);
  ASSERT_TRUE(writer->finish());

  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(reader->complete());
  EXPECT_EQ(reader->damage(), "");
  EXPECT_EQ(reader->header().command_line, some_header().command_line);
  EXPECT_EQ(reader->header().start_wall_ns, some_header().start_wall_ns);
  EXPECT_EQ(reader->header().start_monotonic_ns, 12345u);
  EXPECT_EQ(reader->header().arch, Arch::kX86_64);
  EXPECT_EQ(reader->header().vcpu_count, 4u);
  EXPECT_EQ(reader->header().interval_ns, 10'000'000u);
  EXPECT_EQ(reader->header().engine, "gdb");
  EXPECT_EQ(reader->header().guest_os, "linux");
  EXPECT_EQ(reader->header().kernel, "6.1.0-18-cloud-amd64");
  EXPECT_EQ(reader->header().host, "build1");
  EXPECT_EQ(reader->header().qemu_version, "7.2.22");
  const Collector seen = collect(*reader);
  EXPECT_EQ(seen.images, std::vector{image});
  EXPECT_EQ(seen.mappings, std::vector{mapping});
}

TEST(RoundTrip, AKernelThatIsFoundLaterIsInTheHeader) {
  TempDir dir;
  Header header = some_header();
  header.guest_os.clear();
  header.kernel.clear();
  auto writer = Writer::create(dir / "a.data", header);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add_sample(sampled(1), nullptr));
  const std::vector<std::byte> id = {std::byte{0x12}, std::byte{0xff}};
  ASSERT_TRUE(writer->describe_kernel({"linux", "vmlinuz", "6.1.0-57-amd64", id}));
  ASSERT_TRUE(writer->add_sample(sampled(2), nullptr));
  ASSERT_TRUE(writer->describe_kernel({"", "", "6.1.0-58-amd64", {}}));
  ASSERT_TRUE(writer->finish());

  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE(reader->complete()) << reader->damage();
  EXPECT_EQ(reader->header().command_line, some_header().command_line);
  EXPECT_EQ(reader->header().guest_os, "linux");
  EXPECT_EQ(reader->header().kernel, "vmlinuz");
  EXPECT_EQ(reader->header().kernel_release, "6.1.0-58-amd64");
  EXPECT_EQ(reader->header().kernel_build_id, id);
  EXPECT_EQ(collect(*reader).samples.size(), 2u);
}

TEST(RoundTrip, SamplesWithEveryField) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  SampleInfo info;
  info.time_ns = 5'000'000'000;
  info.vcpu = {513};
  info.level = PrivilegeLevel::kUser;
  info.pause_ns = 81'000;
  info.weight = 0;
  info.thread_start_ns = 77;
  info.state = ThreadState::kBlocked;
  info.address_space = 0x1234000;
  info.pid = 0;
  info.tid = 4711;
  Stack kernel = make_stack({0xffffffff81000010, 0xffffffff81000020}, StopReason::kUserMode);
  Stack user = make_stack({0x401000}, StopReason::kTruncated, FrameKind::kUser);
  user.stopped_at = {0x7ffd0000};
  const Stack* parts[] = {&kernel, &user};
  ASSERT_TRUE(writer->add_sample(info, parts));
  ASSERT_TRUE(writer->add_sample(with(sampled(9), wire::Disposition::kIdle), nullptr));
  ASSERT_TRUE(writer->finish());

  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.samples.size(), 2u);
  const Sample& first = seen.samples[0];
  EXPECT_EQ(first.info, info);
  ASSERT_EQ(first.stacks.size(), 2u);
  EXPECT_EQ(seen.addresses(first.stacks[0]),
            (std::vector<std::uint64_t>{0xffffffff81000010, 0xffffffff81000020}));
  EXPECT_EQ(first.stacks[0].stop, StopReason::kUserMode);
  EXPECT_EQ(first.stacks[1].stop, StopReason::kTruncated);
  EXPECT_EQ(first.stacks[1].stopped_at.value, 0x7ffd0000u);
  EXPECT_EQ(seen.frames[seen.nodes[first.stacks[1].node].frame].kind, FrameKind::kUser);
  EXPECT_EQ(seen.samples[1].info.disposition, wire::Disposition::kIdle);
  EXPECT_TRUE(seen.samples[1].stacks.empty());
}

TEST(RoundTrip, RecordsOfNothingButDefaults) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  const Stack none = make_stack({}, StopReason::kEndOfStack);
  ASSERT_TRUE(writer->add_image({}));
  ASSERT_TRUE(writer->add_sample({}, &none));
  ASSERT_TRUE(writer->add_epoch({}));
  ASSERT_TRUE(writer->add_thread_name({}));
  ASSERT_TRUE(writer->add_text(""));
  ASSERT_TRUE(writer->add_clock({}));
  ASSERT_TRUE(writer->add_clock_tie({}));
  ASSERT_TRUE(writer->add_warning(""));
  ASSERT_TRUE(writer->add_statistics({.due = 1, .counters = {}}));
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->complete()) << reader->damage();
  const Collector seen = collect(*reader);
  EXPECT_EQ(seen.images.size(), 1u);
  ASSERT_EQ(seen.samples.size(), 1u);
  EXPECT_EQ(seen.samples[0].stacks, std::vector{StackRef{}});
  EXPECT_EQ(seen.epochs.size(), 1u);
  EXPECT_EQ(seen.thread_names.size(), 1u);
  EXPECT_EQ(seen.texts.size(), 2u);
  EXPECT_EQ(seen.clocks.size(), 1u);
  EXPECT_EQ(seen.clock_ties.size(), 1u);
  EXPECT_EQ(seen.warnings.size(), 1u);
  EXPECT_EQ(seen.statistics_seen.size(), 1u);
}

TEST(RoundTrip, EverythingElse) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  const GuestEpoch epoch{5, "reboot", 0x1000};
  const ThreadName name{6, 1, 2, 0x3000, "kworker/0:1", "/user.slice", true};
  const Statistics statistics{3, 10, 2, 1, 1'000'000'000, 5, {{"bytes copied", 99}, {"x", 0}}};
  std::string table(3'000'000, 'k');
  for (std::size_t i = 0; i < table.size(); i += 7)
    table[i] = static_cast<char>(i * 2654435761u >> 8);
  ASSERT_TRUE(writer->add_epoch(epoch));
  ASSERT_TRUE(writer->add_thread_name(name));
  ASSERT_TRUE(writer->add_blob({"kallsyms", 0, as_bytes(table)}));
  ASSERT_TRUE(writer->add_blob({"empty", 0, {}}));
  ASSERT_TRUE(writer->add_warning("the kernel has no symbols"));
  ASSERT_TRUE(writer->add_statistics({}));
  ASSERT_TRUE(writer->add_statistics(statistics));
  ASSERT_TRUE(writer->finish());

  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->complete()) << reader->damage();
  const Collector seen = collect(*reader);
  EXPECT_EQ(seen.epochs, std::vector{epoch});
  EXPECT_EQ(seen.thread_names, std::vector{name});
  ASSERT_EQ(seen.blobs.size(), 2u);
  EXPECT_TRUE(seen.blobs[0].second == table);
  EXPECT_EQ(seen.blobs[1].first, "empty");
  EXPECT_EQ(seen.warnings, std::vector<std::string>{"the kernel has no symbols"});
  EXPECT_EQ(seen.statistics_seen.back(), statistics);
}

// The guest has booted again, and the kernel is elsewhere.
TEST(RoundTrip, NeitherMappingsNorFramesCrossAnEpoch) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add_image({}));
  Mapping mapping;
  mapping.image = 1;
  mapping.start = {0x1000};
  mapping.end = {0x3000};
  ASSERT_TRUE(writer->add_mapping(mapping));
  Stack stack;
  stack.frames = {{{0x1100}, true}, {{0x2100}, false}};
  const Stack* const part = &stack;
  ASSERT_TRUE(writer->add_sample({}, part));
  ASSERT_TRUE(writer->add_epoch({1, "kernel gone", 0}));
  ASSERT_TRUE(writer->add_sample({}, part));
  mapping.image = *writer->add_image({});
  mapping.start = {0x2000};
  ASSERT_TRUE(writer->add_mapping(mapping));
  ASSERT_TRUE(writer->add_sample({}, part));
  ASSERT_TRUE(writer->finish());

  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader && reader->complete());
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.samples.size(), 3u);
  const auto images = [&](std::size_t sample) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t id = seen.samples[sample].stacks[0].node; id != 0;
         id = seen.nodes.at(id).parent)
      found.push_back(seen.frames.at(seen.nodes.at(id).frame).image);
    return found;
  };
  EXPECT_EQ(images(0), (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(images(1), (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(images(2), (std::vector<std::uint32_t>{0, 2}));
}

TEST(RoundTrip, SourcesAndClocks) {
  TempDir dir;
  const Source cpu = cpu_source(some_header());
  auto writer = Writer::create(dir / "a.data", some_header());
  ASSERT_TRUE(writer);
  const Clock clock{1, ClockKind::kGuestCounter, "TSC of vCPU 0", 3'000'000'000};
  const ClockTie tie{1, 123'456'789'012, kHostClock, 5};
  Source allocations{2,
                     "allocations",
                     SourceKind::kAllocations,
                     1,
                     512 << 10,
                     "tcg",
                     {{"count", WeightUnit::kCount, 1}, {"bytes", WeightUnit::kBytes, 16}}};
  EXPECT_EQ(*writer->add_clock(clock), 1u);
  EXPECT_EQ(*writer->add_source(allocations), 2u);
  ASSERT_TRUE(writer->add_clock_tie(tie));
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_EQ(cpu.period, 10'000'000u);
  EXPECT_EQ(seen.sources, (std::vector{cpu, allocations}));
  EXPECT_EQ(seen.clocks, std::vector{clock});
  EXPECT_EQ(seen.clock_ties, std::vector{tie});
}

TEST(RoundTrip, SeveralValuesAndStacksASample) {
  TempDir dir;
  Source allocations;
  allocations.name = "allocations";
  allocations.values = {{"count", WeightUnit::kCount, 1},
                        {"bytes", WeightUnit::kBytes, 1},
                        {"change", WeightUnit::kBytes, 1}};
  auto writer = Writer::create(dir / "a.data", {}, {allocations});
  ASSERT_TRUE(writer);
  StackRef own = writer->add_stack(make_stack({0x1000, 0x2000}), 0);
  StackRef waker = writer->add_stack(make_stack({0x3000}), 0);
  waker.role = StackRole::kWaker;
  SampleInfo info;
  info.vcpu = kNoVcpu;
  info.waits_for = *writer->add_text("futex_wait");
  for (const std::int64_t bytes : {4096, -4096, 1}) {
    const std::vector<std::int64_t> more = {bytes, 1};
    info.time_ns += 10;
    info.weight = 1;
    ASSERT_TRUE(writer->add_sample(info, std::vector{own, waker}, more));
  }
  EXPECT_FALSE(writer->add_sample(info, nullptr)) << "it has one value of three";
  info.source = 2;
  EXPECT_FALSE(writer->add_sample(info, nullptr)) << "there is no such source";
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.samples.size(), 3u);
  const std::int64_t bytes[] = {4096, -4096, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    const Sample& sample = seen.samples[i];
    EXPECT_EQ(sample.info.time_ns, 10 * (i + 1));
    EXPECT_EQ(sample.info.vcpu, kNoVcpu);
    EXPECT_EQ(sample.info.weight, 1u);
    EXPECT_EQ(sample.more_values, (std::vector<std::int64_t>{bytes[i], 1}));
    EXPECT_EQ(seen.texts[sample.info.waits_for], "futex_wait");
    ASSERT_EQ(sample.stacks.size(), 2u);
    EXPECT_EQ(sample.stacks[0].role, StackRole::kOwn);
    EXPECT_EQ(seen.addresses(sample.stacks[0]), (std::vector<std::uint64_t>{0x1000, 0x2000}));
    EXPECT_EQ(sample.stacks[1].role, StackRole::kWaker);
    EXPECT_EQ(seen.addresses(sample.stacks[1]), (std::vector<std::uint64_t>{0x3000}));
  }
}

TEST(RoundTrip, FramesThatAreNames) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  RecordedFrame inlined;
  inlined.function = *writer->add_text("List::push");
  inlined.file = *writer->add_text("list.rs");
  inlined.line = 42;
  inlined.inlined = true;
  RecordedFrame outer;
  outer.function = *writer->add_text("main");
  ASSERT_TRUE(
      writer->add_sample({}, std::vector{writer->add_stack(std::vector{inlined, outer})}, {}));
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.frames.size(), 3u);
  EXPECT_EQ(seen.frames[1], outer);
  EXPECT_EQ(seen.frames[2], inlined);
  EXPECT_EQ(seen.texts, (std::vector<std::string>{"", "List::push", "list.rs", "main"}));
}

TEST(RoundTrip, StacksAreInterned) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const Stack stack = make_stack({0x1000 + i % 10, 0x2000 + i % 3, 0x3000});
    ASSERT_TRUE(writer->add_sample(sampled(i * 1'000'000), &stack));
  }
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  EXPECT_EQ(seen.samples.size(), 100'000u);
  EXPECT_EQ(seen.frames.size() - 1, 10u + 3 + 1);
  EXPECT_EQ(seen.nodes.size() - 1, 30u + 3 + 1);
  for (std::uint64_t i = 0; i < 100'000; ++i)
    ASSERT_EQ(seen.addresses(seen.samples[i].stacks[0]),
              (std::vector<std::uint64_t>{0x1000 + i % 10, 0x2000 + i % 3, 0x3000}));
}

TEST(RoundTrip, FramesKnowTheirImage) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  ImageInfo image;
  image.name = "kernel";
  ASSERT_EQ(*writer->add_image(image), 1u);
  Mapping mapping;
  mapping.image = 1;
  mapping.start = {0x1000};
  mapping.end = {0x2000};
  ASSERT_EQ(*writer->add_mapping(mapping), 1u);
  // A return address right behind the image belongs to the call at its end.
  const Stack stack = make_stack({0x1000, 0x2000, 0x3000});
  ASSERT_TRUE(writer->add_sample(sampled(1), &stack));
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.frames.size(), 4u);
  EXPECT_EQ(seen.frames[1].image, 0u);  // the root, 0x3000
  EXPECT_EQ(seen.frames[2].image, 1u);
  EXPECT_EQ(seen.frames[2].mapping, 1u);
  EXPECT_EQ(seen.frames[3].image, 1u);
}

TEST(RoundTrip, ANewMappingChangesTheImageOfTheSameAddress) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  ASSERT_TRUE(writer);
  Mapping mapping;
  mapping.start = {0x1000};
  mapping.end = {0x2000};
  const Stack stack = make_stack({0x1500});
  for (const char* name : {"before", "after"}) {
    ImageInfo image;
    image.name = name;
    mapping.image = *writer->add_image(image);
    ASSERT_TRUE(writer->add_mapping(mapping));
    ASSERT_TRUE(writer->add_sample(sampled(1), &stack));
    ASSERT_TRUE(writer->add_sample(sampled(2), &stack));
  }
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  std::vector<std::uint32_t> images;
  for (const Sample& sample : seen.samples)
    images.push_back(seen.frames[seen.nodes[sample.stacks[0].node].frame].image);
  EXPECT_EQ(images, (std::vector<std::uint32_t>{1, 1, 2, 2}));
}

}  // namespace
}  // namespace ringside::recording
