#include "session/kernel/kernel_search.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/testing/function_memory.h"
#include "elf/elf_writer.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kSlide = 0x2d200000;

// The guest's memory holds this test program, moved by kSlide.
class KernelSearchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto file = elf::ElfFile::open("/proc/self/exe");
    ASSERT_TRUE(file);
    file_ = *file;
    for (const elf::Segment& segment : file_->segments())
      if (segment.executable) pc_ = {segment.address.value + segment.file_size / 2 + kSlide};
  }
  Result<std::size_t> read(GuestVirt at, std::span<std::byte> into) {
    ++reads_;
    if (only_around_pc_ && (at.value < pc_.value - 0x2000 || at.value > pc_.value + 0x2000))
      return 0;
    if (lowest_ && at < *lowest_) return 0;
    if (failure_) return tl::unexpected<Error>(*failure_);
    const Bytes bytes = file_->bytes_at({at.value - slide_}, into.size());
    std::copy(bytes.begin(), bytes.end(), into.begin());
    for (std::size_t i = 0; garbled_ && i < bytes.size(); ++i) into[i] ^= std::byte{0x5a};
    return bytes.size();
  }
  Result<std::optional<FoundKernel>> poll(KernelSearch& search) {
    ringside::testing::FunctionMemory memory(
        [this](GuestVirt at, std::span<std::byte> into) { return read(at, into); });
    return search.poll(Arch::kX86_64, pc_, memory);
  }

  std::shared_ptr<const elf::ElfFile> file_;
  GuestVirt pc_;
  std::uint64_t slide_ = kSlide;
  bool garbled_ = false;
  bool only_around_pc_ = false;
  std::optional<GuestVirt> lowest_;  // mapped
  std::optional<Error> failure_;
  unsigned reads_ = 0;
};

TEST_F(KernelSearchTest, AKernelThatMovedIsFoundWhereItRuns) {
  KernelSearch search({.file = file_, .load_bias = {}});
  const auto found = poll(search);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->image.load_bias, kSlide);
  EXPECT_EQ((*found)->identity.sameness, kernel_image::MatchResult::kSame);
  EXPECT_EQ((*found)->image.name, elf::kKernelImage);
}

// As Linux on x86_64 unmaps what lies below a kernel that has moved.
TEST_F(KernelSearchTest, AKernelThatMovedByLessThanItsLengthIsFoundWhereItRuns) {
  for (const elf::Segment& segment : file_->segments())
    if (segment.executable) {
      slide_ = segment.file_size / 10 * 6 & ~std::uint64_t{4095};
      lowest_ = GuestVirt{segment.address.value + slide_};
      pc_ = {segment.address.value + segment.file_size / 10 * 8};
    }
  KernelSearch search({.file = file_, .load_bias = {}});
  const auto found = poll(search);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->image.load_bias, slide_);
}

// A later boot may be of the given file at another place than the user gave, or of another kernel.
TEST_F(KernelSearchTest, InALaterBootTheGivenFileMayHaveMoved) {
  KernelSearch search({.file = file_, .load_bias = 0x1000});
  for (int i = 0; i < 20; ++i) {
    const auto found = poll(search);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
  }
  search.start_over();
  const auto found = poll(search);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->image.load_bias, kSlide);
}

TEST_F(KernelSearchTest, OfALaterBootOnlyAKernelThatIsProvedIsFound) {
  KernelSearch search({.file = file_});
  ringside::testing::FunctionMemory memory(
      [this](GuestVirt at, std::span<std::byte> into) { return read(at, into); });
  garbled_ = true;
  for (int i = 0; i < 20; ++i) {
    const auto found = search.poll_later_boot(Arch::kX86_64, pc_, memory);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
    // The kernel may be hidden for a moment: the file that the user has given counts still.
    EXPECT_TRUE(search.is_given());
  }
  garbled_ = false;
  const auto found = search.poll_later_boot(Arch::kX86_64, pc_, memory);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->image.load_bias, kSlide);
  EXPECT_FALSE(search.is_given());
}

// As arm64's trampoline is when page tables are isolated.
TEST_F(KernelSearchTest, AFewPagesMappedElsewhereAreNotTheKernel) {
  KernelSearch search({.file = file_, .load_bias = {}});
  only_around_pc_ = true;
  for (int i = 0; i < 20; ++i) {
    const auto found = poll(search);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
    EXPECT_FALSE(search.should_wait());
  }
  only_around_pc_ = false;
  const auto found = poll(search);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->image.load_bias, kSlide);
}

// As a BPF program's is, where the kernel is linked and has moved away from (arm64 Linux).
TEST_F(KernelSearchTest, OtherCodeAtItsAddressesIsNotTheKernel) {
  slide_ = 0;
  garbled_ = only_around_pc_ = true;
  pc_ = pc_ - kSlide;
  KernelSearch search({.file = file_, .load_bias = {}});
  for (int i = 0; i < 20; ++i) {
    const auto found = poll(search);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
  }
}

