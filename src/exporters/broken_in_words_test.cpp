#include "exporters/broken_in_words.h"

#include <gmock/gmock.h>

#include "profile/profile_test_util.h"

namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// In the images "kernel" and "program" of TestRecording, and in none.
constexpr std::uint64_t kKernel = 0x2000;
constexpr std::uint64_t kProgram = 0x110000;
constexpr std::uint64_t kNowhere = 0x300000;

class BrokenInWords : public ::testing::Test {
 protected:
  void SetUp() override {
    map("kernel", "/boot/kernel.elf", 0x1000, 0x100000);
    map("program", "/bin/program", 0x100000, 0x200000);
    give_names();
  }
  void give_names() {
    for (const std::uint64_t below : {0, 1}) {
      recording_.namer().names[kKernel - below] = {"entry"};
      recording_.namer().names[kProgram - below] = {"work", "inlined"};
    }
  }

  // From now on that image is there, of a file of the host or of none.
  void map(const char* name, const char* path, std::uint64_t start, std::uint64_t end) {
    recording::ImageInfo image;
    image.name = name;
    image.path = path;
    recording::Mapping mapping;
    mapping.image = *recording_.writer().add_image(image);
    mapping.start = {start};
    mapping.end = {end};
    ASSERT_TRUE(recording_.writer().add_mapping(mapping));
  }

  static Stack stack(std::uint64_t outermost, FrameKind kind, StopReason stop,
                     FrameSource rule = FrameSource::kFramePointer) {
    Stack stack;
    for (const std::uint64_t address : {outermost + 0x100, outermost}) {
      ringside::Frame frame;
      frame.address = {address};
      frame.exact = stack.frames.empty();
      frame.kind = kind;
      frame.source = stack.frames.empty() ? FrameSource::kRegisters : rule;
      stack.frames.push_back(frame);
    }
    stack.stop = stop;
    return stack;
  }
  static Stack kernel(StopReason stop, std::uint64_t outermost = kKernel) {
    return stack(outermost, FrameKind::kKernel, stop);
  }
  static Stack user(StopReason stop, std::uint64_t outermost = kProgram) {
    return stack(outermost, FrameKind::kUser, stop);
  }

  void add(int count, const std::vector<Stack>& parts, PrivilegeLevel level) {
    std::vector<const Stack*> pointers;
    for (const Stack& part : parts) pointers.push_back(&part);
    for (int i = 0; i < count; ++i) {
      recording::SampleInfo info;
      info.level = level;
      ASSERT_TRUE(recording_.writer().add_sample(info, pointers));
    }
  }
  void add_kernel(int count, const Stack& part) { add(count, {part}, PrivilegeLevel::kKernel); }
  void add_user(int count, const Stack& part) { add(count, {part}, PrivilegeLevel::kUser); }

  std::vector<std::string> words() { return broken_in_words(recording_.profile()); }

  TestRecording recording_;
};

TEST_F(BrokenInWords, NothingWhereNearlyAllAreComplete) {
  add_kernel(95, kernel(StopReason::kEndOfStack));
  add_kernel(5, kernel(StopReason::kNoRule));
  add_user(19, user(StopReason::kEndOfStack));
  add_user(1, user(StopReason::kBadAddress));
  EXPECT_THAT(words(), IsEmpty());
}

TEST_F(BrokenInWords, UserStacksAreNotTheKernels) {
  add(90, {kernel(StopReason::kUserMode), user(StopReason::kBadAddress)}, PrivilegeLevel::kKernel);
  add(10, {kernel(StopReason::kUserMode), user(StopReason::kEndOfStack)}, PrivilegeLevel::kKernel);
  EXPECT_THAT(words(),
              ElementsAre(AllOf(HasSubstr("90 of 100 user stacks (90.00%) are not complete"),
                                HasSubstr("90 of these end in work [program] (bad return address)"),
                                HasSubstr("no unwind information of program was of use"),
                                HasSubstr("-fno-omit-frame-pointer"), Not(HasSubstr("--kernel")))));
}

