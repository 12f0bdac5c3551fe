#include "cases/extract.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "arch/arch_info.h"
#include "elf/elf_writer.h"
#include "recording/recording_test_util.h"

namespace ringside::cases {
namespace {

constexpr std::uint64_t kText = 0xffffffff81000000;

elf::Image image_at(std::uint64_t bias, std::string name) {
  elf::ElfWriter writer(Arch::kX86_64, true, 2);
  const std::vector<std::byte> code(4096, std::byte{0x90});
  writer.add_segment({kText}, code.size(), true, false, code);
  writer.set_symbols({{.name = "f", .address = {kText}, .size = code.size(), .info = 0x12}});
  return {.name = std::move(name),
          .file = *elf::ElfFile::from_bytes(writer.write(), "k"),
          .load_bias = bias};
}

// A recording comes from anywhere.
TEST(Extract, FilesOfImagesStayInTheFolderAndAreApart) {
  const recording::testing::TempDir dir;
  elf::ImageMap images;
  ExtractRequest request{images, {}, "a test", {}, {}, dir / "cases"};
  for (const char* const name : {"../outside", "/tmp/outside", "kernel", "kernel", ".hidden", ""}) {
    const std::uint64_t bias = 0x100000 * images.images().size();
    images.add(image_at(bias, name));
    wire::Capture capture;
    capture.arch = Arch::kX86_64;
    capture.level = PrivilegeLevel::kKernel;
    capture.registers.set(arch::roles_of(Arch::kX86_64).pc, kText + bias + 16);
    request.numbers.push_back(request.numbers.size());
    request.captures.push_back(std::move(capture));
  }
  static_cast<void>(extract(request));
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir / "."))
    if (entry.path().extension() == ".elf")
      files.insert(std::filesystem::relative(entry.path(), dir / ".").string());
  EXPECT_EQ(files, (std::set<std::string>{"cases/_.._outside.elf", "cases/_tmp_outside.elf",
                                          "cases/kernel.elf", "cases/kernel-2.elf",
                                          "cases/_.hidden.elf", "cases/_.elf"}));
  EXPECT_FALSE(std::filesystem::exists("/tmp/outside.elf"));
}

}  // namespace
}  // namespace ringside::cases
