#include "session/kernel/unknown_code.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/function_memory.h"
#include "elf/elf_writer.h"
#include "naming/code_match.h"
#include "session/kernel/kernel_search.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kBase = 0xffffffff80000000;
constexpr std::uint64_t kCode = kBase + 0x120000;
constexpr std::size_t kCodeBytes = 0x20000;
constexpr std::uint64_t kSecond = 1'000'000'000;

std::byte code_at(std::uint64_t offset, unsigned build) {
  std::uint64_t mixed = (offset + build * 0x1000000) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  return static_cast<std::byte>(mixed * 0xbf58476d1ce4e5b9 >> 56);
}

std::vector<std::byte> code(unsigned build = 0) {
  std::vector<std::byte> bytes(kCodeBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = code_at(i, build);
  return bytes;
}

std::shared_ptr<const elf::ElfFile> kernel(std::uint64_t address,
                                           const std::vector<std::byte>& code) {
  elf::ElfWriter writer(Arch::kX86_64, true, 2);
  writer.add_segment({address}, code.size(), true, false, code);
  return elf::ElfFile::from_bytes(writer.write(), "kernel.elf").value();
}

// All physical memory from kBase on, of which the kernel has a piece.
class UnknownCodeTest : public ::testing::Test {
 protected:
  ringside::testing::FunctionMemory memory_{
      [this](GuestVirt at, std::span<std::byte> into) -> Result<std::size_t> {
        lowest_ = std::min(lowest_, at);
        highest_ = std::max(highest_, at + into.size());
        if (at.value < kBase || at.value >= end_) return 0;
        const std::size_t size = std::min<std::uint64_t>(into.size(), end_ - at.value);
        for (std::size_t i = 0; i < size; ++i) {
          const std::uint64_t offset = at.value + i - kCode;
          into[i] = offset < code_.size() ? code_[offset] : std::byte{0};
        }
        return size;
      }};
  // Ticks until it wants to look; at most `most`.
  int ticks_until_wanted(UnknownCode& unknown, GuestVirt pc, int most = 100) {
    for (int i = 1; i <= most; ++i)
      if (unknown.wants(Arch::kX86_64, pc, now_)) return i;
    return most + 1;
  }

  std::vector<std::byte> code_ = code();
  std::uint64_t end_ = kBase + 0x8000000;
  std::uint64_t now_ = kSecond;
  GuestVirt lowest_{~0ull};
  GuestVirt highest_{0};
};

TEST_F(UnknownCodeTest, IsReadOnceItHasRunOften) {
  UnknownCode unknown;
  const GuestVirt pc{kCode + 0x100};
  EXPECT_GT(ticks_until_wanted(unknown, pc), 8);
  const auto image = unknown.poll(Arch::kX86_64, pc, memory_);
  ASSERT_TRUE(image && *image);
  EXPECT_EQ((*image)->name, elf::kKernelImage);
  EXPECT_TRUE((*image)->from_guest);
  const Bytes bytes = (*image)->file->bytes_at({kCode}, kCodeBytes);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), code_.begin(), code_.end()));
  EXPECT_GT(ticks_until_wanted(unknown, {kCode + 0x8000}, 1), 0);
}

// A PC's video memory and BIOS lie between 640 KiB and 1 MiB, and reads of the former change it.
TEST_F(UnknownCodeTest, VideoMemoryIsNotRead) {
  UnknownCode unknown;
  ASSERT_TRUE(unknown.poll(Arch::kX86_64, {kBase + 0x110000}, memory_)->has_value());
  EXPECT_GE(lowest_.value, kBase + 0x100000);
  lowest_ = {~0ull};
  highest_ = {0};
  ASSERT_TRUE(unknown.poll(Arch::kX86_64, {kBase + 0x8000}, memory_)->has_value());
  EXPECT_LE(highest_.value, kBase + 0xa0000);
  EXPECT_EQ(ticks_until_wanted(unknown, {kBase + 0xf0000}), 101);
}

TEST_F(UnknownCodeTest, WhatHasReplacedItIsReadAgain) {
  UnknownCode unknown;
  const GuestVirt pc{kCode + 0x100};
  ASSERT_TRUE(unknown.poll(Arch::kX86_64, pc, memory_)->has_value());
  EXPECT_TRUE(unknown.wants(Arch::kX86_64, pc, now_));
  EXPECT_FALSE(unknown.wants(Arch::kX86_64, pc, now_ + kSecond / 2));
  EXPECT_FALSE(unknown.poll(Arch::kX86_64, pc, memory_)->has_value());
  code_ = code(1);
  EXPECT_TRUE(unknown.wants(Arch::kX86_64, pc, now_ + 2 * kSecond));
  const auto image = unknown.poll(Arch::kX86_64, pc, memory_);
  ASSERT_TRUE(image && *image);
  EXPECT_EQ((*image)->file->bytes_at({kCode}, 1)[0], code_[0]);
}

TEST_F(UnknownCodeTest, ALaterFileIsFoundByItsCode) {
  UnknownCode unknown;
  const auto image = *unknown.poll(Arch::kX86_64, {kCode}, memory_);
  ASSERT_TRUE(image);
  const auto distance = [&](std::uint64_t linked, const std::vector<std::byte>& bytes) {
    return naming::distance_by_code(*kernel(linked, bytes), *image->file);
  };
  EXPECT_EQ(distance(kCode, code()), 0u);
  EXPECT_EQ(distance(0x100000, code()), kCode - 0x100000);
  EXPECT_EQ(distance(kCode, code(1)), std::nullopt);
  // Another build: the code behind a change has moved.
  std::vector<std::byte> moved = code();
  moved.insert(moved.begin() + kCodeBytes / 2, 64, std::byte{0x90});
  EXPECT_EQ(distance(kCode, moved), std::nullopt);
  // A kernel that has patched a word.
  std::vector<std::byte> patched = code();
  std::fill_n(patched.begin() + 0x40, 16, std::byte{0xcc});
  EXPECT_EQ(distance(kCode, patched), 0u);
}

TEST_F(UnknownCodeTest, GivenSymbolsNameItsFunctions) {
  auto list = std::make_shared<symbols::SymbolList>();
  list->symbols = {{{kCode + 0x40}, 'T', "_start", {}},
                   {{kCode + 0x80}, 'd', "table", {}},
                   {{0x1000}, 't', "elsewhere", {}}};
  UnknownCode unknown(list);
  const auto image = *unknown.poll(Arch::kX86_64, {kCode}, memory_);
  ASSERT_TRUE(image);
  ASSERT_EQ(image->file->symbols().size(), 1u);
  EXPECT_EQ(image->file->symbols()[0].name, "_start");
}

}  // namespace
}  // namespace ringside::session
