#include "disk_image/partitions.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace ringside::disk_image {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kSize = 8 << 20;

// A disk of zeros, in memory.
class Disk {
 public:
  Disk() : fd_(::memfd_create("disk", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(kSize)), 0);
  }
  void write(std::uint64_t at, std::string_view bytes) {
    EXPECT_EQ(::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
  }
  // An entry of the master boot record, in sectors below 65536 (Linux' type 0x83).
  void add_entry(unsigned index, unsigned start, unsigned count) {
    const auto byte = [](unsigned value) { return static_cast<char>(value & 0xff); };
    const std::array<char, 16> entry{0,           0,
                                     0,           0,
                                     '\x83',      0,
                                     0,           0,
                                     byte(start), byte(start >> 8),
                                     0,           0,
                                     byte(count), byte(count >> 8),
                                     0,           0};
    write(446 + 16 * index, {entry.data(), entry.size()});
    write(510, "\x55\xaa"sv);
  }
  [[nodiscard]] std::vector<Partition> partitions() const {
    return find_partitions(fd_.get(), kSize, "disk").value();
  }

 private:
  UniqueFd fd_;
};

TEST(Partitions, OfABlankDiskAreTheDiskItself) {
  const auto found = Disk().partitions();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].number, 0U);
  EXPECT_EQ(found[0].size, kSize);
  EXPECT_EQ(found[0].file_system, "");
}

TEST(Partitions, HaveTheNumbersOfTheirEntries) {
  Disk disk;
  disk.add_entry(0, 2048, 1024);
  disk.add_entry(2, 4096, 512);
  const auto found = disk.partitions();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].number, 1U);
  EXPECT_EQ(found[0].offset, 2048U * 512);
  EXPECT_EQ(found[0].size, 1024U * 512);
  EXPECT_EQ(found[1].number, 3U);
  EXPECT_EQ(found[1].to_string(), "3: no file system, 256.0 KiB");
}

TEST(Partitions, BehindTheEndOfTheImageAreCut) {
  Disk disk;
  disk.add_entry(0, 2048, 20000);
  disk.add_entry(1, 30000, 100);
  const auto found = disk.partitions();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].is_cut);
  EXPECT_TRUE(found[1].is_cut);
}

TEST(Partitions, WithTheSignatureOfRedoxFsHoldThat) {
  Disk disk;
  disk.add_entry(0, 2048, 4096);
  disk.write(2048 * 512, "RedoxFS\0"sv);
  EXPECT_EQ(disk.partitions()[0].file_system, kRedoxFs);
  Disk bootable;  // behind a boot loader
  bootable.write(0, "a boot loader");
  bootable.write(1 << 20, "RedoxFS\0"sv);
  EXPECT_EQ(bootable.partitions()[0].file_system, kRedoxFs);
  Disk other;  // at the beginning of no block
  other.write(100, "RedoxFS\0"sv);
  EXPECT_EQ(other.partitions()[0].file_system, "");
}

}  // namespace
}  // namespace ringside::disk_image