TEST_F(KernelSearchTest, AKernelThatMovedIsFoundByAnAddressOfItsCode) {
  ringside::testing::FunctionMemory memory(
      [this](GuestVirt at, std::span<std::byte> into) { return read(at, into); });
  KernelSearch search({.file = file_, .load_bias = {}});
  const auto nowhere = search.prove(pc_ + 0x10000000, memory);
  ASSERT_TRUE(nowhere);
  EXPECT_FALSE(*nowhere);
  const auto found = search.prove(pc_, memory);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->image.load_bias, kSlide);
  EXPECT_EQ((*found)->identity.sameness, kernel_image::MatchResult::kSame);
  KernelSearch fixed({.file = file_, .load_bias = 0x1000});
  const auto given = fixed.prove(pc_, memory);
  ASSERT_TRUE(given);
  EXPECT_FALSE(*given);
}

TEST_F(KernelSearchTest, AGivenLoadBiasIsNotSearchedFor) {
  KernelSearch right({.file = file_, .load_bias = kSlide});
  auto found = poll(right);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->image.load_bias, kSlide);
  KernelSearch wrong({.file = file_, .load_bias = kSlide + (1ull << 30)});
  found = poll(wrong);
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
}

TEST_F(KernelSearchTest, AnotherKernelIsNotFound) {
  garbled_ = true;
  KernelSearch search({.file = file_, .load_bias = {}});
  EXPECT_FALSE(search.has_looked());
  for (int i = 0; i < 20; ++i) {
    const auto found = poll(search);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
  }
  EXPECT_TRUE(search.has_looked());
  EXPECT_FALSE(search.identity());
}

