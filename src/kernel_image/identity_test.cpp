#include "kernel_image/identity.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/testing/function_memory.h"
#include "elf/elf_writer.h"

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
  EXPECT_EQ(identity->evidence, "build id");
  EXPECT_EQ(identity->in_file, "0123456789abcdef");
  EXPECT_EQ(identity->in_memory, "ff23456789abcdef");
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

// Linux has its banner wherever it is.
TEST_F(IdentityTest, WithoutTheBannerItIsNotLinux) {
  const auto file = open("tiny_without_id");
  Guest guest(*file);
  guest.at(file->symbol_named("linux_banner")->address.value + kBias) = std::byte{0};
  EXPECT_EQ(check_identity(*file, kBias, guest)->sameness, MatchResult::kNotThere);
}

// 16 KiB of code without a build id and a banner.
class TextTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kText = 0x100000;

  TextTest() {
    for (std::size_t i = 0; i < code_.size(); ++i)
      code_[i] = static_cast<std::byte>(i * 2654435761u >> 13);
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    writer.add_segment({kText}, code_.size(), true, false, code_);
    file_ = elf::ElfFile::from_bytes(writer.write(), "kernel").value();
    guest_.emplace(*file_);
  }
  void damage(std::size_t from, std::size_t to, std::size_t every) {
    for (std::size_t i = from; i < to; i += every) guest_->at(kText + kBias + i) ^= std::byte{0x55};
  }
  [[nodiscard]] Identity check(std::size_t pc) {
    return check_identity(*file_, kBias, *guest_, 16, GuestVirt{kText + kBias + pc}).value();
  }

  std::vector<std::byte> code_ = std::vector<std::byte>(0x4000);
  std::shared_ptr<const elf::ElfFile> file_;
  std::optional<Guest> guest_;
};

TEST_F(TextTest, OneByteOf33MayDiffer) {
  EXPECT_EQ(check(0x100).sameness, MatchResult::kSame);
  damage(0, code_.size(), 50);
  EXPECT_EQ(check(0x100).sameness, MatchResult::kSame);
  damage(25, code_.size(), 50);
  const Identity identity = check(0x100);
  EXPECT_EQ(identity.sameness, MatchResult::kDifferent);
  EXPECT_EQ(identity.evidence, kTextEvidence);
  EXPECT_EQ(identity.in_file, "8192 bytes of its code");
  EXPECT_NEAR(identity.equal_share, 1 - 1.0 / 25, 16 / 8192.0);  // a byte more or less a window
  damage(0, code_.size(), 1);
  EXPECT_EQ(check(0x100).sameness, MatchResult::kNotThere);
  guest_->clear();
  EXPECT_EQ(check(0x100).sameness, MatchResult::kUnreadable);
}

// A kernel that was built again with another function near its end: what lies in front of it is as
// it was.
TEST_F(TextTest, WhatRunsIsComparedWhereverItIs) {
  damage(0x3100, 0x3400, 2);
  EXPECT_EQ(check(0x1000).sameness, MatchResult::kSame);
  EXPECT_EQ(check(0x3080).sameness, MatchResult::kDifferent);
  EXPECT_EQ(check(0x2fff).sameness, MatchResult::kSame);
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

// 16 KiB of code, which the guest has, and a build id behind it, which the guest may have
// elsewhere.
class MovedNote : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kText = 0x100000;
  static constexpr std::size_t kNote = 0x4000;

  static std::vector<std::byte> note(unsigned id) {
    std::vector<std::byte> bytes;
    for (const unsigned word : {4u, 8u, 3u, 0x554e47u, id, id})  // 0x554e47: "GNU"
      for (unsigned shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::byte>(word >> shift));
    return bytes;
  }
  MovedNote() {
    for (std::size_t i = 0; i < kNote; ++i)
      memory_[i] = static_cast<std::byte>(i * 2654435761u >> 13);
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    writer.add_segment({kText}, kNote, true, false, Bytes(memory_).first(kNote));
    const std::vector<std::byte> own = note(1);
    writer.add_segment({kText + kNote}, own.size(), false, false, own);
    writer.add_section(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, {kText + kNote}, own);
    file_ = elf::ElfFile::from_bytes(writer.write(), "kernel").value();
  }
  void put(std::size_t at, const std::vector<std::byte>& bytes) {
    std::copy(bytes.begin(), bytes.end(), memory_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  [[nodiscard]] Identity check() const {
    testing::FunctionMemory guest([this](GuestVirt at, std::span<std::byte> into) {
      const std::uint64_t offset = at.value - kText;
      if (offset >= memory_.size()) return Result<std::size_t>(0);
      const std::size_t count = std::min<std::size_t>(into.size(), memory_.size() - offset);
      std::memcpy(into.data(), memory_.data() + offset, count);
      return Result<std::size_t>(count);
    });
    return check_identity(*file_, 0, guest).value();
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(0x8000);
  std::shared_ptr<const elf::ElfFile> file_;
};

TEST_F(MovedNote, OfAnotherBuildItDecides) {
  EXPECT_EQ(check().evidence, kTextEvidence);
  EXPECT_EQ(check().sameness, MatchResult::kSame);
  put(kNote + 0x40, note(2));  // the code grew by 64 bytes
  const Identity identity = check();
  EXPECT_EQ(identity.sameness, MatchResult::kDifferent);
  EXPECT_EQ(identity.evidence, "build id");
  EXPECT_EQ(identity.in_memory, "0200000002000000");
  put(kNote, note(1));
  EXPECT_EQ(check().sameness, MatchResult::kSame);
  EXPECT_EQ(check().evidence, "build id");
}

TEST_F(MovedNote, OfAProgramInTheKernelsDataItShowsNothing) {
  put(kNote + 0x140, note(2));
  put(kNote + 0x40, {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}});
  EXPECT_EQ(check().evidence, kTextEvidence);
}

// Something else is loaded there so far.
TEST_F(MovedNote, WithoutTheKernelsCodeItShowsNothing) {
  std::fill(memory_.begin(), memory_.begin() + kNote, std::byte{0});
  put(kNote + 0x40, note(2));
  EXPECT_EQ(check().sameness, MatchResult::kNotThere);
}

TEST_F(MovedNote, TwoAndTheSameElsewhereShowNothing) {
  put(kNote + 0x40, note(2));
  put(kNote + 0x80, note(3));
  EXPECT_EQ(check().evidence, kTextEvidence);
  put(kNote + 0x40, note(1));
  put(kNote + 0x80, note(0));
  EXPECT_EQ(check().evidence, kTextEvidence);
}

}  // namespace
}  // namespace ringside::kernel_image
