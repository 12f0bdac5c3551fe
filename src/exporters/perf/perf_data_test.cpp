#include "exporters/perf/perf_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/little_endian.h"
#include "elf/elf_file.h"
#include "exporters/exporters_test_util.h"
#include "recording/recording_test_util.h"

// Offsets are those of tools/perf/Documentation/perf.data-file-format.txt and of
// include/uapi/linux/perf_event.h, Linux 6.1.
namespace ringside::exporters {
namespace {

using recording::testing::slurp;
using recording::testing::TempDir;
using testing::frame;
using testing::PipeSink;

constexpr std::uint64_t kKernelMark = 0xffffffffffffff80;
constexpr std::uint64_t kUserMark = 0xfffffffffffffe00;

// Functions of 0x100 bytes, called after their image and address; a program's with hostile names.
class Namer final : public profile::FrameNamer {
 public:
  void name(const profile::FrameToName& what, profile::NamedFrame& out) override {
    if (what.image == nullptr) return;
    const std::uint64_t start = what.frame.lookup_address().value & ~std::uint64_t{0xff};
    out.functions = {fmt::format("{}_{:x}", what.image->name, start), "inlined"};
    out.start = {start};
    out.size = 0x100;
  }
};

struct Record {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::string body;
  template <class T>
  [[nodiscard]] T at(std::size_t offset) const {
    return load<T>(as_bytes(body), offset);
  }
  [[nodiscard]] std::string text(std::size_t offset) const { return body.c_str() + offset; }
};

std::vector<Record> records_of(std::string_view bytes) {
  std::vector<Record> records;
  while (!bytes.empty()) {
    const auto size = load<std::uint16_t>(as_bytes(bytes), 6);
    if (size < 8 || size > bytes.size()) {
      ADD_FAILURE() << "a record of " << size << " bytes";
      break;
    }
    EXPECT_EQ(size % 8, 0);
    records.push_back({load<std::uint32_t>(as_bytes(bytes)),
                       load<std::uint16_t>(as_bytes(bytes), 4),
                       std::string(bytes.substr(8, size - 8))});
    bytes.remove_prefix(size);
  }
  return records;
}

// The parts of a file.
struct File {
  explicit File(std::string_view bytes) {
    const auto number = [&](std::uint64_t at) { return load<std::uint64_t>(as_bytes(bytes), at); };
    EXPECT_EQ(bytes.substr(0, 8), "PERFILE2");
    EXPECT_EQ(number(8), 104u);
    const std::uint64_t attribute_size = number(16);
    for (std::uint64_t at = number(24); at < number(24) + number(32); at += attribute_size) {
      attributes.emplace_back(bytes.substr(at, attribute_size));
      EXPECT_EQ(number(at + attribute_size - 8), 8u);
      ids.push_back(number(number(at + attribute_size - 16)));
    }
    const std::uint64_t end = number(40) + number(48);
    records = records_of(bytes.substr(number(40), number(48)));
    std::uint64_t entry = end;
    for (unsigned bit = 0; bit < 256; ++bit) {
      if ((number(72 + bit / 64 * 8) >> bit % 64 & 1) == 0) continue;
      features[bit] = bytes.substr(number(entry), number(entry + 8));
      entry += 16;
    }
  }
  [[nodiscard]] std::vector<Record> of_type(std::uint32_t type) const {
    std::vector<Record> found;
    std::copy_if(records.begin(), records.end(), std::back_inserter(found),
                 [&](const Record& record) { return record.type == type; });
    return found;
  }
  std::vector<std::string> attributes;
  std::vector<std::uint64_t> ids;
  std::vector<Record> records;
  std::map<unsigned, std::string> features;
};

class PerfDataTest : public ::testing::Test {
 protected:
  PerfDataTest() : writer_(recording::Writer::create(dir_ / "t.data", header()).value()) {
    recording::ImageInfo kernel;
    kernel.name = "kernel";
    kernel.arch = Arch::kX86_64;
    kernel.build_id = std::vector<std::byte>(20, std::byte{0xab});
    EXPECT_TRUE(writer_.add_image(kernel));
    recording::ImageInfo program;
    program.name = "pro\ngram";
    program.path = "/../tmp/pro\ngram";
    program.arch = Arch::kX86_64;
    EXPECT_TRUE(writer_.add_image(program));
    recording::Mapping mapping;
    mapping.image = 1;
    mapping.start = {0xffffffff81000000};
    mapping.end = {0xffffffff81800000};
    EXPECT_TRUE(writer_.add_mapping(mapping));
    EXPECT_TRUE(writer_.add_thread_name({0, 7, 8, 0, "first"}));
    add_joined(5);
    EXPECT_TRUE(writer_.add_thread_name({6, 7, 8, 0, "second"}));
    add_joined(7);
    recording::SampleInfo idle;
    idle.time_ns = 9;
    idle.vcpu = {1};
    idle.disposition = wire::Disposition::kIdle;
    EXPECT_TRUE(writer_.add_sample(idle, nullptr));
    recording::Statistics statistics;
    statistics.due = 10;
    statistics.lost = 3;
    EXPECT_TRUE(writer_.add_statistics(statistics));
    EXPECT_TRUE(writer_.finish());
  }

