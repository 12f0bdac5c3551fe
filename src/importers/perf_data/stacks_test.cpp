#include "importers/perf_data/stacks.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "elf/elf_writer.h"
#include "importers/importers_test_util.h"
#include "importers/perf_data/perf_data.h"
#include "importers/perf_data/perf_data_test_util.h"

// Where frames are: contexts of call chains, images, linked addresses.
namespace ringside::importers::perf_data {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kText = 0xffffffff9a000000;

// Keeps where the kernel is put.
class PlacingTarget final : public Target {
 public:
  void place_kernel(std::uint64_t bias) override { load_bias = bias; }
  Result<recording::Writer*> create(recording::Header header,
                                    const std::vector<recording::Source>& sources) override {
    RINGSIDE_ASSIGN(auto writer, recording::Writer::create("/dev/null", header, sources));
    writer_.emplace(std::move(writer));
    return &*writer_;
  }
  std::optional<std::uint64_t> load_bias;

 private:
  std::optional<recording::Writer> writer_;
};

class PerfDataStacksTest : public ImportTest {
 protected:
  ~PerfDataStacksTest() override { std::filesystem::remove(program_); }

  void read(const TestFile& file) {
    const auto result = import(import_perf_data, {file.file()});
    ASSERT_TRUE(result) << result.error().message;
  }
  // Those of a sample.
  [[nodiscard]] std::vector<recording::RecordedFrame> frames_of(std::size_t sample) {
    std::vector<recording::RecordedFrame> frames;
    for (const std::string& text : recorded.samples[sample].frames)
      for (const recording::RecordedFrame& frame : recorded.frames)
        if (text.ends_with(fmt::format("{:#x}", frame.lookup_address().value)) &&
            (frames.empty() || frames.back().address != frame.address))
          frames.push_back(frame);
    return frames;
  }
  // A program with code that is linked to 0x400000, and stands elsewhere in the file.
  void write_program() {
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    const std::vector<std::byte> code(0x100, std::byte{0x90});
    writer.add_segment(ImageAddr{0x401000}, code.size(), true, false, code);
    const std::vector<std::byte> bytes = writer.write();
    std::ofstream(program_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] std::uint64_t offset_of_code() const {
    return (*elf::ElfFile::open(program_))->segments()[0].offset.value;
  }

  std::filesystem::path program_ =
      std::filesystem::temp_directory_path() / fmt::format("ringside-perf-program-{}", ::getpid());
};

TEST_F(PerfDataStacksTest, SplitsChainsIntoKernelAndUser) {
  TestFile file;
  file.map(kKernel, kNobody, kText, 0x1000000, kText, "[kernel.kallsyms]_text", 0)
      .sample(kKernel, kText + 0x10, 7, 100,
              {kContextKernel, kText + 0x10, kText + 0x200, kContextUser, 0x401000, 0x402000});
  read(file);
  const auto& one = recorded.samples[0];
  EXPECT_EQ(one.info.level, PrivilegeLevel::kKernel);
  EXPECT_THAT(one.frames, ElementsAre("[kernel] 0xffffffff9a000010", "[kernel] 0xffffffff9a0001ff",
                                      "0x401000", "0x401fff"));
  const auto frames = frames_of(0);
  ASSERT_EQ(frames.size(), 4);
  EXPECT_EQ(frames[0].kind, FrameKind::kKernel);
  EXPECT_NE(frames[0].mapping, 0);
  EXPECT_EQ(frames[2].kind, FrameKind::kUser);
  EXPECT_TRUE(frames[2].exact);  // where the kernel was entered
  EXPECT_FALSE(frames[3].exact);
}

// The processor may tell the address of a sample more exactly than the chain does; a chain may be
// of user code alone.
TEST_F(PerfDataStacksTest, BeginsWithTheSamplesOwnAddress) {
  TestFile file;
  file.sample(kUser, 0x1008, 7, 100, {kContextUser, 0x100c, 0x2000})
      .sample(kKernel, kText, 7, 110, {kContextUser, 0x100c})
      .sample(kUser, 0x1234, 7, 120);
  read(file);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("0x1008", "0x1fff"));
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("0xffffffff9a000000", "0x100c"));
  EXPECT_THAT(recorded.samples[2].frames, ElementsAre("0x1234"));
}

