// Where functions without symbols may begin, and what their frames are, in code written by hand.

#include "unwind/x86/called_functions.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "arch/arch_info.h"
#include "elf/elf_writer.h"
#include "unwind/x86/call_site.h"
#include "unwind/x86/padding.h"

namespace ringside::unwind::x86 {
namespace {

using namespace std::string_view_literals;

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::shared_ptr<const elf::ElfFile> file_of(std::string_view code, std::uint64_t address,
                                            Arch arch) {
  elf::ElfWriter writer(arch, arch == Arch::kX86_64, ET_EXEC);
  writer.add_segment({address}, code.size(), true, false, bytes_of(code));
  auto file = elf::ElfFile::from_bytes(writer.write(), "code");
  EXPECT_TRUE(file) << file.error().message;
  return *file;
}

std::string padded(std::string_view code, char with, std::size_t size) {
  std::string text(code);
  text.resize(size, with);
  return text;
}

TEST(Padding, HasTheFormsOfCompilersAndOfTheAssembler) {
  for (const std::string_view form :
       {"\x90"sv, "\x66\x90"sv, "\x0f\x1f\x00"sv, "\x0f\x1f\x44\x00\x00"sv,
        "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"sv, "\x8d\x76\x00"sv,
        "\x8d\xb4\x26\x00\x00\x00\x00"sv}) {
    EXPECT_TRUE(begins_with_padding(bytes_of(form))) << form.size();
    EXPECT_TRUE(ends_with_padding(bytes_of(form))) << form.size();
  }
  for (const std::string_view code : {""sv, "\x66"sv, "\x8d\x76"sv, "\x0f\x1f"sv, "\x55"sv}) {
    EXPECT_FALSE(begins_with_padding(bytes_of(code)));
    EXPECT_FALSE(ends_with_padding(bytes_of(code)));
  }
}

// Nothing but padding in front of it says where the second function begins.
TEST(FunctionStarts, AreBehindPaddingAndAtACodesStart) {
  const std::string first = "\x53\x5b\xc3" + std::string("\x8d\xb4\x26\x00\x00\x00\x00", 7);
  const std::string code =
      first + std::string("\x8d\xb6\x00\x00\x00\x00", 6) + std::string("\x53\x31\xc0\x5b\xc3");
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x1000}}) {
    const auto file = file_of(code, address, Arch::kI386);
    const FunctionStarts starts(*file);
    const auto found = starts.find_padded({address + 17});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].start, (ImageAddr{address + 16}));
    EXPECT_EQ(found[0].size, 5u);
    EXPECT_EQ(found[1].start, (ImageAddr{address}));
    EXPECT_TRUE(starts.find_padded({address + code.size()}).empty());
    EXPECT_TRUE(starts.find_around({address + 17}).empty());
  }
}

TEST(FunctionStarts, AtTheTopOfTheAddressSpace) {
  const std::string code = padded("\xe8\xfb\xff\xff\xff\xc3", '\x90', 64);
  const std::uint64_t address = 0 - std::uint64_t{64};
  const auto file = file_of(code, address, Arch::kX86_64);
  const FunctionStarts starts(*file);
  EXPECT_EQ(starts.find_around({address + 63}).size(), 1u);
  EXPECT_FALSE(starts.find_padded({address + 63}).empty());
}

TEST(CalledFrom, ReadsTheCallsTarget) {
  const std::string code = padded("\x90\xe8\x0a\x00\x00\x00\xff\xd0"sv, '\x90', 32);
  const auto file = file_of(code, 0x1000, Arch::kX86_64);
  EXPECT_EQ(called_from(*file, {0x1006}), (ImageAddr{0x1010}));
  EXPECT_EQ(called_from(*file, {0x1008}), std::nullopt);
  EXPECT_EQ(called_from(*file, {0x1002}), std::nullopt);
  EXPECT_TRUE(follows_call(*file, {0x1008}));
  EXPECT_FALSE(follows_call(*file, {0x1004}));
}

