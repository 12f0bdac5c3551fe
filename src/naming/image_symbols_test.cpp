#include "naming/image_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "elf/code_hash.h"
#include "elf/elf_writer.h"

namespace ringside::naming {
namespace {

std::vector<std::byte> module_file() {
  const std::vector<std::byte> code(0x40, std::byte{0x90});
  elf::ElfWriter writer(Arch::kI386, false, ET_EXEC);
  writer.add_segment({0xe0800000}, code.size(), true, false, code);
  writer.set_symbols({{"open_disk", {0xe0800010}, 0x20, ELF32_ST_INFO(STB_GLOBAL, STT_FUNC)}});
  return writer.write();
}

TEST(ImageSymbols, NamesWhatOnlyTheGuestHeld) {
  recording::ImageInfo image;
  image.id = 2;
  image.name = "disk";
  image.arch = Arch::kI386;
  const recording::RecordedFrame frame{.address = GuestVirt{0xe0800018}, .image = 2};
  const auto name = [&](ImageSymbols& symbols) {
    profile::NamedFrame named;
    symbols.name({frame, &image, nullptr}, named);
    return named.functions;
  };
  ImageSymbols with({});
  const auto file = module_file();
  with.blob({"another kind", 2, as_bytes("?")});
  with.blob({recording::kImageFileBlob, 2, file});
  EXPECT_EQ(name(with), std::vector<std::string>{"open_disk"});
  EXPECT_TRUE(with.warnings().empty());

  ImageSymbols without({});
  EXPECT_TRUE(name(without).empty());
  ASSERT_EQ(without.warnings().size(), 1u);
  EXPECT_NE(without.warnings()[0].find("disk has no file"), std::string::npos);

  ImageSymbols damaged({});
  damaged.blob({recording::kImageFileBlob, 2, Bytes(file).first(20)});
  EXPECT_TRUE(name(damaged).empty());
  EXPECT_EQ(damaged.warnings().size(), 1u);
}

TEST(ImageSymbols, NamesOfCodeMadeAtRunTimeComeFromAMap) {
  recording::ImageInfo image;
  image.id = 2;
  image.name = "[JIT] tid 2424";
  const recording::RecordedFrame frame{.address = GuestVirt{0xe0800018}, .image = 2};
  ImageSymbols symbols({});
  profile::NamedFrame named;
  symbols.name({frame, &image, nullptr}, named);
  ASSERT_EQ(symbols.warnings().size(), 1u);
  const std::string warning = symbols.warnings()[0];
  EXPECT_NE(warning.find("image [JIT] tid 2424 has no file"), std::string::npos) << warning;
  EXPECT_NE(warning.find("/tmp/perf-2424.map"), std::string::npos) << warning;
  EXPECT_NE(warning.find("'perf inject --jit'"), std::string::npos) << warning;
}

TEST(ImageSymbols, NamesFunctionsThatARecordingNamesOneByOne) {
  recording::ImageInfo image;
  image.id = 2;
  image.name = "disk";
  image.arch = Arch::kI386;
  ImageSymbols symbols({});
  symbols.function({2, {0xe0800010}, 0x20, "open_disk", false});
  symbols.function({2, {0xe0800040}, 0x10, "close_disk", false});
  symbols.function({3, {0xe0800000}, 0x100, "another_image", false});
  const auto name = [&](std::uint64_t address) {
    const recording::RecordedFrame frame{.address = GuestVirt{address}, .image = 2};
    profile::NamedFrame named;
    symbols.name({frame, &image, nullptr}, named);
    return named.functions;
  };
  EXPECT_EQ(name(0xe0800018), std::vector<std::string>{"open_disk"});
  EXPECT_EQ(name(0xe0800050), std::vector<std::string>{"close_disk"});
  EXPECT_TRUE(name(0xe0800038).empty());  // between them
  EXPECT_TRUE(symbols.warnings().empty());
}

TEST(ImageSymbols, TakesTheSymbolBelowWhereThatIsWanted) {
  recording::ImageInfo image;
  image.id = 2;
  image.name = "disk";
  image.arch = Arch::kI386;
  const auto file = module_file();
  const auto name = [&](bool beyond_sizes, std::uint64_t address) {
    ImageSymbols::Options options;
    options.beyond_sizes = beyond_sizes;
    ImageSymbols symbols(std::move(options));
    symbols.blob({recording::kImageFileBlob, 2, file});
    const recording::RecordedFrame frame{.address = GuestVirt{address}, .image = 2};
    profile::NamedFrame named;
    symbols.name({frame, &image, nullptr}, named);
    return named.functions;
  };
  EXPECT_TRUE(name(false, 0xe0800038).empty());
  EXPECT_EQ(name(true, 0xe0800038), std::vector<std::string>{"open_disk"});
  EXPECT_TRUE(name(true, 0xe0800008).empty());  // there is none below
}

// Frames of programs and libraries have linked addresses: one name for all processes.
TEST(ImageSymbols, NamesProgramsByLinkedAddresses) {
  ImageSymbols symbols({});
  symbols.blob({recording::kSymbolsBlob, 2, module_file()});
  recording::ImageInfo library;
  library.id = 2;
  library.name = "libdisk.so";
  const auto name = [&](std::uint64_t address) {
    const recording::RecordedFrame frame{
        .address = GuestVirt{address}, .exact = true, .kind = FrameKind::kUser, .image = 2};
    profile::NamedFrame named;
    symbols.name({frame, &library, nullptr}, named);
    return named.functions;
  };
  EXPECT_EQ(name(0xe0800010), std::vector<std::string>{"open_disk"});
  EXPECT_TRUE(name(0xe0800000).empty());  // in front of it nothing has a name
}

TEST(ImageSymbols, ProgramsWithoutSymbolsAreReportedTogether) {
  const std::vector<std::byte> code(0x40, std::byte{0x90});
  elf::ElfWriter writer(Arch::kX86_64, true, ET_DYN);
  writer.add_segment({0}, code.size(), true, false, code);
  ImageSymbols symbols({});
  std::uint32_t id = 1;
  for (const char* name : {"dash", "dd", "dash"}) {
    recording::ImageInfo image;
    image.id = ++id;
    image.name = name;
    symbols.blob({recording::kSymbolsBlob, id, writer.write()});
    const recording::RecordedFrame frame{.address = GuestVirt{0x18}, .image = id};
    profile::NamedFrame named;
    symbols.name({frame, &image, nullptr}, named);
    EXPECT_TRUE(named.functions.empty());
  }
  ASSERT_EQ(symbols.warnings().size(), 1u);
  EXPECT_NE(symbols.warnings()[0].find("no symbols for dash, dd:"), std::string::npos);
}

TEST(ImageSymbols, ProgramsOfWhichNoFileIsKnownAreCounted) {
  const std::vector<std::byte> code(0x40, std::byte{0x90});
  elf::ElfWriter writer(Arch::kX86_64, true, ET_DYN);
  writer.add_segment({0}, code.size(), true, false, code);
  ImageSymbols symbols({});
  for (const std::uint32_t id : {2, 3}) {
    recording::ImageInfo image;
    image.id = id;
    image.name = "<unknown>";
    if (id == 2) symbols.blob({recording::kSymbolsBlob, id, writer.write()});  // 3: too large
    const recording::RecordedFrame frame{.address = GuestVirt{0x18}, .image = id};
    profile::NamedFrame named;
    symbols.name({frame, &image, nullptr}, named);
    EXPECT_TRUE(named.functions.empty());
  }
  ASSERT_EQ(symbols.warnings().size(), 1u);
  EXPECT_NE(symbols.warnings()[0].find("2 programs"), std::string::npos);
  EXPECT_NE(symbols.warnings()[0].find("--programs"), std::string::npos);
  EXPECT_EQ(symbols.warnings()[0].find("<unknown>"), std::string::npos);
}

// A kernel that was found in the guest's memory, 0x2d200000 above where it is linked.
class KernelFromMemory : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kLinked = 0xffffffff81000000;
  static constexpr std::uint64_t kSlide = 0x2d200000;