TEST_F(PerfDataStacksTest, EndsChainsAtMarksThatNobodyKnows) {
  TestFile file;
  file.sample(kUser, 0x1000, 7, 100, {kContextUser, 0x1000, 0x2000, ~0ull - 4, 0x3000});
  read(file);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("0x1000", "0x1fff"));
}

TEST_F(PerfDataStacksTest, TellsTheKernelFromItsModules) {
  TestFile file;
  file.feature(FeatureId::kArch, Body().sized_text("x86_64"))
      .feature(
          FeatureId::kBuildIds,
          Body().bytes(record(
              RecordType::kBuildId, kKernel,
              Body().u32(kNobody).bytes(std::string(20, '\x12')).u32(0).text("[kernel.kallsyms]"))))
      .map(kKernel, kNobody, kText, 0x1000000, kText, "[kernel.kallsyms]_text", 0)
      .map(kKernel, kNobody, 0xffffffffc0000000, 0x1000, 0,
           "/lib/modules/6.1.0/kernel/net/nf-nat.ko.xz", 0)
      .sample(kKernel, kText + 0x10, 7, 100)
      .sample(kKernel, 0xffffffffc0000010, 7, 110);
  read(file);
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("[nf_nat] 0xffffffffc0000010"));
  ASSERT_EQ(recorded.images.size(), 2);
  EXPECT_EQ(recorded.images[0].name, "kernel");
  EXPECT_EQ(recorded.images[0].build_id, std::vector<std::byte>(20, std::byte{0x12}));
  EXPECT_EQ(recorded.images[0].load_bias, kText - 0xffffffff81000000);
  ASSERT_EQ(recorded.mappings.size(), 2);
  EXPECT_EQ(recorded.mappings[0].start, GuestVirt{kText});
  EXPECT_EQ(recorded.mappings[0].end, GuestVirt{kText + 0x1000000});
}

TEST_F(PerfDataStacksTest, NamesCodeThatTheKernelHasMade) {
  TestFile file;
  const auto symbol = [&](std::uint16_t flags, std::string_view name, std::uint64_t time) {
    file.add(record(RecordType::kKsymbol, 0,
                    Body()
                        .u64(0xffffffffc0100000)
                        .u32(0x100)
                        .u16(1)
                        .u16(flags)
                        .text(name)
                        .bytes(TestFile::trailer(7, time))));
  };
  symbol(0, "bpf_prog_1", 10);
  file.sample(kKernel, 0xffffffffc0100010, 7, 20);
  symbol(1, "bpf_prog_1", 30);
  file.sample(kKernel, 0xffffffffc0100010, 7, 40);
  symbol(0, "bpf_prog_2", 50);
  file.sample(kKernel, 0xffffffffc0100010, 7, 60);
  read(file);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("[bpf] bpf_prog_1"));
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("0xffffffffc0100010"));
  EXPECT_THAT(recorded.samples[2].frames, ElementsAre("[bpf] bpf_prog_2"));
}

TEST_F(PerfDataStacksTest, TakesTheGuestsKernelForTheKernel) {
  TestFile file;
  file.map(kKernel, kNobody, kText, 0x1000000, kText, "[kernel.kallsyms]_text", 0)
      .map(kGuestKernel, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
           "[guest.kernel.kallsyms]_text", 0)
      .sample(kGuestKernel, 0xffffffff81000010, 7, 100)
      .sample(kGuestUser, 0x1000, 7, 110)
      .sample(kKernel, kText, 7, 120)
      .sample(kGuestKernel, 0xffffffff81000020, 7, 130,
              {kContextGuestKernel, 0xffffffff81000020, kContextGuestUser, 0x2000});
  read(file);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("[kernel] 0xffffffff81000010"));
  EXPECT_EQ(recorded.samples[0].info.level, PrivilegeLevel::kKernel);
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("0x1000"));
  EXPECT_EQ(recorded.samples[1].info.level, PrivilegeLevel::kUser);
  EXPECT_THAT(recorded.samples[2].frames, ElementsAre("[host kernel] 0xffffffff9a000000"));
  EXPECT_THAT(recorded.samples[3].frames, ElementsAre("[kernel] 0xffffffff81000020", "0x2000"));
}

