#include "session/early_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf/elf_writer.h"

namespace ringside::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr GuestVirt kModule{0xffffffffc0000000};
constexpr GuestVirt kKernel{0xffffffff81000000};
constexpr std::uint64_t kPatience = 10;

elf::Image image_at(GuestVirt start) {
  elf::ElfWriter writer(Arch::kX86_64, true, 2);
  const std::vector<std::byte> code(4096);
  writer.add_segment({start.value}, code.size(), true, false, code);
  auto file = elf::ElfFile::from_bytes(writer.write(), "");
  EXPECT_TRUE(file);
  return {.name = "code", .file = *file};
}

wire::Capture kernel_capture() {
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.level = PrivilegeLevel::kKernel;
  return capture;
}

Stack stack_of(std::initializer_list<GuestVirt> addresses, StopReason stop, GuestVirt stopped_at) {
  Stack stack;
  for (const GuestVirt address : addresses) stack.frames.push_back({.address = address});
  stack.stop = stop;
  stack.stopped_at = stopped_at;
  return stack;
}
// The module's function runs, or has called the kernel's.
Stack in_module() { return stack_of({kModule}, StopReason::kGuessed, kKernel); }
Stack below_module() { return stack_of({kKernel}, StopReason::kBadAddress, kModule + 8); }
Stack complete() { return stack_of({kModule, kKernel}, StopReason::kUserMode, kKernel); }

class EarlySamplesTest : public ::testing::Test {
 protected:
  void SetUp() override { images_.add(image_at(kKernel)); }

  void add(std::uint64_t time, const Stack& stack) {
    const wire::Capture capture = kernel_capture();
    const auto waits_for = early_.unknown_code(capture, stack, images_);
    EarlySamples::Sample sample{
        .info = {}, .parts = {stack}, .capture = capture, .attribution = {}};
    sample.info.time_ns = time;
    sample.info.weight = 1;
    ASSERT_TRUE(early_.add(std::move(sample), waits_for, write_));
  }
  void load_module() {
    images_.add(image_at(kModule));
    ASSERT_TRUE(early_.unwind_again(
        images_,
        [this](const wire::Capture&, const guestos::TaskAttribution&) {
          ++unwound_;
          return std::vector<Stack>{complete()};
        },
        write_));
  }

  elf::ImageMap images_;
  EarlySamples early_{kPatience};
  std::vector<std::pair<std::uint64_t, StopReason>> written_;
  unsigned unwound_ = 0;
  EarlySamples::Write write_ = [this](const EarlySamples::Sample& sample) -> Result<void> {
    written_.emplace_back(sample.info.time_ns, sample.parts.front().stop);
    return {};
  };
};

TEST_F(EarlySamplesTest, AreUnwoundAgainWhenTheCodeIsKnownAndStayInOrder) {
  const Stack plain = stack_of({kKernel}, StopReason::kEndOfStack, kKernel);
  add(1, plain);
  add(2, in_module());
  add(3, plain);
  add(4, below_module());
  EXPECT_THAT(written_, ElementsAre(std::pair(1u, StopReason::kEndOfStack)));
  load_module();
  EXPECT_EQ(unwound_, 2u);
  EXPECT_THAT(
      written_,
      ElementsAre(std::pair(1u, StopReason::kEndOfStack), std::pair(2u, StopReason::kUserMode),
                  std::pair(3u, StopReason::kEndOfStack), std::pair(4u, StopReason::kUserMode)));
  add(5, in_module());  // its code is known now
  EXPECT_EQ(written_.size(), 5u);
  EXPECT_TRUE(early_.empty());
}

// Such as code that a compiler in the kernel has made.
TEST_F(EarlySamplesTest, WaitOnceForCodeThatNeverComes) {
  for (std::uint64_t time = 0; time <= kPatience; ++time) add(time, in_module());
  EXPECT_EQ(written_.size(), kPatience + 1);
  EXPECT_EQ(written_.front(), std::pair(std::uint64_t{0}, StopReason::kGuessed));
  EXPECT_FALSE(early_.unknown_code(kernel_capture(), in_module(), images_));
}

TEST_F(EarlySamplesTest, AreWrittenAtTheEnd) {
  add(1, below_module());
  EXPECT_THAT(written_, IsEmpty());
  ASSERT_TRUE(early_.finish(write_));
  EXPECT_THAT(written_, ElementsAre(std::pair(1u, StopReason::kBadAddress)));
}

TEST_F(EarlySamplesTest, UserCodeAndStacksBrokenElsewhereAreNot) {
  wire::Capture user = kernel_capture();
  user.level = PrivilegeLevel::kUser;
  EXPECT_FALSE(early_.unknown_code(user, in_module(), images_));
  const Stack low = stack_of({kKernel}, StopReason::kBadAddress, {0x1234});
  EXPECT_FALSE(early_.unknown_code(kernel_capture(), low, images_));
  Stack through_firmware = in_module();
  const GuestVirt pc = through_firmware.frames.front().address;
  through_firmware.frames.insert(
      through_firmware.frames.begin(),
      {.address = GuestVirt{0x80001234}, .exact = true, .kind = FrameKind::kFirmware});
  EXPECT_EQ(early_.unknown_code(kernel_capture(), through_firmware, images_), pc);
  const Stack truncated = stack_of({kKernel}, StopReason::kTruncated, kModule);
  EXPECT_FALSE(early_.unknown_code(kernel_capture(), truncated, images_));
}

}  // namespace
}  // namespace ringside::session