// QEMU's -kernel may be a boot loader.
TEST_F(KernelSearchTest, AFileThatIsNotGivenMayHaveLoadedAnother) {
  const std::vector<std::byte> code(0x1000, std::byte{0x90});
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({0x100000}, code.size(), true, false, code);
  const std::shared_ptr<const elf::ElfFile> loader =
      elf::ElfFile::from_bytes(writer.write(), "loader").value();
  std::atomic<unsigned> calls = 0;
  KernelRequest request{.file = loader, .is_given = false};
  request.find_more = [&] {
    ++calls;
    return KernelFiles{loader, file_};
  };
  KernelSearch search(request);
  ringside::testing::FunctionMemory memory(
      [this](GuestVirt at, std::span<std::byte> into) { return read(at, into); });
  std::optional<FoundKernel> other;
  for (int i = 0; i < 10'000 && !other; ++i) {
    other = search.poll_other(*loader, pc_, memory).value();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(other);
  EXPECT_EQ(other->image.file, file_);
  EXPECT_EQ(other->image.load_bias, kSlide);
  EXPECT_EQ(calls, 1u);
  garbled_ = true;
  EXPECT_FALSE(search.poll_other(*loader, pc_, memory).value());

  request.is_given = true;
  KernelSearch given(request);
  garbled_ = false;
  EXPECT_FALSE(given.poll_other(*loader, pc_, memory).value());
}

// Its names would be wrong, one for one.
TEST_F(KernelSearchTest, AFileThatIsNotThereIsNeverTaken) {
  KernelSearch search({.file = file_, .load_bias = kSlide});
  slide_ = kSlide + 0x1000;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(poll(search).value());
  ASSERT_TRUE(search.identity());
  EXPECT_NE(search.identity()->sameness, kernel_image::MatchResult::kSame);
}

TEST_F(KernelSearchTest, AFailureOfTheConnectionIsPassedOn) {
  failure_ = Error{ErrorCode::kClosed, "gone"};
  KernelSearch search({.file = file_, .load_bias = {}});
  EXPECT_FALSE(poll(search));
}

TEST_F(KernelSearchTest, WithoutAFileOnlyTheUpperHalfIsSearchedAndNotForever) {
  KernelSearch search({});
  pc_ = {0x400000};
  auto found = poll(search);
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  EXPECT_EQ(reads_, 0u);
  pc_ = {0xffffffff81000000};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(poll(search));
  const unsigned reads = reads_;
  EXPECT_GT(reads, 0u);
  EXPECT_TRUE(poll(search));
  EXPECT_EQ(reads_, reads);
  EXPECT_TRUE(search.has_looked());
}

// Memory without a kernel in it, of which one piece is around the code that runs.
class ScanTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kMiB = 1 << 20;
  static constexpr std::uint64_t kPc = 0xffffffff81800000;

  void map(std::uint64_t start, std::uint64_t bytes) { pieces_.emplace_back(start, start + bytes); }
  void scan(Arch arch) {
    KernelSearch search({});
    ringside::testing::FunctionMemory memory([this](GuestVirt at, std::span<std::byte> into) {
      return Result<std::size_t>(read(at.value, into.size()));
    });
    const auto found = search.poll(arch, GuestVirt{kPc}, memory);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
  }
  [[nodiscard]] bool has_read(std::uint64_t start, std::uint64_t end) const {
    return std::any_of(read_.begin(), read_.end(), [=](const auto& range) {
      return range.first < end && range.second > start;
    });
  }
  // Each of its bytes, whatever the order.
  [[nodiscard]] bool has_read_all(std::uint64_t start, std::uint64_t bytes) const {
    for (std::uint64_t at = start; at < start + bytes; at += 4096)
      if (!has_read(at, at + 4096)) return false;
    return true;
  }
  std::size_t reads_ = 0;

  std::size_t read(std::uint64_t at, std::size_t wanted) {
    ++reads_;
    for (const auto& [start, end] : pieces_) {
      if (at < start || at >= end) continue;
      const std::size_t size = std::min<std::uint64_t>(wanted, end - at);
      read_.emplace_back(at, at + size);
      return size;
    }
    return 0;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> read_;
};

// 34 MiB in pieces of 64 KiB would be 544 reads, and those of the holes.
TEST_F(ScanTest, ReadsManyChunksAtOnce) {
  map(kPc - 8 * kMiB, 14 * kMiB + 8192);  // text
  map(kPc + 8 * kMiB, 20 * kMiB);         // data
  scan(Arch::kX86_64);
  EXPECT_TRUE(has_read_all(kPc - 8 * kMiB, 14 * kMiB + 8192));
  EXPECT_TRUE(has_read_all(kPc + 8 * kMiB, 20 * kMiB));
  EXPECT_LT(reads_, 450u);
}

// There may be a device's registers.
TEST_F(ScanTest, ElsewhereNothingBehindAHoleIsRead) {
  map(kPc - kMiB, 4 * kMiB);
  map(kPc - 2 * kMiB, kMiB / 2);
  map(kPc + 4 * kMiB, kMiB);
  scan(Arch::kAArch64);
  EXPECT_TRUE(has_read_all(kPc - kMiB, 4 * kMiB));
  EXPECT_FALSE(has_read(kPc - 2 * kMiB, kPc - kMiB));
  EXPECT_FALSE(has_read(kPc + 4 * kMiB, kPc + 5 * kMiB));
}

// The search is paid for once, and what it has cost is spread over several tries.
TEST_F(ScanTest, AfterATryOneSearchForAKernelFollowsAtMost) {
  KernelSearch search({});
  ringside::testing::FunctionMemory memory([this](GuestVirt at, std::span<std::byte> into) {
    return Result<std::size_t>(read(at.value, into.size()));
  });
  constexpr std::uint64_t kTrampoline = kPc + 512 * kMiB;
  map(kPc - kMiB, 4 * kMiB);
  map(kTrampoline, 4096);
  const auto prove = [&] {
    const std::size_t before = reads_;
    EXPECT_FALSE(search.prove_code(Arch::kAArch64, {kPc}, memory).value());
    return reads_ != before;
  };
  EXPECT_FALSE(search.poll(Arch::kAArch64, {kTrampoline}, memory).value());
  EXPECT_TRUE(prove());
  EXPECT_FALSE(prove());
  EXPECT_FALSE(search.poll(Arch::kAArch64, {kPc}, memory).value());
  EXPECT_FALSE(prove());
  EXPECT_FALSE(search.poll(Arch::kAArch64, {kTrampoline}, memory).value());
  EXPECT_TRUE(has_read_all(kPc - kMiB, 4 * kMiB));
}

// A program that shares a page with the kernel, or one more build of it, is no candidate.
TEST_F(KernelSearchTest, ACandidateIsTheKernelWhereMemoryHasItsCode) {
  const auto other = elf::ElfFile::open("/bin/sh");
  ASSERT_TRUE(other);
  KernelSearch search({.file = nullptr, .candidates = {*other, file_}, .load_bias = {}});
  const auto found = poll(search);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->image.file, file_);
  EXPECT_EQ((*found)->image.load_bias, kSlide);
}

TEST_F(KernelSearchTest, NoCandidateIsTakenForWantOfABetterOne) {
  KernelSearch search({.file = nullptr, .candidates = {file_}, .load_bias = {}});
  garbled_ = true;
  for (int i = 0; i < 20; ++i) {
    const auto found = poll(search);
    ASSERT_TRUE(found);
    EXPECT_FALSE(*found);
  }
  EXPECT_TRUE(search.has_looked());
  garbled_ = false;
  EXPECT_TRUE(poll(search)->has_value());
}

}  // namespace
}  // namespace ringside::session
