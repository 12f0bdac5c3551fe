#include "kernel_image/slide.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/testing/bytes_memory.h"
#include "base/testing/function_memory.h"
#include "elf/elf_writer.h"

namespace ringside::kernel_image {
namespace {

class Slide : public ::testing::Test {
 protected:
  void SetUp() override {
    auto file = elf::ElfFile::open("/proc/self/exe");
    ASSERT_TRUE(file);
    file_ = *file;
    for (const elf::Segment& segment : file_->segments())
      if (segment.executable) code_ = segment;
    ASSERT_GT(code_.file_size, 16 * 4096u);
    const Bytes bytes = file_->bytes_at(code_.address, code_.file_size);
    memory_.assign(bytes.begin(), bytes.end());
  }
  // The guest: memory_ at the segment's address plus the slide.
  ringside::testing::BytesMemory<GuestVirt> guest(std::uint64_t slide) {
    return {{code_.address.value + slide}, memory_};
  }
  std::optional<std::uint64_t> find(std::uint64_t slide, std::uint64_t offset) {
    auto memory = guest(slide);
    auto found = find_slide(*file_, {code_.address.value + offset + slide}, memory);
    EXPECT_TRUE(found);
    return found ? *found : std::nullopt;
  }

  std::shared_ptr<const elf::ElfFile> file_;
  elf::Segment code_;
  std::vector<std::byte> memory_;
};

TEST_F(Slide, IsFoundFromAnyPageOfTheCode) {
  constexpr std::uint64_t kSlide = 0xffffffff2d200000;
  for (std::uint64_t offset = 4096; offset + 8192 < code_.file_size; offset += 4096)
    EXPECT_EQ(find(kSlide, offset + 0x123), kSlide) << std::hex << offset;
}

TEST_F(Slide, PatchedCodeDoesNoHarm) {
  // Five bytes in every 64, as a kernel patches its calls.
  for (std::size_t i = 0; i + 5 < memory_.size(); i += 64 + i % 7)
    std::memset(memory_.data() + i, 0x90, 5);
  EXPECT_EQ(find(0x1200000, 0x5000), 0x1200000u);
}

TEST_F(Slide, OtherCodeIsNotFound) {
  for (std::size_t i = 0; i < memory_.size(); ++i)
    memory_[i] ^= static_cast<std::byte>(i * 2654435761u >> 13);
  EXPECT_EQ(find(0x1200000, 0x5000), std::nullopt);
}

// A boot loader holds the kernel that it starts as data, in a segment that is executable as a
// whole.
TEST(SlideOfALoader, CodeIsNotLookedForInData) {
  std::vector<std::byte> bytes(0x3000);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  const auto loader = [&](bool has_sections) {
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    writer.add_segment({0x100000}, bytes.size(), true, true, bytes);
    if (has_sections) {
      writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {0x100000}, 0xf80);
      writer.map_section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, {0x100f80}, 0x2080);
    }
    return elf::ElfFile::from_bytes(writer.write(), "loader").value();
  };
  const auto find = [&](const elf::ElfFile& file, std::size_t from, std::size_t to) {
    ringside::testing::BytesMemory<GuestVirt> memory{
        {0xc0000000 + from},
        {bytes.begin() + static_cast<std::ptrdiff_t>(from),
         bytes.begin() + static_cast<std::ptrdiff_t>(to)}};
    return find_slide(file, {0xc0000000 + from + 0x10}, memory).value();
  };
  EXPECT_EQ(find(*loader(true), 0x1000, 0x3000), std::nullopt);
  EXPECT_EQ(find(*loader(false), 0x1000, 0x3000), 0xbff00000u);
  EXPECT_EQ(find(*loader(true), 0, 0x1000), 0xbff00000u);
}

TEST_F(Slide, NothingIsFoundWhereMemoryIsNotMappedOrEmpty) {
  EXPECT_EQ(find(0x1200000, 1ull << 40), std::nullopt);
  std::fill(memory_.begin(), memory_.end(), std::byte{0xcc});
  EXPECT_EQ(find(0x1200000, 0x5000), std::nullopt);
}

TEST_F(Slide, AFailureOfTheReaderIsPassedOn) {
  ringside::testing::FunctionMemory broken(
      [](GuestVirt, std::span<std::byte>) -> Result<std::size_t> {
        return fail(ErrorCode::kClosed, "gone");
      });
  EXPECT_FALSE(find_slide(*file_, {code_.address.value + 0x5000}, broken));
}

}  // namespace
}  // namespace ringside::kernel_image
