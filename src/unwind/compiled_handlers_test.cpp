// Stacks through interrupt handlers that a compiler has made (__attribute__((interrupt)), Rust's
// x86-interrupt), in code with call-frame information: it says that what hardware saved is a return
// address, and that the interrupted stack pointer lies right above that.

#include <gtest/gtest.h>

#include <filesystem>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "unwind/unwinder.h"

namespace ringside::unwind {
namespace {

struct Program {
  const char* name;
  Arch arch;
};

class CompiledHandlers : public ::testing::TestWithParam<Program> {
 protected:
  void SetUp() override {
    const std::string path = std::string(RINGSIDE_STEP_PROGRAMS "/") + GetParam().name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no such compiler: " << path;
    const auto file = elf::ElfFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    file_ = *file;
    images_.add({.id = 1, .name = "kernel", .file = file_, .load_bias = 0});
    capture_.arch = GetParam().arch;
    capture_.level = PrivilegeLevel::kKernel;
    capture_.registers.set(arch::info_of(capture_.arch).saved_mode.reg, kCs);
  }
  [[nodiscard]] std::uint64_t at(const char* name) const {
    return file_->symbol_named(name)->address.value;
  }
  // The first call in a function: how many words were pushed before it, and where it returns to.
  struct Call {
    std::size_t words = 0;
    std::uint64_t returns_to = 0;
  };
  [[nodiscard]] Call first_call_in(const char* name) const {
    const bool is_64 = file_->is_64();
    const Bytes code = file_->bytes_at(file_->symbol_named(name)->address, 64);
    Call call;
    for (std::size_t i = 0; i + 5 < code.size();) {
      const auto byte = [&](std::size_t n) { return std::to_integer<unsigned>(code[i + n]); };
      if (byte(0) >= 0x50 && byte(0) <= 0x57) {  // push
        ++call.words;
        i += 1;
      } else if (is_64 && byte(0) == 0x41 && byte(1) >= 0x50 && byte(1) <= 0x57) {  // push r8 …
        ++call.words;
        i += 2;
      } else if (byte(0) == 0xfc) {  // cld
        i += 1;
      } else if (is_64 && byte(0) == 0x48 && byte(1) == 0x83 && byte(2) == 0xec) {  // sub, rsp
        call.words += byte(3) / 8;
        i += 4;
      } else if (!is_64 && byte(0) == 0x83 && byte(1) == 0xec) {  // sub, esp
        call.words += byte(2) / 4;
        i += 3;
      } else if (byte(0) == 0xe8) {
        call.returns_to = at(name) + i + 5;
        return call;
      } else {
        ADD_FAILURE() << name << "+" << i << ": not known: " << byte(0);
        return call;
      }
    }
    return call;
  }
  // The stack from `kStack` up: `below`, what hardware saved, and the interrupted function's
  // caller. In 32-bit code hardware saves no stack pointer, and the interrupted stack goes on.
  void lay_stack(std::uint64_t pc, std::vector<std::uint64_t> below) {
    const bool is_64 = file_->is_64();
    std::vector<std::uint64_t> words = std::move(below);
    const auto word = is_64 ? 8u : 4u;
    words.insert(words.end(), {at("interrupted"), kCs, 0x202});
    if (is_64) {
      // Hardware aligns the stack, so that words lie in between.
      const std::uint64_t sp = kStack + (words.size() + 4) * word;
      words.insert(words.end(), {sp, 0x18, 0, 0});
    }
    words.insert(words.end(), {first_call_in("task").returns_to, 0, 0, 0, 0, 0, 0, 0});
    const arch::RegisterRoles roles = arch::roles_of(capture_.arch);
    capture_.registers.set(roles.pc, pc);
    capture_.registers.set(roles.sp, kStack);
    const auto size = static_cast<std::uint32_t>(words.size() * word);
    for (const std::uint64_t value : words)
      for (unsigned byte = 0; byte < word; ++byte)
        capture_.bytes.push_back(static_cast<std::byte>(value >> 8 * byte));
    capture_.pieces.push_back({{kStack}, wire::PieceKind::kCurrentStack, size, 0, size});
  }
  void expect_joined(std::size_t before) const {
    const Stack stack = Unwinder(images_, {}).unwind(capture_);
    ASSERT_GE(stack.frames.size(), before + 2);
    EXPECT_EQ(stack.frames[before - 1].kind, FrameKind::kInterrupt);
    EXPECT_EQ(stack.frames[before].address.value, at("interrupted"));
    EXPECT_TRUE(stack.frames[before].exact);
    EXPECT_EQ(stack.frames[before + 1].address.value, first_call_in("task").returns_to);
  }

  static constexpr std::uint64_t kStack = 0x10000;
  static constexpr std::uint64_t kCs = 0x10;
  std::shared_ptr<const elf::ElfFile> file_;
  elf::ImageMap images_;
  wire::Capture capture_;
};

TEST_P(CompiledHandlers, LeadToWhatWasInterruptedFromTheirFirstInstruction) {
  lay_stack(at("handler"), {});
  expect_joined(1);
}

TEST_P(CompiledHandlers, LeadToWhatWasInterruptedFromWhatTheyCall) {
  const Call call = first_call_in("handler");
  std::vector<std::uint64_t> below{call.returns_to};
  below.insert(below.end(), call.words, 0);
  lay_stack(at("work"), std::move(below));
  expect_joined(2);
}

INSTANTIATE_TEST_SUITE_P(Each, CompiledHandlers,
                         ::testing::Values(Program{"handlers_gcc", Arch::kX86_64},
                                           Program{"handlers_gcc_i386", Arch::kI386},
                                           Program{"handlers_clang", Arch::kX86_64},
                                           Program{"handlers_clang_i386", Arch::kI386}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ringside::unwind