TEST_F(PerfDataStacksTest, GivesProgramsTheirLinkedAddresses) {
  write_program();
  const std::uint64_t offset = offset_of_code();
  const std::uint64_t page = offset & ~std::uint64_t{0xfff};
  ASSERT_NE(offset, 0x1000);
  TestFile file;
  file.map(kUser, 7, 0x555500000000, 0x1000, page, program_.string(), 10)
      .sample(kUser, 0x555500000000 + offset - page + 0x10, 7, 100);
  read(file);
  EXPECT_EQ(frames_of(0)[0].address, GuestVirt{0x401010});
  ASSERT_EQ(recorded.images.size(), 1);
  EXPECT_EQ(recorded.images[0].name, program_.filename());
  EXPECT_EQ(recorded.images[0].path, program_);
  EXPECT_EQ(recorded.images[0].arch, Arch::kX86_64);
  EXPECT_NE(recorded.images[0].code_hash, 0);  // it has no build id
}

// Another machine's file of that name is another one, as long as no build id says otherwise.
TEST_F(PerfDataStacksTest, TrustsNoPathOfAnotherMachine) {
  write_program();
  TestFile file;
  file.feature(FeatureId::kHostname, Body().sized_text("no machine is called so"))
      .map(kUser, 7, 0x555500000000, 0x1000, 0x2000, program_.string(), 10)
      .map(kUser, 8, 0x400000, 0x1000, 0, "/no/such/program", 10)
      .sample(kUser, 0x555500000010, 7, 100)
      .sample(kUser, 0x400010, 8, 110);
  read(file);
  EXPECT_EQ(frames_of(0)[0].address, GuestVirt{0x2010});
  EXPECT_EQ(recorded.images[0].code_hash, 0);
  EXPECT_EQ(frames_of(1)[0].address, GuestVirt{0x400010});
}

TEST_F(PerfDataStacksTest, UsesTheMapsOfThatTime) {
  TestFile file;
  file.map(kUser, 7, 0x7f0000000000, 0x3000, 0, "/lib/old.so", 10)
      .sample(kUser, 0x7f0000001010, 7, 20)
      .fork(7, 8, 25)
      .map(kUser, 7, 0x7f0000001000, 0x1000, 0x5000, "/lib/new.so", 30)
      .sample(kUser, 0x7f0000001010, 7, 40)
      .sample(kUser, 0x7f0000002010, 7, 50)
      .sample(kUser, 0x7f0000001010, 8, 60);
  read(file);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("[old.so] 0x1010"));
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("[new.so] 0x5010"));
  EXPECT_THAT(recorded.samples[2].frames, ElementsAre("[old.so] 0x2010"));
  EXPECT_THAT(recorded.samples[3].frames, ElementsAre("[old.so] 0x1010"));
}

// perf writes such records of the processes that it finds, each before that process's maps.
TEST_F(PerfDataStacksTest, GivesAProcessFromBeforeTheRecordingNoMapsOfItsParent) {
  TestFile file;
  file.map(kUser, 7, 0x7f0000000000, 0x3000, 0, "/lib/old.so", 0)
      .fork(7, 8, 0, kMiscForkExec)
      .map(kUser, 8, 0x7f0000001000, 0x1000, 0x5000, "/lib/own.so", 0)
      .sample(kUser, 0x7f0000001010, 8, 20)
      .sample(kUser, 0x7f0000002010, 8, 30);
  read(file);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("[own.so] 0x5010"));
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("0x7f0000002010"));
}

