#include "elf/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "elf/code_hash.h"
#include "elf/elf_writer.h"
#include "elf/image_map.h"

namespace ringside::elf {
namespace {

std::vector<std::byte> bytes_of(const std::string& name) {
  std::ifstream stream(std::string(RINGSIDE_ELF_PROGRAMS) + "/" + name, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::byte> bytes(chars.size());
  std::transform(chars.begin(), chars.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::shared_ptr<const ElfFile> open(const std::string& name) {
  auto file = ElfFile::open(std::string(RINGSIDE_ELF_PROGRAMS) + "/" + name);
  EXPECT_TRUE(file) << file.error().message;
  return file ? *file : nullptr;
}

// Everything that a reader may ask of a file.
void touch(const ElfFile& file) {
  (void)file.symbols();
  (void)file.build_id_hex();
  (void)file.symbol_named("linux_banner");
  for (const char* name : {".text", ".eh_frame", ".debug_text", ".debug_frame"})
    (void)file.section(name);
  (void)file.bytes_at(file.entry(), 64);
  (void)file.is_code(file.entry());
}

TEST(ElfFile, ReadsWhatALinkerWrote) {
  const auto file = open("tiny");
  EXPECT_EQ(file->arch(), Arch::kX86_64);
  EXPECT_TRUE(file->is_64());
  EXPECT_EQ(file->build_id_hex(), "0123456789abcdef");
  const auto text = file->section(".text");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->address, file->entry());
  EXPECT_EQ(std::to_integer<int>(file->bytes_at(file->entry(), 1)[0]), 0x90);
  EXPECT_TRUE(file->is_code(file->entry()));
  EXPECT_FALSE(file->is_code({0}));
  EXPECT_TRUE(file->bytes_at({0x10}, 4).empty());
  EXPECT_FALSE(file->section(".nothing"));
}

TEST(ElfFile, FunctionsAndLabelsAreSorted) {
  const auto file = open("tiny");
  const auto& symbols = file->symbols();
  EXPECT_TRUE(std::is_sorted(symbols.begin(), symbols.end(),
                             [](const auto& a, const auto& b) { return a.address < b.address; }));
  const auto named = [&](std::string_view name) {
    return std::find_if(symbols.begin(), symbols.end(),
                        [&](const FunctionSymbol& s) { return s.name == name; });
  };
  ASSERT_NE(named("_start"), symbols.end());
  EXPECT_EQ(named("_start")->size, 2u);
  ASSERT_NE(named("asm_label"), symbols.end());
  EXPECT_FALSE(named("asm_label")->is_function);
  EXPECT_EQ(named("a_weak_alias")->binding, SymbolBinding::kWeak);
  EXPECT_EQ(named("linux_banner"), symbols.end());
  EXPECT_TRUE(file->symbol_named("linux_banner"));
}

TEST(ElfFile, CompressedSectionsAreDecompressed) {
  const auto compressed = open("tiny_compressed");
  const auto section = compressed->section(".debug_text");
  ASSERT_TRUE(section);
  EXPECT_EQ(section->bytes.size(), 4000u);
  EXPECT_TRUE(std::all_of(section->bytes.begin(), section->bytes.end(),
                          [](std::byte b) { return b == std::byte{0x41}; }));
  EXPECT_EQ(compressed->section(".debug_text")->bytes.size(), 4000u);  // a second time
}

// As eu-elfcompress --force --name=.symtab --name=.strtab makes them.
TEST(ElfFile, CompressedSymbolsAreRead) {
  std::vector<std::byte> bytes = bytes_of("tiny");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const std::size_t place = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + place, sizeof(section));
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_STRTAB) continue;
    if (i == header.e_shstrndx) continue;
    const Elf64_Chdr head{ELFCOMPRESS_ZLIB, 0, section.sh_size, section.sh_addralign};
    std::vector<std::byte> packed(sizeof(head) + ::compressBound(section.sh_size));
    std::memcpy(packed.data(), &head, sizeof(head));
    uLongf size = packed.size() - sizeof(head);
    ASSERT_EQ(::compress(reinterpret_cast<Bytef*>(packed.data() + sizeof(head)), &size,
                         reinterpret_cast<const Bytef*>(bytes.data() + section.sh_offset),
                         section.sh_size),
              Z_OK);
    section.sh_flags |= SHF_COMPRESSED;
    section.sh_offset = bytes.size();
    section.sh_size = sizeof(head) + size;
    packed.resize(section.sh_size);
    bytes.insert(bytes.end(), packed.begin(), packed.end());
    std::memcpy(bytes.data() + place, &section, sizeof(section));
  }
  const auto file = ElfFile::from_bytes(std::move(bytes), "packed");
  ASSERT_TRUE(file) << file.error().message;
  const auto plain = open("tiny");
  ASSERT_FALSE(plain->symbols().empty());
  ASSERT_EQ((*file)->symbols().size(), plain->symbols().size());
  for (std::size_t i = 0; i < plain->symbols().size(); ++i) {
    EXPECT_EQ((*file)->symbols()[i].name, plain->symbols()[i].name);
    EXPECT_EQ((*file)->symbols()[i].address, plain->symbols()[i].address);
  }
}

TEST(ElfFile, ThirtyTwoBits) {
  const auto file = open("tiny32");
  EXPECT_EQ(file->arch(), Arch::kI386);
  EXPECT_FALSE(file->is_64());
  EXPECT_FALSE(file->symbols().empty());
}

TEST(ElfFile, SaysWhatIsWrong) {
  const auto message = [](std::vector<std::byte> bytes) {
    return ElfFile::from_bytes(std::move(bytes), "vmlinuz").error().message;
  };
  EXPECT_EQ(message({}), "vmlinuz is not an ELF file: no ELF magic at offset 0");
  auto big_endian = bytes_of("tiny");
  big_endian[5] = std::byte{2};
  EXPECT_NE(message(big_endian).find("big endian"), std::string::npos);
  auto strange = bytes_of("tiny");
  strange[4] = std::byte{9};
  EXPECT_NE(message(strange).find("unknown ELF class 9 at offset 0x4"), std::string::npos);
  auto truncated = bytes_of("tiny");
  truncated.resize(truncated.size() / 2);
  EXPECT_NE(message(truncated).find("truncated"), std::string::npos);
  EXPECT_FALSE(ElfFile::open("/nonexistent/vmlinux"));
}

TEST(ElfFile, NoTruncationCrashes) {
  const auto whole = bytes_of("tiny");
  for (std::size_t size = 0; size < whole.size(); size += size < 512 ? 1 : 61) {
    const auto file = ElfFile::from_bytes({whole.begin(), whole.begin() + size}, "cut");
    if (file) touch(**file);
  }
}

TEST(ElfFile, NoDamageCrashes) {
  const auto whole = bytes_of("tiny_compressed");
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    auto bytes = whole;
    for (int i = 0; i < 8; ++i) {
      // Headers lie at both ends.
      const std::size_t at =
          random() % 2 == 0 ? random() % 256 : bytes.size() - 1 - random() % 1500;
      bytes[at] = static_cast<std::byte>(random());
    }
    const auto file = ElfFile::from_bytes(std::move(bytes), "damaged");
    if (file) touch(**file);
  }
}

