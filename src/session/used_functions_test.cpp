#include "session/used_functions.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "elf/elf_writer.h"
#include "recording/reader.h"

namespace ringside::session {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::Not;

constexpr ImageAddr kText{0xffffffff81000000};
constexpr std::uint64_t kBias = 0x2000000;
constexpr std::uint64_t kBytes = 0x40;  // of each function
constexpr unsigned kFunctions = 1000;

std::string name_of(unsigned n) { return "function_" + std::to_string(n); }

elf::Image kernel() {
  const std::vector<std::byte> code(kFunctions * kBytes, std::byte{0x90});
  std::vector<std::string> names;
  for (unsigned n = 0; n < kFunctions; ++n) names.push_back(name_of(n));
  std::vector<elf::ElfWriter::Symbol> symbols;
  for (unsigned n = 0; n < kFunctions; ++n)
    symbols.push_back({.name = names[n],
                       .address = kText + n * kBytes,
                       .size = kBytes,
                       .info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)});
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment(kText, code.size(), true, false, code);
  writer.set_symbols(std::move(symbols));
  elf::Image image;
  image.name = elf::kKernelImage;
  image.file = elf::ElfFile::from_bytes(writer.write(), "kernel").value();
  image.load_bias = kBias;
  return image;
}

// A return address into function `n`, or right behind the function before it.
Frame frame(unsigned n, std::uint64_t offset) {
  Frame result;
  result.address = GuestVirt{kText.value + kBias + n * kBytes + offset};
  return result;
}

struct Names : recording::Visitor {
  std::vector<recording::ImageFunction> functions;
  std::size_t before_frames = 0;  // functions that came before the last frame
  void function(const recording::ImageFunction& value) override { functions.push_back(value); }
  void frame(std::uint32_t, const recording::RecordedFrame&) override {
    before_frames = functions.size();
  }
};

class UsedFunctionsTest : public ::testing::Test {
 protected:
  UsedFunctionsTest()
      : path_(std::filesystem::temp_directory_path() /
              ("ringside-used-functions-" + std::to_string(::getpid()))),
        writer_(recording::Writer::create(path_, {}).value()),
        used_(writer_) {}
  ~UsedFunctionsTest() override { std::filesystem::remove(path_); }

  void add_sample(const std::vector<Frame>& frames) {
    Stack stack;
    stack.frames = frames;
    ASSERT_TRUE(used_.note(stack, images_));
    ASSERT_TRUE(writer_.add_sample({}, &stack));
  }
  Names read() {
    EXPECT_TRUE(writer_.flush());
    Names names;
    EXPECT_TRUE(recording::Reader::open(path_)->for_each(names));
    return names;
  }

  std::filesystem::path path_;
  recording::Writer writer_;
  UsedFunctions used_;
  elf::ImageMap images_;
};

TEST_F(UsedFunctionsTest, RecordsEachFunctionOnceAndBeforeItsFrames) {
  const elf::Image& image = images_.add(kernel());
  ASSERT_TRUE(used_.add(image, writer_.add_image({}).value()));
  const std::size_t at_once = read().functions.size();
  EXPECT_GE(at_once, 60u);
  EXPECT_LT(at_once, 80u);
  add_sample({frame(501, 8), frame(501, 16), frame(502, 0), frame(503, 1)});
  add_sample({frame(501, 24)});
  const Names names = read();
  EXPECT_EQ(names.functions.size(),
            at_once + 2);  // 502's return address is a call at the end of 501
  EXPECT_EQ(names.before_frames, names.functions.size());
  EXPECT_THAT(names.functions,
              Contains(AllOf(Field(&recording::ImageFunction::image, 1u),
                             Field(&recording::ImageFunction::name, name_of(501)),
                             Field(&recording::ImageFunction::address, kText + 501 * kBytes),
                             Field(&recording::ImageFunction::size, kBytes),
                             Field(&recording::ImageFunction::in_file, false))));
  EXPECT_THAT(names.functions, Contains(Field(&recording::ImageFunction::name, name_of(503))));
  EXPECT_THAT(names.functions, Not(Contains(Field(&recording::ImageFunction::name, name_of(502)))));
}

// As where the kernel is found late, or a module is loaded where another one was.
TEST_F(UsedFunctionsTest, FunctionsOfEarlierStacksAreRecordedWithTheirImage) {
  elf::Image first = kernel();
  first.load_bias = 2 * kBias;  // elsewhere
  ASSERT_TRUE(used_.add(images_.add(std::move(first)), writer_.add_image({}).value()));
  add_sample({frame(7, 8)});
  const std::size_t before = read().functions.size();
  ASSERT_TRUE(used_.add(images_.add(kernel()), writer_.add_image({}).value()));
  const Names names = read();
  EXPECT_GT(names.functions.size(), before);
  EXPECT_THAT(names.functions, Contains(AllOf(Field(&recording::ImageFunction::image, 2u),
                                              Field(&recording::ImageFunction::name, name_of(7)))));
}

TEST_F(UsedFunctionsTest, KernelsOfEarlierBootsAreForgotten) {
  std::weak_ptr<const elf::ElfFile> before;
  {
    elf::Image first = kernel();
    before = first.file;
    ASSERT_TRUE(used_.add(images_.add(std::move(first)), writer_.add_image({}).value()));
  }
  add_sample({frame(7, 8)});
  used_.forget_all_but(nullptr);
  images_.remove_all_but(nullptr);
  EXPECT_TRUE(before.expired());
  const elf::Image& later = images_.add(kernel());
  ASSERT_TRUE(used_.add(later, writer_.add_image({}).value()));
  used_.forget_all_but(&later);
  images_.remove_all_but(&later);
  add_sample({frame(7, 8), frame(9, 8)});
  EXPECT_THAT(read().functions,
              Contains(AllOf(Field(&recording::ImageFunction::image, 2u),
                             Field(&recording::ImageFunction::name, name_of(9)))));
}

// A small kernel and its tasks may be one file.
TEST_F(UsedFunctionsTest, UserCodeMayBeInTheKernelsFile) {
  ASSERT_TRUE(used_.add(images_.add(kernel()), writer_.add_image({}).value()));
  Frame user = frame(11, 8);
  user.kind = FrameKind::kUser;
  add_sample({user});
  EXPECT_THAT(read().functions, Contains(Field(&recording::ImageFunction::name, name_of(11))));
}

TEST_F(UsedFunctionsTest, ProgramsAndUnknownCodeHaveNone) {
  ASSERT_TRUE(used_.add(images_.add(kernel()), writer_.add_image({}).value()));
  const std::size_t before = read().functions.size();
  Frame program = frame(11, 8);  // as linked there, which happens to be an address of the kernel
  program.kind = FrameKind::kUser;
  program.image = 7;
  add_sample({program, frame(kFunctions + 1, 8)});
  EXPECT_EQ(read().functions.size(), before);
}

}  // namespace
}  // namespace ringside::session