// sub $8, %esp; push %eax; call 1f; add $8, %esp; ret; and, aligned, "ret $4" behind a loop.
TEST(CalledFunctions, CalleesOnI386PopTheirArguments) {
  const std::string code =
      padded("\x83\xec\x08\x50\xe8\x17\x00\x00\x00\x83\xc4\x08\xc3"sv, '\x90', 32) +
      std::string("\x49\x75\xfd\xc2\x04\x00\xe8\xd5\xff\xff\xff", 11);
  const auto file = file_of(code, 0x1000, Arch::kI386);
  Decoder decoder(arch::kI386Info);
  CalledFunctions functions(*file, arch::kI386Info, decoder);
  const auto depth_at = [&](std::uint64_t at) {
    const auto& frames = functions.frames_at({at});
    return frames.empty() ? 0 : frames.front().state.depth;
  };
  EXPECT_EQ(depth_at(0x1004), 16);  // two words of its own, the argument, the return address
  EXPECT_EQ(depth_at(0x1009), 12);
  EXPECT_EQ(depth_at(0x100c), 4);
}

// lea 4(%esp), %ecx; and $-16, %esp; push -4(%ecx); push %ebp; mov %esp, %ebp; push %ecx; nop;
// mov -4(%ebp), %ecx; leave; lea -4(%ecx), %esp; ret
TEST(CalledFunctions, ARealignedStackIsFoundByItsRegister) {
  const std::string code =
      "\x8d\x4c\x24\x04\x83\xe4\xf0\xff\x71\xfc\x55\x89\xe5\x51\x90\x8b\x4d\xfc\xc9\x8d\x61\xfc"
      "\xc3";
  const auto file = file_of(padded(code, '\x90', 32), 0x1000, Arch::kI386);
  Decoder decoder(arch::kI386Info);
  const FrameAnalysis analysis(*file, CodeUnit{{{{0x1000}, code.size()}}, false}, arch::kI386Info,
                               decoder);
  const auto cfa_at = [&](std::uint64_t at) {
    const auto state = analysis.at({at});
    const auto rule = state ? rule_of(*state, arch::kI386Info) : std::nullopt;
    EXPECT_TRUE(rule) << at;
    return rule ? rule->cfa : CfaRule{};
  };
  for (const std::uint64_t at : {0x1007, 0x100a, 0x100d, 0x1012, 0x1013}) {
    const bool is_saved = at == 0x1012;
    EXPECT_EQ(cfa_at(at).kind,
              is_saved ? CfaRule::Kind::kDereference : CfaRule::Kind::kRegisterOffset);
    EXPECT_EQ(cfa_at(at).reg, is_saved ? arch::i386::kEbp : arch::i386::kEcx) << at;
    EXPECT_EQ(cfa_at(at).offset, is_saved ? -4 : 0) << at;
  }
  EXPECT_EQ(cfa_at(0x100e).kind, CfaRule::Kind::kDereference);
  EXPECT_EQ(cfa_at(0x1016).reg, arch::i386::kEsp);  // at the return
  EXPECT_EQ(cfa_at(0x1016).offset, 4);
}

// push %ebp; mov %esp, %ebp; lea 8(%ebp), %eax (its CFA, for its arguments); sub %edx, %esp; call.
// The caller's registers are not known any more where the call returns to.
TEST(CalledFunctions, AFramePointerComesBeforeARegisterThatCallsChange) {
  const std::string code("\x55\x89\xe5\x8d\x45\x08\x29\xd4\xe8\x00\x00\x00\x00\xc9\xc3", 15);
  const auto file = file_of(code, 0x1000, Arch::kI386);
  Decoder decoder(arch::kI386Info);
  const FrameAnalysis analysis(*file, CodeUnit{{{{0x1000}, code.size()}}, false}, arch::kI386Info,
                               decoder);
  const auto state = analysis.at({0x1008});
  ASSERT_TRUE(state);
  EXPECT_EQ(state->cfa_register, arch::i386::kEax);
  EXPECT_FALSE(state->knows_depth());
  const auto rule = rule_of(*state, arch::kI386Info);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->cfa.reg, arch::i386::kEbp);
}

}  // namespace
}  // namespace ringside::unwind::x86