  static recording::Header header() {
    recording::Header header;
    header.arch = Arch::kX86_64;
    header.vcpu_count = 2;
    header.interval_ns = 1'000'000;
    header.kernel = "6.1.0\n-guest";
    header.command_line = {"qemu", "-m"};
    return header;
  }

  // Kernel code on user code; the return address is the end of its function.
  void add_joined(std::uint64_t time) {
    recording::SampleInfo info;
    info.time_ns = time;
    info.vcpu = {1};
    info.level = PrivilegeLevel::kKernel;
    info.pid = 7;
    info.tid = 8;
    info.weight = 3;
    Stack kernel;
    kernel.frames = {frame(0xffffffff81000010, true, FrameKind::kKernel),
                     frame(0xffffffff81000300, false, FrameKind::kKernel)};
    kernel.stop = StopReason::kUserMode;
    Stack user;
    user.frames = {frame(0x1234, true, FrameKind::kUser, 2),
                   frame(0x401234, false, FrameKind::kUser)};
    EXPECT_TRUE(writer_.add_sample(info, std::array<const Stack*, 2>{&kernel, &user}));
  }

  void write(Sink& sink, ExportOptions options = {}) {
    auto reader = recording::Reader::open(dir_ / "t.data");
    ASSERT_TRUE(reader);
    Namer namer;
    auto profile = profile::DetailedProfile::read(*reader, namer, {});
    ASSERT_TRUE(profile);
    ASSERT_TRUE(write_perf_data(**profile, options, sink));
  }
  File file(ExportOptions options = {}) {
    StringSink sink;
    write(sink, options);
    return File(sink.text());
  }

  TempDir dir_;
  recording::Writer writer_;
};

TEST_F(PerfDataTest, ASampleHasItsFields) {
  const File file = this->file();
  ASSERT_EQ(file.attributes.size(), 1u);
  const auto attribute = as_bytes(file.attributes[0]);
  EXPECT_EQ(load<std::uint32_t>(attribute, 4), 112u);           // size
  EXPECT_EQ(load<std::uint64_t>(attribute, 16), 1000u);         // times a second
  EXPECT_EQ(load<std::uint64_t>(attribute, 24), 0x101a7u);      // fields of samples
  EXPECT_EQ(load<std::uint64_t>(attribute, 40) >> 10 & 1, 1u);  // freq
  EXPECT_EQ(load<std::uint64_t>(attribute, 40) >> 18 & 1, 1u);  // sample_id_all
  const std::vector<Record> samples = file.of_type(9);
  ASSERT_EQ(samples.size(), 2u);
  const Record& sample = samples[0];
  EXPECT_EQ(sample.misc, 1);  // kernel
  EXPECT_EQ(sample.at<std::uint64_t>(0), file.ids[0]);
  EXPECT_EQ(sample.at<std::uint64_t>(8), 0xffffffff81000010);  // instruction pointer
  EXPECT_EQ(sample.at<std::uint32_t>(16), 7u);
  EXPECT_EQ(sample.at<std::uint32_t>(20), 8u);
  EXPECT_EQ(sample.at<std::uint64_t>(24), 5u);  // time
  EXPECT_EQ(sample.at<std::uint32_t>(32), 1u);  // processor
  EXPECT_EQ(sample.at<std::uint64_t>(40), 3u);  // period
  ASSERT_EQ(sample.at<std::uint64_t>(48), 6u);  // entries of the chain
  EXPECT_EQ(sample.at<std::uint64_t>(56), kKernelMark);
  EXPECT_EQ(sample.at<std::uint64_t>(64), 0xffffffff81000010);
  EXPECT_EQ(sample.at<std::uint64_t>(72), 0xffffffff810002ff)
      << "perf would take the next function";
  EXPECT_EQ(sample.at<std::uint64_t>(80), kUserMark);
  EXPECT_EQ(sample.body.size(), 104u);
}

TEST_F(PerfDataTest, ImagesAreMappedWhereFramesAre) {
  const File file = this->file();
  const std::vector<Record> kernels = file.of_type(1);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].misc, 1);
  EXPECT_EQ(kernels[0].at<std::uint32_t>(0), 0xffffffffu);
  EXPECT_EQ(kernels[0].at<std::uint64_t>(8), 0xffffffff81000000);
  EXPECT_EQ(kernels[0].at<std::uint64_t>(16), 0x800000u);
  EXPECT_EQ(kernels[0].at<std::uint64_t>(24), 0xffffffff81000000);
  EXPECT_EQ(kernels[0].text(32), "[kernel.kallsyms]_text");
  const std::vector<Record> programs = file.of_type(10);
  ASSERT_EQ(programs.size(), 2u);
  const Record sample = file.of_type(9)[0];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto address = sample.at<std::uint64_t>(88 + 8 * i);
    EXPECT_EQ(programs[i].misc, 2 | 1 << 14);  // user, with a build id
    EXPECT_EQ(programs[i].at<std::uint32_t>(0), 7u);
    EXPECT_LT(address - programs[i].at<std::uint64_t>(8), programs[i].at<std::uint64_t>(16));
    EXPECT_EQ(programs[i].at<std::uint8_t>(32), 20);  // bytes of the build id
  }
  EXPECT_EQ(programs[0].text(64), "/guest/_/tmp/pro gram");
  EXPECT_EQ(sample.at<std::uint64_t>(88) - programs[0].at<std::uint64_t>(8) +
                programs[0].at<std::uint64_t>(24),
            0x1234u)
      << "the offset in the file is the linked address";
  EXPECT_EQ(programs[1].text(64), "/guest/[unknown]");
}

