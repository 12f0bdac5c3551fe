#include "unwind/x86/signal_return.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "arch/arch_info.h"
#include "elf/elf_writer.h"
#include "unwind/x86/call_site.h"

namespace ringside::unwind::x86 {
namespace {

std::shared_ptr<const elf::ElfFile> program(const std::vector<unsigned>& code) {
  std::vector<std::byte> bytes;
  for (const unsigned byte : code) bytes.push_back(std::byte(byte));
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({0x1000}, bytes.size(), true, false, bytes);
  return elf::ElfFile::from_bytes(writer.write(), "program").value();
}

// As in Debian's ld-musl-x86_64.so.1, where sigsetjmp() follows directly: nop; __restore_rt is mov
// $15, %rax; syscall; sigsetjmp is test %esi, %esi; je.
TEST(SignalReturn, IsWhereTheCodeIsAndNotBehindIt) {
  const auto file =
      program({0x90, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0x85, 0xf6, 0x74, 0x1e});
  const auto is_there = [&](std::uint64_t pc, PcKind kind) {
    return signal_return_rule(*file, {pc}, kind, arch::kX86_64Info).has_value();
  };
  constexpr std::uint64_t kRestore = 0x1001;
  for (const PcKind kind : {PcKind::kReturnAddress, PcKind::kExact, PcKind::kInSystemCall})
    EXPECT_TRUE(is_there(kRestore, kind));
  EXPECT_TRUE(is_there(kRestore + 7, PcKind::kExact));
  EXPECT_FALSE(is_there(kRestore + 7, PcKind::kReturnAddress));
  EXPECT_TRUE(is_there(kRestore + 9, PcKind::kInSystemCall));
  EXPECT_FALSE(is_there(kRestore + 9, PcKind::kExact));
  EXPECT_FALSE(is_there(kRestore + 9, PcKind::kReturnAddress));
  EXPECT_FALSE(is_there(kRestore + 3, PcKind::kExact));
  EXPECT_FALSE(is_there(0, PcKind::kExact));
}

TEST(CallSite, IsBehindACall) {
  struct Case {
    std::vector<unsigned> code;  // ends where the return address is
    bool is_call;
  };
  const std::array<Case, 9> cases{{
      {{0x90, 0x90, 0xe8, 1, 2, 3, 4}, true},               // call rel32
      {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, true},   // call *%rax
      {{0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd1}, true},   // call *%r9
      {{0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x10}, true},   // call *16(%rax)
      {{0x90, 0xff, 0x15, 1, 2, 3, 4}, true},               // call *disp32(%rip)
      {{0xff, 0x94, 0xc8, 1, 2, 3, 4}, true},               // call *disp32(%rax,%rcx,8)
      {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, false},  // jmp *%rax
      {{0x90, 0x90, 0xe9, 1, 2, 3, 4}, false},              // jmp rel32
      {{0x48, 0x8b, 0x45, 0xf8, 0x48, 0x89, 0xc7}, false},  // moves
  }};
  for (const Case& each : cases)
    EXPECT_EQ(follows_call(*program(each.code), {0x1000 + each.code.size()}), each.is_call);
  EXPECT_FALSE(follows_call(*program({0xff, 0xd0}), {0x1002}));  // of a program that begins there
}

}  // namespace
}  // namespace ringside::unwind::x86
