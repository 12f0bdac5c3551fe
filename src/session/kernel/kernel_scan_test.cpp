#include "session/kernel/kernel_scan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kPageOffset = 0xc0000000;
constexpr std::uint64_t kKernel = 0xc1000000;  // where it is linked to

// i386's memory, which is mapped as a whole from PAGE_OFFSET on, with a kernel at one place.
class AllMapped final : public VirtualMemory {
 public:
  explicit AllMapped(Bytes kernel) : memory_(192 * kMiB) {
    std::copy(kernel.begin(), kernel.end(), memory_.begin() + (kKernel - kPageOffset));
  }

  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }

  Result<std::size_t> read_up_to(GuestVirt address, std::span<std::byte> into) override {
    const std::uint64_t offset = address.value - kPageOffset;
    if (offset >= memory_.size()) return 0;
    const std::size_t size = std::min<std::uint64_t>(into.size(), memory_.size() - offset);
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(offset), size, into.begin());
    bytes_read_ += size;
    return size;
  }

 private:
  std::vector<std::byte> memory_;
  std::uint64_t bytes_read_ = 0;
};

class KernelScan : public ::testing::Test {
 protected:
  std::shared_ptr<const MappedFile> file_ =
      MappedFile::open(std::string(RINGSIDE_KALLSYMS_IMAGES) + "/6.2-32.img").value();
};

TEST_F(KernelScan, ReadsAFewMegabytesWhereAllMemoryIsMapped) {
  AllMapped memory(file_->bytes());
  const auto found = kernel_in_memory(Arch::kI386, GuestVirt{kKernel + 0x1000}, memory);
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->file);
  EXPECT_TRUE(found->is_whole);
  EXPECT_LE(memory.bytes_read(), 33 * kMiB);
}

TEST_F(KernelScan, ReadsOnWhereTheKernelGoesOn) {
  AllMapped memory(file_->bytes());
  const auto found = kernel_in_memory(Arch::kI386, GuestVirt{kKernel + 20 * kMiB}, memory);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->file);
}

}  // namespace
}  // namespace ringside::session
