#include "kernel_image/boot_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/file.h"
#include "kernel_image/kernel_compression.h"

namespace ringside::kernel_image {
namespace {

// The files are made by testdata/make_boot_image.py with the compressors' own programs.
std::vector<std::byte> bytes_of(const std::string& name) {
  const auto file = MappedFile::open(std::string(RINGSIDE_BOOT_IMAGES) + "/" + name).value();
  return {file->bytes().begin(), file->bytes().end()};
}

// The kernel in the bzImages.
std::vector<std::byte> tiny_bytes() {
  const auto file = MappedFile::open(RINGSIDE_ELF_PROGRAMS "/tiny").value();
  return {file->bytes().begin(), file->bytes().end()};
}

const std::vector<std::string> kCompressions{"gzip", "bzip2", "lzma", "xz", "lzo", "lz4", "zstd"};

TEST(BootImage, BzImageOfEveryCompression) {
  const auto kernel = tiny_bytes();
  for (const std::string& compression : kCompressions) {
    const auto bytes = bytes_of("bzimage_" + compression);
    EXPECT_TRUE(is_boot_image(bytes));
    const auto image = read_boot_image(bytes, "vmlinuz");
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(image->container, "bzImage (" + compression + ")");
    EXPECT_EQ(image->kind, PayloadKind::kElf);
    EXPECT_EQ(image->arch, Arch::kX86_64);
    EXPECT_EQ(image->bytes, kernel) << compression;
  }
}

TEST(BootImage, BlocksAndWindowsLargerThanOne) {
  // 9 MiB: two of lz4's blocks, 36 of lzop's.
  for (const std::string& compression : kCompressions) {
    const auto packed = bytes_of("large_" + compression);
    const auto unpacked = decompress_kernel(*compression_of(packed), packed, kMaxKernelSize);
    ASSERT_TRUE(unpacked) << unpacked.error().message;
    EXPECT_EQ(*unpacked, bytes_of("large_none")) << compression;
    const auto stream = decompress_stream(*compression_of(packed), packed, kMaxKernelSize);
    ASSERT_TRUE(stream);
    // The build's appended size is no part of the stream.
    EXPECT_EQ(stream->used, packed.size() - (compression == "gzip" ? 0 : 4)) << compression;
  }
}

TEST(BootImage, FlatImages) {
  struct Case {
    const char* file;
    const char* container;
    Arch arch;
    std::uint64_t text_offset;
  };
  for (const Case& each :
       {Case{"arm64_none_none", "arm64 Image", Arch::kAArch64, 0},
        Case{"arm64_none_gzip", "gzip of arm64 Image", Arch::kAArch64, 0},
        Case{"arm64_zboot_zstd", "EFI zboot image (zstd) of arm64 Image", Arch::kAArch64, 0},
        Case{"riscv64_none_none", "riscv64 Image", Arch::kRiscv64, 0x200000},
        Case{"riscv64_zboot_gzip", "EFI zboot image (gzip) of riscv64 Image", Arch::kRiscv64,
             0x200000}}) {
    const auto image = read_boot_image(bytes_of(each.file), each.file);
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(image->container, each.container);
    EXPECT_EQ(image->kind, PayloadKind::kFlat);
    EXPECT_EQ(image->arch, each.arch);
    EXPECT_EQ(image->text_offset, each.text_offset);
    EXPECT_EQ(image->memory_size, 0x5000u);
    EXPECT_EQ(image->bytes.size(), 4096u);
  }
}

TEST(BootImage, SaysWhatIsWrong) {
  const auto message = [](const std::vector<std::byte>& bytes, std::size_t max = kMaxKernelSize) {
    return read_boot_image(bytes, "vmlinuz", max).error().message;
  };
  EXPECT_EQ(message(bytes_of("bzimage_xz"), 4096),
            "vmlinuz: bzImage, xz cannot be unpacked: it holds more than 0 MiB");
  auto bytes = bytes_of("bzimage_gzip");
  bytes.resize(3000);
  EXPECT_TRUE(message(bytes).starts_with("vmlinuz is a bzImage whose kernel has "))
      << message(bytes);
  bytes = bytes_of("bzimage_gzip");
  bytes[0x207] = std::byte{1};
  EXPECT_TRUE(message(bytes).starts_with("vmlinuz is a bzImage of boot protocol 1.15,"));
  bytes = bytes_of("bzimage_gzip");
  std::fill_n(bytes.begin() + 0x24c, 4, std::byte{0});
  EXPECT_EQ(message(bytes),
            "vmlinuz is a bzImage without a compressed kernel (payload length 0 at 0x24c)");
  EXPECT_FALSE(is_boot_image(tiny_bytes()));
  EXPECT_FALSE(is_boot_image({}));
}

// A limit of 1 GiB costs the pages of buffers for it.
constexpr std::size_t kMoreThanTiny = std::size_t{1} << 20;

TEST(BootImage, EveryTruncationIsAnError) {
  for (const std::string& compression : kCompressions) {
    const auto whole = bytes_of("bzimage_" + compression);
    // Behind the headers: the bzImage's own length check would hide the decompressors'.
    const Bytes payload =
        Bytes(whole).subspan(4 * 512 + 0x2cc, whole.size() - 4 * 512 - 0x2cc - 64);
    const auto format = compression_of(payload);
    ASSERT_TRUE(format);
    ASSERT_TRUE(decompress_kernel(*format, payload, kMoreThanTiny)) << compression;
    for (std::size_t size = 0; size + 16 < payload.size(); size += size < 32 ? 1 : 61)
      EXPECT_FALSE(decompress_kernel(*format, payload.first(size), kMoreThanTiny))
          << compression << " cut at " << size;
  }
}

TEST(BootImage, NoDamageCrashes) {
  std::mt19937 random(1);
  for (const std::string& compression : kCompressions) {
    const auto whole = bytes_of("bzimage_" + compression);
    for (int round = 0; round < 20; ++round) {
      auto bytes = whole;
      for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      (void)read_boot_image(bytes, "damaged", kMoreThanTiny);
    }
  }
}

}  // namespace
}  // namespace ringside::kernel_image