TEST_F(PerfDataStacksTest, ReadsTheBuildIdOfAMapping) {
  TestFile file;
  file.add(record(RecordType::kMmap2, kUser | kMiscBuildId,
                  Body()
                      .u32(7)
                      .u32(7)
                      .words({0x7f0000000000, 0x1000, 0})
                      .u32(20)
                      .bytes(std::string(20, '\x34'))
                      .u32(5)
                      .u32(2)
                      .text("/lib/some.so")
                      .bytes(TestFile::trailer(7, 10))))
      .sample(kUser, 0x7f0000000010, 7, 20);
  read(file);
  ASSERT_EQ(recorded.images.size(), 1);
  EXPECT_EQ(recorded.images[0].build_id, std::vector<std::byte>(20, std::byte{0x34}));
}

// A kernel's file with "_text" at its link address, as --kernel gives it.
ImportOptions given_kernel(const std::vector<std::byte>& build_id) {
  constexpr std::uint64_t kLinked = 0xffffffff81000000;
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  const std::vector<std::byte> code(0x100, std::byte{0x90});
  writer.add_segment(ImageAddr{kLinked}, 0x1000000, true, false, code);
  std::vector<std::byte> note;
  for (const std::uint32_t word : {4u, static_cast<unsigned>(build_id.size()), 3u, 0x00554e47u})
    for (int byte = 0; byte < 4; ++byte) note.push_back(static_cast<std::byte>(word >> 8 * byte));
  note.insert(note.end(), build_id.begin(), build_id.end());
  writer.add_section(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, {}, note);
  writer.set_symbols({{.name = "_text", .address = ImageAddr{kLinked}}});
  ImportOptions options;
  options.kernel = *elf::ElfFile::from_bytes(writer.write(), "vmlinux");
  options.kernel_code = {{GuestVirt{kLinked}, GuestVirt{kLinked + 0x1000000}}};
  return options;
}

TestFile sample_of_kernel() {
  TestFile file;
  file.feature(
          FeatureId::kBuildIds,
          Body().bytes(record(
              RecordType::kBuildId, kKernel,
              Body().u32(kNobody).bytes(std::string(20, '\x12')).u32(0).text("[kernel.kallsyms]"))))
      .map(kKernel, kNobody, kText, 0x1000000, kText, "[kernel.kallsyms]_text", 0)
      .sample(kKernel, kText + 0x10, 7, 100);
  return file;
}

TEST_F(PerfDataStacksTest, PlacesTheGivenKernelWhereItRan) {
  const ImportOptions options = given_kernel(std::vector<std::byte>(20, std::byte{0x12}));
  const std::string text = sample_of_kernel().file();
  const Input input{"input", as_bytes(text), {}};
  PlacingTarget target;
  ASSERT_TRUE(import_perf_data({&input, 1}, options, target));
  EXPECT_EQ(target.load_bias, kText - 0xffffffff81000000);
  ASSERT_TRUE(import(import_perf_data, {text}, options));
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("0xffffffff9a000010"));
  EXPECT_TRUE(recorded.images.empty());  // it is the target's
}

TEST_F(PerfDataStacksTest, UsesNoOtherKernelThatIsGiven) {
  const ImportOptions options = given_kernel(std::vector<std::byte>(20, std::byte{0x13}));
  const auto result = import(import_perf_data, {sample_of_kernel().file()}, options);
  ASSERT_TRUE(result);
  EXPECT_THAT(result->warnings,
              ElementsAre(::testing::HasSubstr("is not the kernel that was recorded")));
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("[kernel] 0xffffffff9a000010"));
}

// The newest entry: from the call to the function that runs.
TEST_F(PerfDataStacksTest, TakesCallsThatTheProcessorRecorded) {
  TestFile file(TestEvent{.sample_type = sample::kIp | sample::kTid | sample::kTime |
                                         sample::kCallchain | sample::kBranchStack,
                          .branch_type = branch::kCallStack | branch::kHardwareIndex});
  file.add(record(RecordType::kSample, kUser,
                  Body()
                      .u64(0x1008)
                      .u32(7)
                      .u32(7)
                      .u64(100)
                      .words({2, kContextUser, 0x1008})
                      .words({2, 0})
                      .words({0x2040, 0x1000, 0, 0x3040, 0x2000, 0})));
  read(file);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("0x1008", "0x2040", "0x3040"));
}

}  // namespace
}  // namespace ringside::importers::perf_data
