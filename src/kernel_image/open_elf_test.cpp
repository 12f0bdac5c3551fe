#include "kernel_image/open_elf.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"

namespace ringside::kernel_image {
namespace {

std::string path_of(const std::string& name) {
  return std::string(RINGSIDE_BOOT_IMAGES) + "/" + name;
}

std::vector<std::byte> bytes_of(const std::string& name) {
  const auto file = MappedFile::open(path_of(name)).value();
  return {file->bytes().begin(), file->bytes().end()};
}

TEST(OpenElf, ABootImageIsUnpacked) {
  const auto file = open_elf(path_of("bzimage_lz4"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->name(), path_of("bzimage_lz4"));
  EXPECT_EQ((*file)->build_id_hex(), "0123456789abcdef");
  EXPECT_FALSE((*file)->symbols().empty());
  EXPECT_FALSE((*file)->is_on_disk());
  const auto same = elf_from_bytes(bytes_of("bzimage_lz4"), "vmlinuz");
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ((*same)->build_id_hex(), "0123456789abcdef");
}

TEST(OpenElf, AnElfFileIsAsItIs) {
  const auto file = open_elf("/proc/self/exe");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE((*file)->is_on_disk());
}

TEST(OpenElf, SaysWhatIsWrong) {
  const auto message = [](std::vector<std::byte> bytes) {
    return elf_from_bytes(std::move(bytes), "vmlinuz").error().message;
  };
  EXPECT_EQ(message({}), "vmlinuz is not an ELF file: no ELF magic at offset 0");
  EXPECT_EQ(message(bytes_of("arm64_zboot_zstd")),
            "vmlinuz is a kernel without ELF headers (EFI zboot image (zstd) of arm64 Image); give "
            "its vmlinux with --kernel");
  std::vector<std::byte> bzimage(1024);
  std::memcpy(bzimage.data() + 0x202, "HdrS", 4);
  EXPECT_EQ(
      message(bzimage),
      "vmlinuz is a bzImage of boot protocol 0.00, which does not say where the kernel is (2.08 "
      "does, Linux 2.6.26 and later); give its vmlinux with --kernel");
  EXPECT_FALSE(open_elf("/nonexistent/vmlinux"));
}

}  // namespace
}  // namespace ringside::kernel_image
