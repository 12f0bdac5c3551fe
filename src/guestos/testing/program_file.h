#pragma once

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "elf/elf_writer.h"

namespace ringside::guestos::testing {

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "ringside-programs-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path path;
};

// The bytes of a program that is linked at `address`, with this .text and one function.
inline std::vector<std::byte> program_bytes(std::uint64_t address, const std::string& text,
                                            const std::string& function = "work",
                                            std::uint16_t type = ET_EXEC) {
  elf::ElfWriter writer(Arch::kX86_64, true, type);
  writer.add_segment({address}, text.size(), true, false, as_bytes(text));
  const std::uint16_t section =
      writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {address}, text.size());
  if (!function.empty())
    writer.set_symbols(
        {{function, {address}, text.size(), ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), section}});
  return writer.write();
}

// A program with a build id of 4 to 20 characters, a multiple of 4.
inline std::vector<std::byte> program_with_build_id(std::string_view build_id) {
  const std::string text = "text";
  std::string note{'\4', 0, 0, 0, static_cast<char>(build_id.size()), 0, 0, 0, NT_GNU_BUILD_ID,
                   0,    0, 0};
  note += std::string("GNU", 4) + std::string(build_id);
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({0x1000}, text.size(), true, false, as_bytes(text));
  writer.add_section(".note.gnu.build-id", SHT_NOTE, 0, {}, as_bytes(note));
  return writer.write();
}

inline void write_file(const std::filesystem::path& path, Bytes bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace ringside::guestos::testing