// perf knows one image for an address, whatever the time.
TEST_F(PerfDataTest, OfTwoKernelsThatOverlapOneKeepsItsAddresses) {
  writer_ = recording::Writer::create(dir_ / "t.data", header()).value();
  recording::SampleInfo info;
  info.level = PrivilegeLevel::kKernel;
  recording::ImageInfo kernel;
  kernel.name = "kernel";
  recording::Mapping mapping;
  const auto boot = [&](std::uint64_t start, std::uint64_t frames) {
    ASSERT_TRUE(writer_.add_epoch({info.time_ns, "kernel gone", 0}));
    mapping.image = *writer_.add_image(kernel);
    mapping.start = {start};
    mapping.end = {start + 0x1000000};
    ASSERT_TRUE(writer_.add_mapping(mapping));
    for (std::uint64_t i = 0; i < frames; ++i) {
      Stack stack;
      stack.frames = {frame(start + 0x800000 + 0x100 * i, true, FrameKind::kKernel)};
      info.time_ns += 1;
      ASSERT_TRUE(writer_.add_sample(info, &stack));
    }
  };
  boot(0xffffffff81000000, 1);
  boot(0xffffffff81800000, 2);
  boot(0xffffffffa0000000, 1);
  ASSERT_TRUE(writer_.finish());
  const File file = this->file();
  std::vector<std::uint64_t> starts;
  for (const Record& record : file.of_type(1)) starts.push_back(record.at<std::uint64_t>(8));
  std::vector<std::uint64_t> addresses;
  for (const Record& record : file.of_type(9)) addresses.push_back(record.at<std::uint64_t>(8));
  ASSERT_EQ(addresses.size(), 4u);
  EXPECT_EQ(starts.size(), 3u);  // the names' is one
  EXPECT_EQ(std::count(starts.begin(), starts.end(), 0xffffffff81000000), 0);
  EXPECT_NE(addresses[0], 0xffffffff81800000);
  EXPECT_EQ(addresses[1], 0xffffffff82000000);
  EXPECT_EQ(addresses[2], 0xffffffff82000100);
  EXPECT_EQ(addresses[3], 0xffffffffa0800000);
}

TEST_F(PerfDataTest, NamesOfThreadsAreToldWhenTheyChange) {
  const File file = this->file();
  std::vector<std::string> story;
  for (const Record& record : file.records) {
    if (record.type == 3)
      story.push_back(fmt::format("{}/{} {}", record.at<std::uint32_t>(0),
                                  record.at<std::uint32_t>(4), record.text(8)));
    if (record.type == 9) story.push_back(fmt::format("at {}", record.at<std::uint64_t>(24)));
  }
  EXPECT_EQ(story, (std::vector<std::string>{"7/8 first", "at 5", "7/8 second", "at 7"}));
}

