#include "session/image_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>

#include "elf/elf_writer.h"

namespace ringside::session {
namespace {

std::vector<std::byte> module_file() {
  const std::vector<std::byte> code(0x40, std::byte{0x90});
  elf::ElfWriter writer(Arch::kI386, false, ET_EXEC);
  writer.add_segment({0xe0800000}, code.size(), true, false, code);
  writer.set_symbols({{"open_disk", {0xe0800010}, 0x20, ELF32_ST_INFO(STB_GLOBAL, STT_FUNC)}});
  return writer.write();
}

TEST(ImageSymbols, NamesWhatOnlyTheGuestHeld) {
  recording::ImageInfo image;
  image.id = 2;
  image.name = "disk";
  image.arch = Arch::kI386;
  const recording::RecordedFrame frame{.address = GuestVirt{0xe0800018}, .image = 2};
  const auto name = [&](ImageSymbols& symbols) {
    profile::NamedFrame named;
    symbols.name({frame, &image, nullptr}, named);
    return named.functions;
  };
  ImageSymbols with({});
  const auto file = module_file();
  with.blob({"another kind", 2, as_bytes("?")});
  with.blob({recording::kImageFileBlob, 2, file});
  EXPECT_EQ(name(with), std::vector<std::string>{"open_disk"});
  EXPECT_TRUE(with.warnings().empty());

  ImageSymbols without({});
  EXPECT_TRUE(name(without).empty());
  ASSERT_EQ(without.warnings().size(), 1u);
  EXPECT_NE(without.warnings()[0].find("disk has no file"), std::string::npos);

  ImageSymbols damaged({});
  damaged.blob({recording::kImageFileBlob, 2, Bytes(file).first(20)});
  EXPECT_TRUE(name(damaged).empty());
  EXPECT_EQ(damaged.warnings().size(), 1u);
}

// Frames of programs and libraries have linked addresses: one name for all processes.
TEST(ImageSymbols, NamesProgramsByLinkedAddresses) {
  ImageSymbols symbols({});
  symbols.blob({recording::kSymbolsBlob, 2, module_file()});
  recording::ImageInfo library;
  library.id = 2;
  library.name = "libdisk.so";
  const auto name = [&](std::uint64_t address) {
    const recording::RecordedFrame frame{
        .address = GuestVirt{address}, .exact = true, .kind = FrameKind::kUser, .image = 2};
    profile::NamedFrame named;
    symbols.name({frame, &library, nullptr}, named);
    return named.functions;
  };
  EXPECT_EQ(name(0xe0800010), std::vector<std::string>{"open_disk"});
  EXPECT_TRUE(name(0xe0800000).empty());  // in front of it nothing has a name
}

TEST(ImageSymbols, ProgramsWithoutSymbolsAreToldTogether) {
  const std::vector<std::byte> code(0x40, std::byte{0x90});
  elf::ElfWriter writer(Arch::kX86_64, true, ET_DYN);
  writer.add_segment({0}, code.size(), true, false, code);
  ImageSymbols symbols({});
  std::uint32_t id = 1;
  for (const char* name : {"dash", "dd"}) {
    recording::ImageInfo image;
    image.id = ++id;
    image.name = name;
    symbols.blob({recording::kSymbolsBlob, id, writer.write()});
    const recording::RecordedFrame frame{.address = GuestVirt{0x18}, .image = id};
    profile::NamedFrame named;
    symbols.name({frame, &image, nullptr}, named);
    EXPECT_TRUE(named.functions.empty());
  }
  ASSERT_EQ(symbols.warnings().size(), 1u);
  EXPECT_NE(symbols.warnings()[0].find("no symbols for dash, dd:"), std::string::npos);
}

}  // namespace
}  // namespace ringside::session