  static std::vector<std::byte> kernel(std::uint64_t start, bool has_names = true,
                                       std::size_t change = 0) {
    std::vector<std::byte> code(0x1000, std::byte{0x90});
    for (std::size_t i = 0; change != 0 && i < code.size(); ++i)
      code[i] = static_cast<std::byte>(i * change + (i >> 8) * 17);
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    writer.add_segment({start}, code.size(), true, false, code);
    if (has_names)
      writer.set_symbols({{"vfs_read", {start + 0x100}, 0x80, kFunction},
                          {"ksys_read", {start + 0x200}, 0x80, kFunction},
                          {"do_idle", {start + 0x300}, 0x80, kFunction},
                          {"_etext", {start + 0x400}, 0, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)}});
    return writer.write();
  }
  void SetUp() override {
    path_ = ::testing::TempDir() + "ringside-kernel-" + std::to_string(::getpid());
    write(kernel(kLinked));
    image_.id = 1;
    image_.name = "kernel";
    image_.arch = Arch::kX86_64;
  }
  void TearDown() override { ::unlink(path_.c_str()); }
  void write(const std::vector<std::byte>& bytes) const {
    std::FILE* const file = std::fopen(path_.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::fclose(file);
  }
  [[nodiscard]] ImageSymbols symbols(std::optional<std::uint64_t> load_bias = {}) const {
    ImageSymbols::Options options;
    options.kernel.file = path_;
    options.kernel.load_bias = load_bias;
    return ImageSymbols(std::move(options));
  }
  std::string name(ImageSymbols& symbols, std::uint64_t address, bool has_image = true) const {
    const recording::RecordedFrame frame{
        .address = GuestVirt{address}, .exact = true, .kind = FrameKind::kKernel, .image = 1};
    profile::NamedFrame named;
    symbols.name({frame, has_image ? &image_ : nullptr, nullptr}, named);
    return named.functions.empty() ? "" : named.functions.front();
  }

  static constexpr std::uint8_t kFunction = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  std::string path_;
  recording::ImageInfo image_;
};

TEST_F(KernelFromMemory, IsNamedByItsFileWhereverItRan) {
  ImageSymbols named = symbols();
  named.blob({recording::kSymbolsBlob, 1, kernel(kLinked + kSlide)});
  EXPECT_EQ(name(named, kLinked + kSlide + 0x110), "vfs_read");
  EXPECT_EQ(name(named, kLinked + kSlide + 0x2ff - 0x80), "ksys_read");
  EXPECT_EQ(name(named, kLinked + kSlide + 0x1f0), "");
  EXPECT_TRUE(named.warnings().empty());
}

// A kernel in machine mode that was recorded without a file counts as firmware.
TEST_F(KernelFromMemory, CodeInFirmwaresModeIsTheGivenKernelsWhereNoKernelWasRecorded) {
  const auto name_of = [](ImageSymbols& named, std::uint64_t address) {
    const recording::RecordedFrame frame{
        .address = GuestVirt{address}, .exact = true, .kind = FrameKind::kFirmware};
    profile::NamedFrame out;
    named.name({frame, nullptr, nullptr}, out);
    return out.functions.empty() ? "" : out.functions.front();
  };
  ImageSymbols named = symbols();
  EXPECT_EQ(name_of(named, 0x80000110), "");  // OpenSBI's
  EXPECT_EQ(named.facts(false).given_was_used, false);
  EXPECT_EQ(name_of(named, kLinked + 0x110), "vfs_read");
  EXPECT_TRUE(named.facts(false).given_was_used);
  EXPECT_TRUE(named.facts(false).given_is_unchecked);
  ImageSymbols moved = symbols(kSlide);
  EXPECT_EQ(name_of(moved, kLinked + kSlide + 0x110), "vfs_read");
  EXPECT_EQ(name_of(moved, kLinked + 0x110), "");
  ImageSymbols beside_a_kernel = symbols();
  beside_a_kernel.image(image_);
  EXPECT_EQ(name_of(beside_a_kernel, kLinked + 0x110), "");
  ImageSymbols nothing_given({});
  EXPECT_EQ(name_of(nothing_given, kLinked + 0x110), "");
}

// The recording names few functions. Static ones of one name are several in the file.
TEST_F(KernelFromMemory, IsRecognizedByTheFunctionsThatTheRecordingNames) {
  const std::vector<std::byte> code(0x1000, std::byte{0x90});
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({kLinked}, code.size(), true, false, code);
  writer.set_symbols({{"vfs_read", {kLinked + 0x100}, 0x80, kFunction},
                      {"jhash", {kLinked + 0x200}, 0x10, kFunction},
                      {"jhash", {kLinked + 0x300}, 0x10, kFunction},
                      {"jhash", {kLinked + 0x400}, 0x10, kFunction},
                      {"not_recorded", {kLinked + 0x500}, 0x80, kFunction}});
  write(writer.write());
  ImageSymbols named = symbols();
  named.function({1, {kLinked + kSlide + 0x100}, 0x80, "vfs_read", false});
  named.function({1, {kLinked + kSlide + 0x300}, 0x10, "jhash", false});
  EXPECT_EQ(name(named, kLinked + kSlide + 0x110), "vfs_read");
  EXPECT_EQ(name(named, kLinked + kSlide + 0x308), "jhash");
  EXPECT_EQ(name(named, kLinked + kSlide + 0x510), "not_recorded");
  EXPECT_TRUE(named.warnings().empty());
}

// A decompressor, and what runs before the kernel has moved: at its link addresses it is not.
TEST_F(KernelFromMemory, CodeOutsideOfAKernelThatIsPlacedHasNoName) {
  for (const std::uint64_t outside : {kLinked + 0x110, std::uint64_t{0x100110}}) {
    ImageSymbols named = symbols();
    named.image(image_);
    named.blob({recording::kSymbolsBlob, 1, kernel(kLinked + kSlide)});
    EXPECT_EQ(name(named, outside, false), "");
    EXPECT_EQ(name(named, kLinked + kSlide + 0x110), "vfs_read");
    EXPECT_TRUE(named.warnings().empty());
  }
}

// The recorder keeps pieces of a kernel without a file; the file names what is between them.
TEST_F(KernelFromMemory, CodeOutsideOfAPieceOfTheGivenKernelHasItsNames) {
  constexpr std::size_t kChange = 31;
  write(kernel(kLinked, true, kChange));
  ImageSymbols named = symbols();
  named.image(image_);
  const auto whole = elf::ElfFile::from_bytes(kernel(kLinked, false, kChange), "kernel").value();
  const Bytes code = whole->bytes_at({kLinked}, 0x800);
  elf::ElfWriter piece(Arch::kX86_64, true, ET_EXEC);
  piece.add_segment({kLinked + kSlide}, code.size(), true, false, code);
  named.blob({recording::kImageFileBlob, 1, piece.write()});
  EXPECT_EQ(name(named, kLinked + kSlide + 0x310, false), "do_idle");
  EXPECT_EQ(name(named, kLinked + 0x110, false), "");
  EXPECT_TRUE(named.warnings().empty()) << named.warnings()[0];
}

TEST_F(KernelFromMemory, AStrippedFileOfWhatRanIsCalledStripped) {
  constexpr std::size_t kChange = 31;  // code that is nowhere the same
  write(kernel(kLinked, false, kChange));
  ImageSymbols named = symbols();
  named.blob({recording::kImageFileBlob, 1, kernel(kLinked + kSlide, false, kChange)});
  EXPECT_EQ(name(named, kLinked + kSlide + 0x110), "");
  ASSERT_EQ(named.warnings().size(), 1u);
  EXPECT_EQ(named.warnings()[0].find(path_ + " has no symbols"), 0u) << named.warnings()[0];
  image_.id = 2;  // another piece of it
  named.blob({recording::kImageFileBlob, 2, kernel(kLinked + kSlide, false, kChange)});
  EXPECT_EQ(name(named, kLinked + kSlide + 0x210), "");
  EXPECT_EQ(named.warnings().size(), 1u);
}

TEST_F(KernelFromMemory, TheUserMaySayWhereItRan) {
  ImageSymbols named = symbols(kSlide + 0x1000);
  named.blob({recording::kSymbolsBlob, 1, kernel(kLinked + kSlide)});
  EXPECT_EQ(name(named, kLinked + kSlide + 0x1110), "vfs_read");
}

TEST_F(KernelFromMemory, BehindTheTextThereIsNoFunction) {
  ImageSymbols named = symbols();
  named.blob({recording::kSymbolsBlob, 1, kernel(kLinked)});
  for (const std::uint64_t at : {0x400, 0x480, 0xfff, 0x1000, 0x2d200000})
    EXPECT_EQ(name(named, kLinked + at), "") << at;
}

TEST_F(KernelFromMemory, CodeIsThatOfTheFile) {
  ImageSymbols named = symbols();
  named.blob({recording::kSymbolsBlob, 1, kernel(kLinked + kSlide)});
  const recording::RecordedFrame frame{.address = GuestVirt{kLinked + kSlide + 0x110},
                                       .exact = true,
                                       .kind = FrameKind::kKernel,
                                       .image = 1};
  const auto code = named.code_file({frame, &image_, nullptr});
  ASSERT_TRUE(code);
  EXPECT_EQ(code->load_bias, kSlide);
  EXPECT_EQ(code->file->name(), path_);
}

// A kernel that was unpacked: its names are in the recording, its code in the file that was
// recorded.
TEST_F(KernelFromMemory, CodeThatTheRecordingDoesNotHoldIsThatOfTheRecordedFile) {
  const std::vector<std::byte> code(0x1000, std::byte{0xc3});
  elf::ElfWriter names(Arch::kX86_64, true, ET_EXEC);
  names.add_segment({kLinked}, code.size(), true, false, {});
  names.set_symbols({{"vfs_read", {kLinked + 0x100}, 0x80, kFunction}});
  elf::ElfWriter file(Arch::kX86_64, true, ET_EXEC);
  file.add_segment({kLinked}, code.size(), true, false, code);
  file.set_symbols({{"vfs_read", {kLinked + 0x100}, 0x80, kFunction}});
  write(file.write());
  image_.path = path_;
  const recording::RecordedFrame frame{
      .address = GuestVirt{kLinked + 0x110}, .exact = true, .kind = FrameKind::kKernel, .image = 1};
  const auto bytes = [&] {
    ImageSymbols named({});
    const std::vector<std::byte> stored = names.write();
    named.blob({recording::kSymbolsBlob, 1, stored});
    EXPECT_EQ(name(named, kLinked + 0x110), "vfs_read");
    const auto found = named.code_file({frame, &image_, nullptr});
    return found ? found->file->bytes_at({kLinked + 0x110}, 4).size() : 0;
  };
  EXPECT_EQ(bytes(), 4u);
  image_.build_id = {std::byte{1}};  // of another build
  EXPECT_EQ(bytes(), 0u);
}

TEST(ImageSymbols, CodeOfGuestMemoryIsInTheRecording) {
  ImageSymbols symbols({});
  const auto file = module_file();
  symbols.blob({recording::kImageFileBlob, 2, file});
  recording::ImageInfo image;
  image.id = 2;
  image.name = "disk";
  const recording::RecordedFrame frame{.address = GuestVirt{0xe0800018}, .image = 2};
  const auto code = symbols.code_file({frame, &image, nullptr});
  ASSERT_TRUE(code);
  EXPECT_EQ(code->file->bytes_at({0xe0800018}, 0x100).size(), 0x28u);
  EXPECT_FALSE(symbols.code_file({frame, nullptr, nullptr}));
}

TEST_F(KernelFromMemory, AnotherKernelIsRefused) {
  const std::vector<std::byte> code(0x1000, std::byte{0x90});
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({kLinked}, code.size(), true, false, code);
  writer.set_symbols({{"vfs_read", {kLinked + 0x500}, 0x80, kFunction},
                      {"ksys_read", {kLinked + 0x220}, 0x80, kFunction},
                      {"do_idle", {kLinked + 0x340}, 0x80, kFunction}});
  ImageSymbols named = symbols();
  named.blob({recording::kSymbolsBlob, 1, writer.write()});
  EXPECT_EQ(name(named, kLinked + 0x510), "");
  ASSERT_EQ(named.warnings().size(), 1u);
  EXPECT_NE(named.warnings()[0].find("of another kernel"), std::string::npos);
}

TEST_F(KernelFromMemory, WithoutACommonNameOneLineSaysWhatToGive) {
  ImageSymbols named = symbols();
  named.blob({recording::kSymbolsBlob, 1, kernel(kLinked + kSlide, false)});
  EXPECT_EQ(name(named, kLinked + kSlide + 0x110), "");
  EXPECT_EQ(name(named, kLinked + kSlide + 0x210), "");
  ASSERT_EQ(named.warnings().size(), 1u);
  EXPECT_NE(named.warnings()[0].find("--load-bias HEX"), std::string::npos);
}

TEST_F(KernelFromMemory, ARecordingWithoutAKernelIsNamedWithTheLoadBias) {
  ImageSymbols without = symbols();
  EXPECT_EQ(name(without, kLinked + kSlide + 0x110, false), "");
  EXPECT_EQ(name(without, kLinked + kSlide + 0x210, false), "");
  ASSERT_EQ(without.warnings().size(), 1u);
  EXPECT_NE(without.warnings()[0].find("--load-bias HEX"), std::string::npos);
  ImageSymbols with = symbols(kSlide);
  EXPECT_EQ(name(with, kLinked + kSlide + 0x110, false), "vfs_read");
  EXPECT_TRUE(with.warnings().empty());
}

// A boot loader's code was sampled before the kernel that has its symbols in memory.
TEST_F(KernelFromMemory, NoFileIsAskedForWhereTheKernelHasNames) {
  ImageSymbols named({});
  named.blob({recording::kImageFileBlob, 1, kernel(kLinked, false)});
  EXPECT_EQ(name(named, kLinked + 0x110), "");
  EXPECT_EQ(named.warnings().size(), 1u);
  image_.id = 2;
  named.blob({recording::kImageFileBlob, 2, kernel(kLinked + kSlide)});
  EXPECT_EQ(name(named, kLinked + kSlide + 0x110), "vfs_read");
  EXPECT_TRUE(named.warnings().empty());
}

// Recorded from a file without build id that lies where it was.
class KernelOnDisk : public KernelFromMemory {
 protected:
  void SetUp() override {
    KernelFromMemory::SetUp();
    image_.path = path_;
    image_.code_hash = elf::code_hash(**elf::ElfFile::open(path_));
  }
  std::string name_of(ImageSymbols& symbols) {
    symbols.blob({recording::kKeptSymbolsBlob, 1, kernel(kLinked)});
    return name(symbols, kLinked + 0x110);
  }
  static std::vector<std::byte> built_again() {
    const std::vector<std::byte> code(0x1010, std::byte{0x90});
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    writer.add_segment({kLinked}, code.size(), true, false, code);
    writer.set_symbols({{"new_function", {kLinked + 0x100}, 0x80, kFunction}});
    return writer.write();
  }
};

TEST_F(KernelOnDisk, IsNamedByItsFile) {
  ImageSymbols named({});
  EXPECT_EQ(name_of(named), "vfs_read");
  EXPECT_TRUE(named.warnings().empty());
}

TEST_F(KernelOnDisk, BuiltAgainTheRecordingsOwnNamesStand) {
  write(built_again());
  for (const bool is_given : {false, true}) {
    ImageSymbols named = is_given ? symbols() : ImageSymbols({});
    EXPECT_EQ(name_of(named), "vfs_read");
    ASSERT_EQ(named.warnings().size(), 1u);
    EXPECT_NE(named.warnings()[0].find("is not the file that was recorded"), std::string::npos);
  }
}

// A boot loader and the kernel that it has loaded: the file of that one is given later.
TEST_F(KernelOnDisk, AGivenKernelLeavesTheNamesOfAnother) {
  const std::string loader = path_ + "-loader";
  std::rename(path_.c_str(), loader.c_str());
  write(built_again());
  image_.path = loader;
  ImageSymbols named = symbols();
  EXPECT_EQ(name(named, kLinked + 0x110), "vfs_read");
  ASSERT_EQ(named.warnings().size(), 1u);
  EXPECT_NE(named.warnings()[0].find("Code of " + loader + " has the names of that"),
            std::string::npos);
  image_.id = 2;
  image_.path.clear();
  image_.code_hash = 0;
  named.blob({recording::kImageFileBlob, 2, built_again()});
  EXPECT_EQ(name(named, kLinked + 0x110), "new_function");
  EXPECT_TRUE(named.warnings().empty());
  ::unlink(loader.c_str());
}

TEST_F(KernelOnDisk, GoneTheFunctionsThatTheRecordingNamesStand) {
  ::unlink(path_.c_str());
  ImageSymbols named({});
  named.function({1, {kLinked + 0x100}, 0x80, "vfs_read", true});
  EXPECT_EQ(name(named, kLinked + 0x110), "vfs_read");
  ASSERT_EQ(named.warnings().size(), 1u);
  EXPECT_NE(named.warnings()[0].find("the names that the recording keeps"), std::string::npos);
}

// With its file everything has a name, not only what the recording names.
TEST_F(KernelOnDisk, TheFileNamesMoreThanTheRecording) {
  ImageSymbols named({});
  named.function({1, {kLinked + 0x800}, 0x80, "recorded", true});
  EXPECT_EQ(name(named, kLinked + 0x110), "vfs_read");
  EXPECT_TRUE(named.warnings().empty());
}

TEST_F(KernelOnDisk, GoneTheRecordingsOwnNamesStand) {
  ::unlink(path_.c_str());
  ImageSymbols named({});
  EXPECT_EQ(name_of(named), "vfs_read");
  EXPECT_EQ(named.warnings().size(), 1u);
}

TEST_F(KernelOnDisk, WithNeitherBuildIdNorHashNothingShowsThatItIsTheSame) {
  image_.code_hash = 0;
  ImageSymbols named({});
  EXPECT_EQ(name_of(named), "vfs_read");
  ASSERT_EQ(named.warnings().size(), 1u);
  EXPECT_NE(named.warnings()[0].find("nothing shows"), std::string::npos);
}

TEST_F(KernelOnDisk, WhatIsGivenAndNamesNothingIsSaid) {
  ImageSymbols named = symbols();
  ASSERT_EQ(named.warnings().size(), 1u);
  EXPECT_NE(named.warnings()[0].find("had no effect"), std::string::npos);
  // Names of kernel code that a filter leaves out are not asked for.
  EXPECT_TRUE(named.warnings(true).empty());
}

TEST_F(KernelFromMemory, ARecordingWithoutAKernelIsNamedByAFileAsLinked) {
  ImageSymbols named = symbols();
  EXPECT_EQ(name(named, kLinked + 0x110, false), "vfs_read");
  EXPECT_EQ(name(named, kLinked + 0x210, false), "ksys_read");
  ASSERT_EQ(named.warnings().size(), 1u);
  EXPECT_NE(named.warnings()[0].find("at its link addresses"), std::string::npos);
}

}  // namespace
}  // namespace ringside::naming
