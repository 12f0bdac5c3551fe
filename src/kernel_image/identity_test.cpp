#include "kernel_image/identity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/testing/function_memory.h"

namespace ringside::kernel_image {
namespace {

constexpr std::uint64_t kBias = 0x7000000000;

// A guest's memory: the segments of a file at a bias, which a test then changes.
class Guest final : public VirtualMemory {
 public:
  explicit Guest(const elf::ElfFile& file) {
    for (const elf::Segment& segment : file.segments()) {
      const Bytes bytes = file.bytes_at(segment.address, segment.file_size);
      pieces_.push_back({segment.address.value + kBias, {bytes.begin(), bytes.end()}});
    }
  }
  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt at, std::span<std::byte> into) override {
    for (const Piece& piece : pieces_) {
      const std::uint64_t offset = at.value - piece.address;
      if (offset >= piece.bytes.size()) continue;
      const std::size_t count = std::min(into.size(), piece.bytes.size() - offset);
      std::memcpy(into.data(), piece.bytes.data() + offset, count);
      return count;
    }
    return std::size_t{0};
  }
  std::byte& at(std::uint64_t address) {
    for (Piece& piece : pieces_)
      if (address - piece.address < piece.bytes.size()) return piece.bytes[address - piece.address];
    return nowhere_;
  }
  void clear() { pieces_.clear(); }

 private:
  struct Piece {
    std::uint64_t address;
    std::vector<std::byte> bytes;
  };
  std::vector<Piece> pieces_;
  std::byte nowhere_{};
};

class IdentityTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const elf::ElfFile> open(const char* name) {
    return elf::ElfFile::open(std::string(RINGSIDE_ELF_PROGRAMS) + "/" + name).value();
  }
  std::shared_ptr<const elf::ElfFile> file_ = open("tiny");
  Guest guest_{*file_};
};

TEST_F(IdentityTest, BuildIdDecides) {
  EXPECT_EQ(check_identity(*file_, kBias, guest_)->sameness, MatchResult::kSame);
  guest_.at(file_->notes().front().address->value + kBias) = std::byte{0xff};
  const auto identity = check_identity(*file_, kBias, guest_);
  EXPECT_EQ(identity->sameness, MatchResult::kDifferent);
  EXPECT_EQ(
      identity->explain("vmlinux"),
      "vmlinux is not the kernel that runs in the guest: its build id is 0123456789abcdef, the "
      "guest's ff23456789abcdef");
}

TEST_F(IdentityTest, BannerWhereThereIsNoBuildId) {
  const auto file = open("tiny_without_id");
  Guest guest(*file);
  auto identity = check_identity(*file, kBias, guest);
  EXPECT_EQ(identity->sameness, MatchResult::kSame);
  EXPECT_EQ(identity->evidence, "version banner");
  guest.at(file->symbol_named("linux_banner")->address.value + kBias + 14) = std::byte{'5'};
  identity = check_identity(*file, kBias, guest);
  EXPECT_EQ(identity->sameness, MatchResult::kDifferent);
  EXPECT_TRUE(identity->in_memory.starts_with("Linux version 5.1.0-test")) << identity->in_memory;
}

TEST_F(IdentityTest, TextWithTolerance) {
  const auto file = open("tiny_without_id");
  Guest guest(*file);
  guest.at(file->symbol_named("linux_banner")->address.value + kBias) = std::byte{0};
  const auto text = file->section(".text");
  const auto damage = [&](std::uint64_t every) {
    for (std::uint64_t i = 0; i < text->size; i += every)
      guest.at(text->address.value + kBias + i) = std::byte{0xcc};
    return check_identity(*file, kBias, guest)->sameness;
  };
  EXPECT_EQ(damage(10), MatchResult::kSame);
  EXPECT_EQ(damage(2), MatchResult::kDifferent);
  EXPECT_EQ(damage(1), MatchResult::kNotThere);
  guest.clear();
  const auto identity = check_identity(*file, kBias, guest);
  EXPECT_EQ(identity->sameness, MatchResult::kUnreadable);
  EXPECT_NE(identity->explain("vmlinux").find("--load-bias"), std::string::npos);
}

TEST_F(IdentityTest, ErrorsOfTheConnectionComeThrough) {
  ringside::testing::FunctionMemory memory(
      [](GuestVirt, std::span<std::byte>) -> Result<std::size_t> {
        return fail(ErrorCode::kClosed, "gone");
      });
  const auto identity = check_identity(*file_, kBias, memory);
  ASSERT_FALSE(identity);
  EXPECT_EQ(identity.error().code, ErrorCode::kClosed);
}

}  // namespace
}  // namespace ringside::kernel_image
