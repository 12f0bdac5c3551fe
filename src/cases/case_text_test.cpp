#include <gtest/gtest.h>

#include "cases/capture_text.h"
#include "cases/entry_text.h"
#include "cases/register_names.h"

namespace ringside::cases {
namespace {

// Written by hand, in the words of tests/unwind-cases/README.md.
constexpr const char* kRegisters =
    "arch aarch64\nlevel kernel\nvcpu 2\ntime_ns 1234\nweight 1\n"
    "x0 0x0\nx30 0xffff800008000100\nsp 0xffff80000a003f00\npc 0xffff800008001234\ncpsr 0x3c5\n";

TEST(CaptureText, RegistersAreReadByName) {
  const auto capture = parse_registers({kRegisters, "registers"});
  ASSERT_TRUE(capture) << capture.error().message;
  EXPECT_EQ(capture->arch, Arch::kAArch64);
  EXPECT_EQ(capture->level, PrivilegeLevel::kKernel);
  EXPECT_EQ(capture->vcpu.value, 2);
  EXPECT_EQ(capture->host_time_ns, 1234u);
  EXPECT_EQ(capture->registers.get(arch::aarch64::kSp), 0xffff80000a003f00u);
  EXPECT_EQ(capture->registers.get(arch::aarch64::kPc), 0xffff800008001234u);
  EXPECT_TRUE(capture->registers.has(0));
  EXPECT_FALSE(capture->registers.has(1));
  EXPECT_EQ(registers_text(*capture), kRegisters);
}

TEST(CaptureText, ErrorsNameTheLine) {
  const auto wrong = parse_registers({"arch x86_64\n\nrix 0x5\n", "d/registers"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "d/registers:3: unknown name 'rix' or wrong value '0x5'");
  EXPECT_FALSE(parse_registers({"vcpu 1\n", "r"}));            // no architecture
  EXPECT_FALSE(parse_registers({"arch x86_64\nrip\n", "r"}));  // no value
  EXPECT_FALSE(parse_registers({"arch x86_64\nvcpu 65536\n", "r"}));
}

TEST(RegisterNames, EachNumberHasOneName) {
  for (const Arch arch : {Arch::kX86_64, Arch::kI386, Arch::kAArch64, Arch::kRiscv64})
    for (std::size_t n = 0; n < arch::kRegisterCount; ++n)
      EXPECT_EQ(register_number(arch, register_name(arch, n)), n) << register_name(arch, n);
  EXPECT_EQ(register_number(Arch::kX86_64, "rsp"), arch::x86_64::kRsp);
  EXPECT_EQ(register_number(Arch::kI386, "esi"), arch::i386::kEsi);
  EXPECT_EQ(register_number(Arch::kRiscv64, "s11"), arch::riscv64::kS11);
  EXPECT_EQ(register_number(Arch::kRiscv64, "a0"), arch::riscv64::kA0);
  EXPECT_FALSE(register_number(Arch::kX86_64, "wire64"));
  EXPECT_FALSE(register_number(Arch::kX86_64, ""));
}

TEST(EntryText, LayoutsAreNumbered) {
  const char* text =
      "layout 1 sp+0 rsp=152 rip=128 cs=136\n"
      "0xffffffff81a00ae0 0xffffffff81a00b00 1\n"
      "0xffffffff81a00b00 0xffffffff81a00b40 1\n"
      "0xffffffff81001b40 0xffffffff81001b70 ends\n"
      "layout 2 fp-16 rip=128 calls\n"
      "0xffffffff81002b40 0xffffffff81002b70 2\n";
  const auto entries = parse_entries(text, Arch::kX86_64, "entries");
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 4u);
  EXPECT_EQ((*entries)[1].start.value, 0xffffffff81a00b00u);
  EXPECT_EQ((*entries)[1].frame.offsets[arch::x86_64::kRip], 128);
  EXPECT_FALSE((*entries)[1].frame.saves(arch::x86_64::kRbp));
  EXPECT_EQ((*entries)[2].below, unwind::TrapFrameLayout::Below::kNothing);
  EXPECT_FALSE((*entries)[1].calls_only);
  EXPECT_TRUE((*entries)[3].calls_only);
  EXPECT_EQ((*entries)[3].base, unwind::TrapFrameLayout::Base::kFramePointer);
  EXPECT_EQ((*entries)[3].base_offset, -16);
  EXPECT_EQ(entries_text(*entries, Arch::kX86_64), text);
}

TEST(EntryText, KeepsEveryField) {
  using unwind::TrapFrameLayout;
  const std::vector<TrapFrameLayout> entries = {
      {.start = {0x10},
       .end = {0x20},
       .below = TrapFrameLayout::Below::kCaller,
       .base = TrapFrameLayout::Base::kFramePointer,
       .base_offset = -8,
       .return_in = arch::x86_64::kRsi,
       .overrides = true,
       .skips_own_words = true},
      {.start = {0x20}, .end = {0x28}, .below = TrapFrameLayout::Below::kUser, .base_offset = 16},
      {.start = {0x28}, .end = {0x30}, .keeps_registers = true}};
  const auto back = parse_entries(entries_text(entries, Arch::kX86_64), Arch::kX86_64, "entries");
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), 3u);
  EXPECT_EQ((*back)[0].below, TrapFrameLayout::Below::kCaller);
  EXPECT_EQ((*back)[0].base, TrapFrameLayout::Base::kFramePointer);
  EXPECT_EQ((*back)[0].base_offset, -8);
  EXPECT_EQ((*back)[0].return_in, arch::x86_64::kRsi);
  EXPECT_TRUE((*back)[0].overrides);
  EXPECT_TRUE((*back)[0].skips_own_words);
  EXPECT_EQ((*back)[1].below, TrapFrameLayout::Below::kUser);
  EXPECT_EQ((*back)[1].base_offset, 16);
  EXPECT_FALSE((*back)[1].overrides);
  EXPECT_FALSE((*back)[1].keeps_registers);
  EXPECT_TRUE((*back)[2].keeps_registers);
}

TEST(EntryText, WrongLinesAreNamed) {
  for (const char* text :
       {"0x2 0x1 ends", "0x1 0x2 7", "0x1 0x2", "layout 1", "layout 1 xx+0",
        "layout 1 sp+0 rip=", "layout 1 sp+0 rip=99999", "layout 1 sp+0 foo=1", "ends"}) {
    const auto entries = parse_entries(text, Arch::kX86_64, "entries");
    ASSERT_FALSE(entries) << text;
    EXPECT_EQ(entries.error().message.find("entries:1: "), 0u) << entries.error().message;
  }
}

}  // namespace
}  // namespace ringside::cases
