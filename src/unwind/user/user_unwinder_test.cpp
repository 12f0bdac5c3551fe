#include "unwind/user/user_unwinder.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "arch/registers.h"
#include "arch/x86.h"
#include "elf/elf_writer.h"

namespace ringside::unwind {
namespace {

constexpr std::uint64_t kCode = 0x10000;
constexpr std::uint64_t kStubs = kCode + 0x400;
constexpr std::uint64_t kStubsSize = 0x60;
constexpr std::uint64_t kSp = 0x7fff'f000;

class LinkRegister : public ::testing::TestWithParam<Arch> {
 protected:
  LinkRegister() { load(); }
  // A program with a procedure linkage table, and no call-frame information.
  void load() {
    const std::vector<std::byte> code(0x1000);
    elf::ElfWriter writer(GetParam(), true, ET_EXEC);
    writer.add_segment({kCode}, code.size(), true, false, code);
    writer.map_section(".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {kStubs}, kStubsSize);
    auto file = elf::ElfFile::from_bytes(writer.write(), "program");
    EXPECT_TRUE(file);
    if (!file) return;
    files_.push_back(*file);
    code_ = UserCode({{{kCode}, {kCode + code.size()}, 0, 1, *file}});
  }
  [[nodiscard]] Stack unwind(std::uint64_t pc) {
    const arch::RegisterRoles roles = arch::roles_of(GetParam());
    arch::Registers registers;
    registers.set(roles.pc, pc);
    registers.set(roles.sp, kSp);
    registers.set(roles.link, kCode + 0x104);
    wire::Capture capture;
    capture.arch = GetParam();
    capture.level = PrivilegeLevel::kUser;
    return unwinder_.unwind(GetParam(), registers, capture, code_);
  }

  std::vector<std::weak_ptr<const elf::ElfFile>> files_;
  UserCode code_;
  UserUnwinder unwinder_;
};

TEST_P(LinkRegister, AStubOfTheLinkageTableHasItsCallersState) {
  for (const std::uint64_t pc : {kStubs + 0x20, kStubs + 0x3c, kStubs + kStubsSize - 4}) {
    const Stack stack = unwind(pc);
    ASSERT_EQ(stack.frames.size(), 2u) << pc;
    EXPECT_EQ(stack.frames[1].address.value, kCode + 0x104);
    EXPECT_EQ(stack.frames[1].source, FrameSource::kInstructions);
    EXPECT_EQ(stack.stop, StopReason::kNoRule);  // nothing describes the caller
    EXPECT_EQ(stack.stopped_at.value, kCode + 0x104);
  }
}

TEST_P(LinkRegister, OtherCodeHasNoRule) {
  for (const std::uint64_t pc : {kStubs - 4, kStubs, kStubs + 0x1c, kStubs + kStubsSize}) {
    const Stack stack = unwind(pc);
    EXPECT_EQ(stack.frames.size(), 1u) << pc;
    EXPECT_EQ(stack.stop, StopReason::kNoRule);
  }
}

TEST_P(LinkRegister, FilesThatWereUsedLongAgoAreForgotten) {
  constexpr std::size_t kFile = 100 * 1024;  // more than one takes, with its rules
  unwinder_ = UserUnwinder(512, 10 * kFile);
  const auto unwinds = [this] { return unwind(kStubs + 0x20).frames.size() == 2; };
  const UserCode library = code_;
  for (int i = 0; i < 100; ++i) {
    load();
    EXPECT_TRUE(unwinds());
    code_ = library;
    EXPECT_TRUE(unwinds());
  }
  const auto alive =
      std::count_if(files_.begin(), files_.end(), [](const auto& file) { return !file.expired(); });
  EXPECT_GE(alive, 5);
  EXPECT_LE(alive, 20);
}

INSTANTIATE_TEST_SUITE_P(Architectures, LinkRegister,
                         ::testing::Values(Arch::kAArch64, Arch::kRiscv64),
                         [](const auto& arch) { return std::string(arch::name_of(arch.param)); });

// 32-bit code on an x86_64 kernel. `outer` leaves its frame pointer to `inner`, which saves it:
//     outer:  push %ebp;  mov %esp,%ebp;  sub %eax,%esp;  call inner;  leave;  ret
//     inner:  push %ebp;  xor %ebp,%ebp;  nop;  pop %ebp;  ret
class CompatTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kInner = kCode + 0x10;
  static constexpr std::uint64_t kPc = kInner + 3;         // the nop
  static constexpr std::uint64_t kReturn = kCode + 0xa;    // in outer
  static constexpr std::uint64_t kCompatSp = 0xffff'd000;  // in the upper half of 4 GiB
  static constexpr std::uint32_t kStack[] = {kCompatSp + 16, kReturn, 0, 0, 0, 0};