TEST(ImageMap, FindsByAddressAndBias) {
  const auto file = open("tiny");
  ImageMap map;
  constexpr std::uint64_t kBias = 0xffffffff00000000;
  const Image& image = map.add({.id = 3, .name = "kernel", .file = file, .load_bias = kBias});
  const GuestVirt entry{file->entry().value + kBias};
  EXPECT_EQ(map.find(entry), &image);
  EXPECT_EQ(map.find_code(entry), &image);
  EXPECT_EQ(image.to_image(entry), file->entry());
  EXPECT_EQ(map.find({file->entry().value}), nullptr);
  const GuestVirt banner = image.to_guest(file->symbol_named("linux_banner")->address);
  EXPECT_EQ(map.find(banner), &image);
  EXPECT_EQ(map.find_code(banner), nullptr);
}

TEST(ImageMap, WhatIsRemovedLiesNowhereAndItsFileIsClosed) {
  auto file = open("tiny");
  const std::weak_ptr<const ElfFile> watched = file;
  const GuestVirt entry{file->entry().value};
  ImageMap map;
  map.add({.id = 1, .name = "kernel", .file = std::move(file), .load_bias = 0});
  const std::uint64_t generation = map.generation();
  map.remove_all_but(nullptr);
  EXPECT_GT(map.generation(), generation);
  EXPECT_EQ(map.find(entry), nullptr);
  EXPECT_TRUE(map.images().empty());
  EXPECT_TRUE(watched.expired());
  const Image& after = map.add({.id = 2, .name = "kernel", .file = open("tiny"), .load_bias = 4});
  EXPECT_EQ(map.find(entry + 4), &after);
}

TEST(ImageMap, OneImageMayStayWhereItIs) {
  const auto file = open("tiny");
  ImageMap map;
  const Image& kept = map.add({.id = 1, .name = "kernel", .file = file, .load_bias = 0});
  map.add({.id = 2, .name = "module", .file = file, .load_bias = 0});
  map.remove_all_but(&kept);
  EXPECT_EQ(map.images().size(), 1u);
  EXPECT_EQ(map.find(GuestVirt{file->entry().value}), &kept);
}

TEST(CodeHash, IsThatOfTheCodeAlone) {
  const auto hash = [](std::uint64_t address, std::byte code, std::byte data) {
    const std::vector<std::byte> text(64, code);
    const std::vector<std::byte> bytes(64, data);
    ElfWriter writer(Arch::kX86_64, true, 2);
    writer.add_segment({address}, text.size(), true, false, text);
    writer.add_segment({address + 0x1000}, bytes.size(), false, true, bytes);
    return code_hash(**ElfFile::from_bytes(writer.write(), "a"));
  };
  const auto first = hash(0x1000, std::byte{1}, std::byte{2});
  EXPECT_NE(first, 0u);
  EXPECT_EQ(first, hash(0x1000, std::byte{1}, std::byte{3}));
  EXPECT_NE(first, hash(0x1000, std::byte{2}, std::byte{2}));
  EXPECT_NE(first, hash(0x2000, std::byte{1}, std::byte{2}));
}

}  // namespace
}  // namespace ringside::elf