TEST_F(PerfDataTest, FeaturesAreOfTheGuest) {
  const File file = this->file();
  const auto text = [&](unsigned bit) { return std::string(file.features.at(bit).c_str() + 4); };
  EXPECT_EQ(text(4), "6.1.0 -guest");
  EXPECT_EQ(text(6), "x86_64");
  EXPECT_EQ(load<std::uint32_t>(as_bytes(file.features.at(7))), 2u);
  EXPECT_EQ(load<std::uint32_t>(as_bytes(file.features.at(11))), 2u);
  EXPECT_EQ(file.features.at(12).substr(8 + 112 + 4 + 4, 4), std::string("cpu\0", 4));
  EXPECT_EQ(load<std::uint64_t>(as_bytes(file.features.at(21))), 5u);
  EXPECT_EQ(load<std::uint64_t>(as_bytes(file.features.at(21)), 8), 7u);
  const std::vector<Record> ids = records_of(file.features.at(2));
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[0].text(28), "[kernel.kallsyms]");
  EXPECT_EQ(ids[0].body.substr(4, 20), std::string(20, '\xab'));
}

TEST_F(PerfDataTest, IdleProcessorsAreTheSwapper) {
  ExportOptions options;
  options.show_idle = true;
  const std::vector<Record> samples = file(options).of_type(9);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[2].at<std::uint64_t>(16), 0u);  // pid and tid
  EXPECT_EQ(samples[2].at<std::uint64_t>(48), 0u);  // entries of the chain
}

// `perf report` counts the records of this type: "Total Lost Samples".
TEST_F(PerfDataTest, LostTicksAreLostSamples) {
  const std::vector<Record> lost = file().of_type(13);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].at<std::uint64_t>(0), 3u);
  EXPECT_EQ(lost[0].body.size(), 8u + 32u);         // and the end of each record
  EXPECT_EQ(lost[0].at<std::uint64_t>(8 + 8), 7u);  // the last sample's time
}

TEST_F(PerfDataTest, APipeHasTheSameRecords) {
  PipeSink sink;
  write(sink);
  EXPECT_EQ(sink.text_.substr(0, 8), "PERFILE2");
  EXPECT_EQ(load<std::uint64_t>(as_bytes(sink.text_), 8), 16u);
  std::vector<Record> records = records_of(std::string_view(sink.text_).substr(16));
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.front().type, 64u);
  EXPECT_EQ(records.front().at<std::uint64_t>(112), 1u);  // the id
  const auto is_data = [](const Record& record) { return record.type < 64; };
  const auto first = std::find_if(records.begin(), records.end(), is_data);
  const std::vector<Record> data = file().records;
  ASSERT_EQ(static_cast<std::size_t>(records.end() - first), data.size());
  for (std::size_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(first[static_cast<long>(i)].body, data[i].body);
}

TEST_F(PerfDataTest, ThereIsASymbolFileForEachBuildId) {
  auto folder = AtomicFolder::create(dir_ / "symbols");
  ASSERT_TRUE(folder);
  ExportOptions options;
  options.beside = &*folder;
  const File file = this->file(options);
  ASSERT_TRUE(folder->commit());
  std::string name = "symbols/.build-id/ab/";
  for (int i = 1; i < 20; ++i) name += "ab";
  const std::string kernel = slurp(dir_ / name);
  const Bytes bytes = as_bytes(kernel);
  const auto elf = elf::ElfFile::from_bytes({bytes.begin(), bytes.end()}, "kernel");
  ASSERT_TRUE(elf);
  std::map<std::string, std::uint64_t> symbols;
  for (const auto& symbol : (*elf)->symbols())
    symbols[std::string(symbol.name)] = symbol.address.value;
  EXPECT_EQ(symbols["kernel_ffffffff81000000"], 0xffffffff81000000);
  EXPECT_EQ(symbols["kernel_ffffffff81000200"], 0xffffffff81000200);
  const std::string kallsyms = slurp(dir_ / "symbols/kallsyms");
  EXPECT_NE(kallsyms.find("ffffffff81000200 t kernel_ffffffff81000200\n"), std::string::npos);
}

}  // namespace
}  // namespace ringside::exporters