  CompatTest() {
    static constexpr unsigned char kBytes[] = {
        0x55, 0x89, 0xe5, 0x29, 0xc4, 0xe8, 6,    0,    0,    0,   0xc9, 0xc3,  // outer
        0x90, 0x90, 0x90, 0x90, 0x55, 0x31, 0xed, 0x90, 0x5d, 0xc3};
    const Bytes code = std::as_bytes(std::span(kBytes));
    elf::ElfWriter writer(Arch::kI386, false, ET_EXEC);
    writer.add_segment({kCode}, code.size(), true, false, code);
    const auto text =
        writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {kCode}, code.size());
    writer.set_symbols(
        {{"outer", {kCode}, 12, STT_FUNC, text}, {"inner", {kInner}, 6, STT_FUNC, text}});
    auto file = elf::ElfFile::from_bytes(writer.write(), "program");
    EXPECT_TRUE(file);
    if (file) code_ = UserCode({{{kCode}, {kCode + 0x1000}, 0, 1, *file}});
    capture_.arch = Arch::kX86_64;
    capture_.level = PrivilegeLevel::kUser;
    capture_.registers.set(arch::x86_64::kRip, kPc);
    capture_.registers.set(arch::x86_64::kRsp, kCompatSp);
    capture_.registers.set(arch::x86_64::kRbp, 0);
    const Bytes stack = std::as_bytes(std::span(kStack));
    capture_.bytes.assign(stack.begin(), stack.end());
    const auto size = static_cast<std::uint32_t>(stack.size());
    capture_.pieces.push_back({{kCompatSp}, wire::PieceKind::kUserStack, size, 0, size});
  }
  [[nodiscard]] Stack unwind() {
    return UserUnwinder().unwind(Arch::kI386, arch::low_halves(capture_.registers), capture_,
                                 code_);
  }

  UserCode code_;
  wire::Capture capture_;
};

TEST_F(CompatTest, TheStackHasWordsOf4Bytes) {
  const Stack stack = unwind();
  ASSERT_EQ(stack.frames.size(), 2u);
  EXPECT_EQ(stack.frames[0].address.value, kPc);
  EXPECT_EQ(stack.frames[1].address.value, kReturn);
  EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
}

// i386's stack pointer has the number that x86_64's rsi has.
TEST_F(CompatTest, WhatLiesBelowTheStackPointerIsDecidedByTheCapturesOwn) {
  capture_.registers.set(arch::x86_64::kRsi, kCompatSp + 0x800);
  EXPECT_EQ(unwind().frames.size(), 2u);
}

TEST_P(LinkRegister, WithoutAStackPointerThePcIsAllThatIsReported) {
  arch::Registers registers;
  registers.set(arch::roles_of(GetParam()).pc, kStubs + 0x20);
  wire::Capture capture;
  capture.arch = GetParam();
  capture.level = PrivilegeLevel::kKernel;
  const Stack stack = unwinder_.unwind(GetParam(), registers, capture, code_);
  ASSERT_EQ(stack.frames.size(), 1u);
  EXPECT_EQ(stack.stop, StopReason::kLostRegister);
  EXPECT_EQ(unwinder_.unwind(GetParam(), {}, capture, code_).frames.size(), 0u);
}

TEST_F(CompatTest, CodeOfAnUnknownArchitectureIsOneFrame) {
  const Stack stack = UserUnwinder().unwind(Arch::kUnknown, capture_.registers, capture_, code_);
  ASSERT_EQ(stack.frames.size(), 1u);
  EXPECT_EQ(stack.frames[0].address.value, kPc);
  EXPECT_EQ(stack.frames[0].image, 1u);
  EXPECT_EQ(stack.stop, StopReason::kNoRule);
}

}  // namespace
}  // namespace ringside::unwind
