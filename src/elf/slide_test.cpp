#include "elf/slide.h"

#include <gtest/gtest.h>

#include <random>

#include "elf/testing/fake_guest.h"

namespace ringside::elf {
namespace {

constexpr std::uint64_t kSlide = 0x2d600000;

// This test program as the kernel: it has code enough.
class SlideTest : public testing::Test {
 protected:
  SlideTest() {
    for (const Segment& segment : file_->segments()) {
      const Bytes bytes = file_->bytes_at(segment.address, segment.file_size);
      guest_.put(segment.address.value + kSlide, bytes);
      if (segment.executable) code_ = {segment.address + kSlide + 0x1234, segment.file_size};
    }
  }

  struct Code {
    ImageAddr start;
    std::uint64_t size = 0;
  };

  // As alternatives and ftrace do: 5 bytes in every `distance`.
  void patch(std::size_t distance) {
    std::mt19937 random(1);
    auto& bytes = guest_.at(code_.start.value);
    for (std::size_t at = random() % distance; at + 5 < bytes.size(); at += distance)
      for (std::size_t i = 0; i < 5; ++i) bytes[at + i] = static_cast<std::byte>(random());
  }

  std::shared_ptr<const ElfFile> file_ = ElfFile::open("/proc/self/exe").value();
  FakeGuest guest_;
  Code code_;
};

TEST_F(SlideTest, IsFoundInPatchedCode) {
  patch(64);
  for (std::uint64_t offset = 0x1000; offset + 0x8000 < code_.size; offset += 0x3456) {
    const std::vector<GuestVirt> code{{code_.start.value + offset}};
    const auto slide = find_slide(*file_, code, guest_.reader());
    ASSERT_TRUE(slide) << slide.error().message;
    EXPECT_EQ(slide->value, kSlide);
    EXPECT_LT(slide->equal, slide->compared);
  }
}

TEST_F(SlideTest, AddressesElsewhereDoNoHarm) {
  const std::vector<std::byte> module(0x3000, std::byte{0xcc});
  guest_.put(0xffffffffc0000000, module);
  const std::vector<GuestVirt> code{{0x1000}, {0xffffffffc0001000}, {code_.start.value + 0x2000}};
  EXPECT_EQ(find_slide(*file_, code, guest_.reader())->value, kSlide);
}

TEST_F(SlideTest, AnotherKernelIsSaid) {
  patch(6);
  const std::vector<GuestVirt> code{{code_.start.value + 0x2000}};
  const auto slide = find_slide(*file_, code, guest_.reader());
  ASSERT_FALSE(slide);
  EXPECT_EQ(slide.error().message,
            fmt::format("the code of /proc/self/exe is not in the guest at {}: another kernel runs "
                        "there, or it is not the kernel's code",
                        code[0]));
  EXPECT_EQ(find_slide(*file_, std::vector<GuestVirt>{{16}}, guest_.reader()).error().message,
            "none of 1 code addresses of the guest can be read");
  EXPECT_FALSE(find_slide(*file_, {}, guest_.reader()));
}

TEST_F(SlideTest, FailureOfTheReaderIsPassedOn) {
  const GuestReader broken = [](GuestVirt, std::span<std::byte>) -> Result<std::size_t> {
    return fail(ErrorCode::kClosed, "gone");
  };
  const std::vector<GuestVirt> code{{0x1000}};
  EXPECT_EQ(find_slide(*file_, code, broken).error().code, ErrorCode::kClosed);
}

TEST(ExceptionHandlers, OfBothWidths) {
  // A present 64-bit gate to 0xffffffff81c00ab0 (selector 0x10, type 0x8e), one that is not, and
  // as a 32-bit table the same bytes.
  const std::vector<std::uint8_t> table{
      0xb0, 0x0a, 0x10, 0, 0, 0x8e, 0xc0, 0x81, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0,
      0xb0, 0x0a, 0x10, 0, 0, 0x0e, 0xc0, 0x81, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
  FakeGuest guest;
  guest.put(0xfffffe0000000000, std::as_bytes(std::span(table)));
  const GuestVirt at{0xfffffe0000000000};
  EXPECT_EQ(*exception_handlers(Arch::kX86_64, at, guest.reader()),
            (std::vector<GuestVirt>{{0xffffffff81c00ab0}}));
  EXPECT_EQ(exception_handlers(Arch::kI386, at, guest.reader())->front(), GuestVirt{0x81c00ab0});
  EXPECT_TRUE(exception_handlers(Arch::kX86_64, {0x5000}, guest.reader())->empty());
}

}  // namespace
}  // namespace ringside::elf