TEST_F(BrokenInWords, TheKernelsNameThePlaceInWhichMostEnd) {
  add_kernel(2, kernel(StopReason::kEndOfStack));
  add_kernel(3, kernel(StopReason::kNoRule, kKernel + 0x1000));
  add_kernel(4, kernel(StopReason::kNoRule));
  add_kernel(2, kernel(StopReason::kBadAddress));
  add_user(50, user(StopReason::kEndOfStack));
  EXPECT_THAT(words(),
              ElementsAre(AllOf(HasSubstr("9 of 11 kernel stacks (81.82%)"),
                                HasSubstr("6 of these end in entry [kernel] (no unwind rule)"),
                                HasSubstr("no unwind information of kernel was of use"),
                                HasSubstr("--kernel"))));
}

TEST_F(BrokenInWords, AnImageWithTablesLeavesOutThatCode) {
  // The caller of the leaf at kProgram + 0x100 was found by the image's tables.
  add_user(9, stack(kProgram, FrameKind::kUser, StopReason::kNoRule, FrameSource::kCfi));
  EXPECT_THAT(words(), ElementsAre(AllOf(HasSubstr("program has unwind information, but not of"),
                                         HasSubstr(".cfi"))));
}

// Read from the guest's memory: how it was built is not known.
class BrokenInWordsWithoutFiles : public BrokenInWords {
  void SetUp() override { give_names(); }
};

TEST_F(BrokenInWordsWithoutFiles, AKernelMayHaveFramePointers) {
  add_kernel(9, kernel(StopReason::kBadAddress));
  EXPECT_THAT(words(), ElementsAre(AllOf(HasSubstr("the recorder had no file of the kernel"),
                                         Not(HasSubstr("-fno-omit-frame-pointer")))));
}

TEST_F(BrokenInWords, NothingOfAPart) {
  add_kernel(9, kernel(StopReason::kNoRule));
  add_user(9, user(StopReason::kEndOfStack));
  profile::BuildOptions options;
  options.filter.user_only = true;
  const auto profile = recording_.profile(options);
  EXPECT_THAT(profile.broken_ends, IsEmpty());
  EXPECT_THAT(broken_in_words(profile), IsEmpty());
}

TEST_F(BrokenInWords, CodeInNoImage) {
  add_kernel(9, kernel(StopReason::kNoRule, kNowhere));
  add_user(9, user(StopReason::kUnreadable, kNowhere));
  EXPECT_THAT(words(), ElementsAre(AllOf(HasSubstr("9 of these end in <unknown:0x300000>"),
                                         HasSubstr("in no known image"), HasSubstr("--kernel")),
                                   AllOf(HasSubstr("end in [user] (unreadable memory)"),
                                         HasSubstr("no program or library"))));
}

TEST_F(BrokenInWords, StacksThatWereCopiedInPart) {
  add_user(9, user(StopReason::kTruncated));
  add_user(1, user(StopReason::kNoRule));
  EXPECT_THAT(words(), ElementsAre(AllOf(HasSubstr("10 of 10 user stacks"),
                                         HasSubstr("--stack-bytes"), Not(HasSubstr("work")))));
}

TEST_F(BrokenInWords, DeepStacksHaveASentenceElsewhere) {
  add_kernel(9, kernel(StopReason::kTooDeep));
  EXPECT_THAT(words(), IsEmpty());
}

TEST_F(BrokenInWords, NoRegisters) {
  Stack none;
  none.stop = StopReason::kNoRegisters;
  add_kernel(9, none);
  EXPECT_THAT(words(), ElementsAre(HasSubstr("no registers")));
}

TEST_F(BrokenInWords, UserCodeOfNoKnownProcess) {
  add_kernel(50, kernel(StopReason::kEndOfStack));
  add_user(50, user(StopReason::kUser, kNowhere));
  EXPECT_THAT(words(), ElementsAre(HasSubstr("50 of 100 samples (50.00%) are user code of no")));
}

}  // namespace
}  // namespace ringside::exporters
