#include "guestos/linux/modules/bpf_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/testing/function_memory.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kList = 0x1000;
constexpr std::uint64_t kCode = 0x800000;
constexpr std::uint64_t kCodeSize = 0x40;

// A kernel's list of compiled code: words of `word` bytes, names of `name_bytes`.
class Guest {
 public:
  Guest(std::size_t word, std::uint64_t name_bytes) : word_(word), name_bytes_(name_bytes) {
    put_word(kList, kList);
    put_word(kList + word_, kList);
  }
  // The structure lies at 0x10000 * number, its code at kCode + 0x1000 * place.
  void load(std::uint64_t number, std::uint64_t place, std::string_view name) {
    const std::uint64_t at = 0x10000 * number;
    const std::uint64_t code = kCode + 0x1000 * place;
    put_word(at, code);
    put_word(at + word_, code + kCodeSize);
    for (std::uint64_t i = 0; i < name_bytes_; ++i)
      bytes_[at + 2 * word_ + i] = i < name.size() ? static_cast<std::byte>(name[i]) : std::byte{0};
    for (std::uint64_t i = 0; i < kCodeSize; ++i) bytes_[code + i] = static_cast<std::byte>(number);
    entries_.push_back(at + 2 * word_ + name_bytes_);
    link();
  }
  void unload(std::size_t index) {
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
    link();
  }
  void hide(std::uint64_t place) { hidden_ = kCode + 0x1000 * place; }
  void show() { hidden_ = 0; }
  // Puts other bytes where the next structure should be.
  void damage(std::uint64_t number) { bytes_[0x10000 * number + 2 * word_] = std::byte{0x7f}; }
  [[nodiscard]] std::vector<elf::Image> poll(BpfCode& code) {
    ringside::testing::FunctionMemory memory([this](GuestVirt at, std::span<std::byte> into) {
      ++reads;
      return Result<std::size_t>(read(at.value, into));
    });
    return code.poll(memory).value();
  }
  std::size_t reads = 0;

 private:
  std::size_t read(std::uint64_t at, std::span<std::byte> into) const {
    std::size_t count = 0;
    for (; count < into.size(); ++count, ++at) {
      const auto byte = bytes_.find(at);
      if (hidden_ != 0 && at >= hidden_ && at < hidden_ + kCodeSize) break;
      if (byte == bytes_.end()) break;
      into[count] = byte->second;
    }
    return count;
  }
  void put_word(std::uint64_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < word_; ++i) bytes_[at + i] = static_cast<std::byte>(value >> 8 * i);
  }
  void link() {
    std::uint64_t before = kList;
    for (const std::uint64_t entry : entries_) {
      put_word(before, entry);
      put_word(entry + word_, before);
      before = entry;
    }
    put_word(before, kList);
    put_word(kList + word_, before);
  }

  std::size_t word_;
  std::uint64_t name_bytes_;
  std::map<std::uint64_t, std::byte> bytes_;
  std::vector<std::uint64_t> entries_;
  std::uint64_t hidden_ = 0;
};

std::vector<std::string> names_of(const std::vector<elf::Image>& images) {
  std::vector<std::string> names;
  for (const elf::Image& image : images) names.push_back(image.name);
  return names;
}
using Names = std::vector<std::string>;

struct Kernel {
  Arch arch;
  std::size_t word;
  std::uint64_t name_bytes;
};
class BpfCodeTest : public ::testing::TestWithParam<Kernel> {
 protected:
  Guest guest_{GetParam().word, GetParam().name_bytes};
  BpfCode code_{{GuestVirt{kList}}, GetParam().arch};
};

TEST_P(BpfCodeTest, EachProgramIsAnImageOfItsCode) {
  guest_.load(3, 0, "bpf_prog_0123456789abcdef_one");
  const auto images = guest_.poll(code_);
  ASSERT_EQ(names_of(images), Names{"bpf_prog_0123456789abcdef_one"});
  const elf::ElfFile& file = *images.front().file;
  ASSERT_EQ(file.symbols().size(), 1u);
  EXPECT_EQ(file.symbols().front().name, "bpf_prog_0123456789abcdef_one");
  EXPECT_EQ(file.symbols().front().address, ImageAddr{kCode});
  EXPECT_EQ(file.symbols().front().size, kCodeSize);
  EXPECT_TRUE(file.is_code({kCode}));
  EXPECT_FALSE(file.is_code({kCode + kCodeSize}));
  EXPECT_EQ(file.bytes_at({kCode}, 1).front(), std::byte{3});
  EXPECT_TRUE(images.front().from_guest);
}

TEST_P(BpfCodeTest, OnlyWhatIsNewComes) {
  EXPECT_TRUE(guest_.poll(code_).empty());
  guest_.load(3, 0, "bpf_prog_1_one");
  guest_.load(4, 1, "bpf_trampoline_7");
  EXPECT_EQ(names_of(guest_.poll(code_)), (Names{"bpf_prog_1_one", "bpf_trampoline_7"}));
  guest_.reads = 0;
  EXPECT_TRUE(guest_.poll(code_).empty());
  EXPECT_EQ(guest_.reads, 1u);
  guest_.load(5, 2, "bpf_prog_2_two");
  EXPECT_EQ(names_of(guest_.poll(code_)), Names{"bpf_prog_2_two"});
  // Another program in the place of the first, structure and code.
  guest_.unload(0);
  EXPECT_TRUE(guest_.poll(code_).empty());
  guest_.load(3, 0, "bpf_prog_3_three");
  EXPECT_EQ(names_of(guest_.poll(code_)), Names{"bpf_prog_3_three"});
}

TEST_P(BpfCodeTest, CodeThatCannotBeReadComesLater) {
  guest_.load(3, 0, "bpf_prog_1_one");
  guest_.load(4, 1, "bpf_prog_2_two");
  guest_.hide(0);
  EXPECT_EQ(names_of(guest_.poll(code_)), Names{"bpf_prog_2_two"});
  guest_.show();
  EXPECT_EQ(names_of(guest_.poll(code_)), Names{"bpf_prog_1_one"});
}

TEST_P(BpfCodeTest, WhatIsNoProgramEndsTheList) {
  guest_.load(3, 0, "bpf_prog_1_one");
  guest_.load(4, 1, "bpf_prog_2_two");
  guest_.damage(4);
  EXPECT_EQ(names_of(guest_.poll(code_)), Names{"bpf_prog_1_one"});
  EXPECT_TRUE(guest_.poll(code_).empty());
}

INSTANTIATE_TEST_SUITE_P(Kernels, BpfCodeTest,
                         ::testing::Values(Kernel{Arch::kX86_64, 8, 512},
                                           Kernel{Arch::kAArch64, 8, 128},
                                           Kernel{Arch::kI386, 4, 512}));

TEST(BpfCode, OfSeveralPlacesOneIsTheList) {
  Guest guest(8, 512);
  BpfCode code({GuestVirt{0x2000}, GuestVirt{0x30000}, GuestVirt{kList}}, Arch::kX86_64);
  EXPECT_TRUE(guest.poll(code).empty());
  guest.load(3, 0, "bpf_prog_1_one");
  EXPECT_EQ(names_of(guest.poll(code)), Names{"bpf_prog_1_one"});
  BpfCode none({}, Arch::kX86_64);
  EXPECT_TRUE(guest.poll(none).empty());
}

}  // namespace
}  // namespace ringside::guestos
