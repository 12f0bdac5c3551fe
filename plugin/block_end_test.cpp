#include "plugin/block_end.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringside::plugin {
namespace {

struct Case {
  Arch arch;
  const char* text;
  std::vector<unsigned> code;
  bool expected;
};

// Encoded by llvm-mc 14.
const Case kCases[] = {
    {Arch::kX86_64, "je .+4", {0x74, 0x02}, true},
    {Arch::kI386, "je .+4", {0x74, 0x02}, true},
    {Arch::kX86_64, "jno .+2", {0x71, 0x00}, true},
    {Arch::kX86_64, "jne .-2", {0x75, 0xfc}, false},
    {Arch::kX86_64, "jg .+331", {0x0f, 0x8f, 0x45, 0x01, 0x00, 0x00}, true},
    {Arch::kX86_64, "jb .-1000", {0x0f, 0x82, 0x12, 0xfc, 0xff, 0xff}, false},
    {Arch::kX86_64, "jmp .+2", {0xeb, 0x00}, false},
    {Arch::kX86_64, "jmp .+317", {0xe9, 0x38, 0x01, 0x00, 0x00}, false},
    {Arch::kX86_64, "jrcxz .+4", {0xe3, 0x02}, false},
    {Arch::kX86_64, "loop .+2", {0xe2, 0x00}, false},
    {Arch::kX86_64, "ret", {0xc3}, false},
    {Arch::kX86_64, "call .-10", {0xe8, 0xf1, 0xff, 0xff, 0xff}, false},
    {Arch::kX86_64, "nothing", {}, false},
    {Arch::kAArch64, "b.eq .+8", {0x40, 0x00, 0x00, 0x54}, true},
    {Arch::kAArch64, "b.ne .-4", {0xe1, 0xff, 0xff, 0x54}, false},
    {Arch::kAArch64, "b.ge .", {0x0a, 0x00, 0x00, 0x54}, false},
    {Arch::kAArch64, "cbz x0, .+8", {0x40, 0x00, 0x00, 0xb4}, true},
    {Arch::kAArch64, "cbnz w1, .-12", {0xa1, 0xff, 0xff, 0x35}, false},
    {Arch::kAArch64, "cbz x0, .", {0x00, 0x00, 0x00, 0xb4}, false},
    {Arch::kAArch64, "tbz x3, #40, .+8", {0x43, 0x00, 0x40, 0xb6}, true},
    {Arch::kAArch64, "tbnz w3, #4, .-4", {0xe3, 0xff, 0x27, 0x37}, false},
    {Arch::kAArch64, "tbz w3, #1, .", {0x03, 0x00, 0x08, 0x36}, false},
    {Arch::kAArch64, "b .+4", {0x01, 0x00, 0x00, 0x14}, false},
    {Arch::kAArch64, "ret", {0xc0, 0x03, 0x5f, 0xd6}, false},
    {Arch::kAArch64, "cut off", {0x40, 0x00}, false},
    {Arch::kRiscv64, "beq a0, a1, .+8", {0x63, 0x04, 0xb5, 0x00}, true},
    {Arch::kRiscv64, "bne a0, a1, .-4", {0xe3, 0x1e, 0xb5, 0xfe}, false},
    {Arch::kRiscv64, "blt s0, s1, .", {0x63, 0x40, 0x94, 0x00}, false},
    {Arch::kRiscv64, "bgeu a0, a1, .+2180", {0xe3, 0x72, 0xb5, 0x08}, true},
    {Arch::kRiscv64, "c.beqz s0, .+4", {0x11, 0xc0}, true},
    {Arch::kRiscv64, "c.beqz s0, .+116", {0x35, 0xc8}, true},
    {Arch::kRiscv64, "c.bnez s0, .-10", {0x7d, 0xf8}, false},
    {Arch::kRiscv64, "c.beqz s0, .", {0x01, 0xc0}, false},
    {Arch::kRiscv64, "c.j .+2", {0x09, 0xa0}, false},
    {Arch::kRiscv64, "c.jr ra", {0x82, 0x80}, false},
    {Arch::kUnknown, "je .+4", {0x74, 0x02}, false},
};

TEST(BlockEnd, OnlyConditionalJumpsForwardOnlySkip) {
  for (const Case& one : kCases) {
    std::vector<std::byte> code;
    for (const unsigned byte : one.code) code.push_back(static_cast<std::byte>(byte));
    EXPECT_EQ(only_skips(one.arch, code), one.expected)
        << one.text << " of " << static_cast<int>(one.arch);
  }
}

}  // namespace
}  // namespace ringside::plugin
