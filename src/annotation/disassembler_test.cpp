#include "annotation/disassembler.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string_view>

#include "annotation/riscv_targets.h"

namespace ringside::annotation {
namespace {

// Bytes of hexadecimal digits, as llvm-objdump shows them.
std::vector<std::byte> code(std::string_view digits) {
  std::vector<std::byte> bytes;
  std::string pair;
  for (const char digit : digits) {
    if (digit != ' ') pair += digit;
    if (pair.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(pair, nullptr, 16)));
    pair.clear();
  }
  return bytes;
}

struct Expected {
  std::uint8_t size;
  const char* text;
  std::uint64_t target = 0;  // 0: none
  bool is_call = false;
};

// The texts and targets are those that llvm-objdump 14 has for what llvm-mc assembled at address 0.
// Every LLVM library of this machine is tested.
class DisassemblerTest : public ::testing::Test {
 protected:
  static void check(Arch arch, std::string_view digits, const std::vector<Expected>& expected,
                    Syntax syntax = Syntax::kAtt) {
    bool has_library = false;
    for (const std::string& name : LlvmLibrary::usual_names()) {
      const auto library = LlvmLibrary::open({name});
      if (!library) continue;
      has_library = true;
      SCOPED_TRACE(name);
      check_with(*library, arch, digits, expected, syntax);
    }
    if (!has_library) GTEST_SKIP() << "no LLVM library";
  }

 private:
  static constexpr std::uint64_t kAt = 0xffffffff81000000;

  static void check_with(const LlvmLibrary& library, Arch arch, std::string_view digits,
                         const std::vector<Expected>& expected, Syntax syntax) {
    auto disassembler = Disassembler::create(library, arch, syntax);
    ASSERT_TRUE(disassembler) << disassembler.error().message;
    const auto bytes = code(digits);
    const auto found = disassembler->all(bytes, kAt);
    ASSERT_EQ(found.size(), expected.size());
    std::uint64_t at = kAt;
    for (std::size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE(found[i].text);
      EXPECT_EQ(found[i].address, at);
      EXPECT_EQ(found[i].size, expected[i].size);
      std::string text = expected[i].text;
      if (expected[i].target != 0) text += target_text(kAt + expected[i].target);
      EXPECT_EQ(found[i].text, text);
      EXPECT_EQ(found[i].target.value_or(kAt), kAt + expected[i].target);
      EXPECT_EQ(found[i].is_call, expected[i].is_call);
      at += found[i].size;
    }
  }
};

constexpr std::string_view kX86 =
    "4889d8 75fe eb10 e80b000000 8b0510000000 ffd0 0f01f8 f0480fb10f 48cf ebe5";

TEST_F(DisassemblerTest, X86) {
  check(Arch::kX86_64, kX86,
        {{3, "movq %rbx, %rax"},
         {2, "jne ", 0x3},
         {2, "jmp ", 0x17},
         {5, "callq ", 0x17, true},
         {6, "movl 0x10(%rip), %eax"},
         {2, "callq *%rax", 0, true},
         {3, "swapgs"},
         {5, "lock cmpxchgq %rcx, (%rdi)"},
         {2, "iretq"},
         {2, "jmp ", 0x5}});
}

TEST_F(DisassemblerTest, X86InIntelSyntax) {
  check(Arch::kX86_64, "4889d8 75fe 488b4708",
        {{3, "mov rax, rbx"}, {2, "jne ", 3}, {4, "mov rax, qword ptr [rdi + 0x8]"}},
        Syntax::kIntel);
}

TEST_F(DisassemblerTest, I386) {
  check(Arch::kI386, "89d8 75fe e800000000 cf 65a100000000",
        {{2, "movl %ebx, %eax"},
         {2, "jne ", 0x2},
         {5, "calll ", 0x9, true},
         {1, "iretl"},
         {6, "movl %gs:0x0, %eax"}});
}

TEST_F(DisassemblerTest, AArch64) {
  check(Arch::kAArch64,
        "1f2003d5 05000014 04000094 60000054 400000b4 21001836 200440f9 df4203d5 001038d5 "
        "7f2303d5 41fce0c8 c0035fd6",
        {{4, "nop"},
         {4, "b ", 0x18},
         {4, "bl ", 0x18, true},
         {4, "b.eq ", 0x18},
         {4, "cbz x0, ", 0x18},
         {4, "tbz w1, #0x3, ", 0x18},
         {4, "ldr x0, [x1, #0x8]"},
         {4, "msr DAIFSet, #0x2"},
         {4, "mrs x0, SCTLR_EL1"},
         {4, "pacibsp"},
         {4, "casal x0, x1, [x2]"},
         {4, "ret"}});
}

TEST_F(DisassemblerTest, Riscv64) {
  check(Arch::kRiscv64,
        "0100 01a8 6307b500 ef00a000 19c1 6372d600 3385c500 73950510 2f25b600 f5f9 cdbf "
        "73002010 8280",
        {{2, "nop"},
         {2, "j ", 0x12},
         {4, "beq a0, a1, ", 0x12},
         {4, "jal ", 0x12, true},
         {2, "beqz a0, ", 0x12},
         {4, "bgeu a2, a3, ", 0x12},
         {4, "add a0, a1, a2"},
         {4, "csrrw a0, sstatus, a1"},
         {4, "amoadd.w a0, a1, (a2)"},
         {2, "bnez a1, ", 0x12},
         {2, "j ", 0x12},
         {4, "sret"},
         {2, "ret"}});
}

TEST_F(DisassemblerTest, BytesThatAreNoInstruction) {
  check(Arch::kX86_64, "06 90", {{1, ".byte 0x06"}, {1, "nop"}});
  check(Arch::kAArch64, "ffffffff 1f2003d5", {{4, ".inst 0xffffffff"}, {4, "nop"}});
  check(Arch::kRiscv64, "0080 ffffffff", {{2, ".inst 0x8000"}, {4, ".inst 0xffffffff"}});
  // Cut short.
  check(Arch::kX86_64, "e80d", {{1, ".byte 0xe8"}, {1, ".byte 0x0d"}});
  check(Arch::kAArch64, "1f20", {{2, ".inst 0x201f"}});
}

TEST(LlvmLibrary, NoLibraryIsAnErrorThatNamesThePackage) {
  const auto library = LlvmLibrary::open({"/nonexistent/libLLVM.so", "libc.so.6"});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::kNotFound);
  EXPECT_NE(library.error().message.find("libllvm14"), std::string::npos);
}

TEST(RiscvTargets, FarthestDisplacements) {
  EXPECT_EQ(riscv_displacement(code("6f000080")), -0x100000);  // jal zero
  EXPECT_EQ(riscv_displacement(code("6ff0ff7f")), 0xffffe);
  EXPECT_EQ(riscv_displacement(code("63000080")), -0x1000);  // beq zero, zero
  EXPECT_EQ(riscv_displacement(code("e30f007e")), 0xffe);
  EXPECT_EQ(riscv_displacement(code("01b0")), -0x800);  // c.j
  EXPECT_EQ(riscv_displacement(code("fdaf")), 0x7fe);
  EXPECT_EQ(riscv_displacement(code("01d1")), -0x100);  // c.beqz a0
  EXPECT_EQ(riscv_displacement(code("8280")), std::nullopt);
}

}  // namespace
}  // namespace ringside::annotation
