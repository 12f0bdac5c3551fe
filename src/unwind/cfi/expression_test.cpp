#include "unwind/cfi/expression.h"

#include <gtest/gtest.h>

namespace ringside::unwind::cfi {
namespace {

class Expression : public ::testing::Test {
 protected:
  Expression() {
    state_.set(arch::x86_64::kRsp, 0x1000);
    state_.set(arch::x86_64::kRip, 0x401234);
    capture_.pieces.push_back({{0x1000}, wire::PieceKind::kCurrentStack, 16, 0, 16});
    const std::uint64_t words[] = {0x1122334455667788, 42};
    const auto bytes = std::as_bytes(std::span(words));
    capture_.bytes.assign(bytes.begin(), bytes.end());
  }
  [[nodiscard]] tl::expected<ExpressionValue, ExpressionFailure> run(
      std::initializer_list<int> bytes, std::optional<std::uint64_t> cfa = std::nullopt) const {
    std::vector<std::byte> code;
    for (const int byte : bytes) code.push_back(static_cast<std::byte>(byte));
    return evaluate(code, state_, StackMemory(capture_, images_), cfa, 0, 8);
  }
  MachineState state_;
  wire::Capture capture_;
  elf::ImageMap images_;
};

TEST_F(Expression, ProcedureLinkageTable) {
  // The linker's expression for .plt: rsp + 8 + ((rip & 15) >= 11) * 8.
  EXPECT_EQ(run({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})->value, 0x1008u);
  state_.set(arch::x86_64::kRip, 0x40123c);
  EXPECT_EQ(run({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})->value, 0x1010u);
}

TEST_F(Expression, MemoryAndWhereItWas) {
  const auto value = run({0x77, 8, 0x06});  // breg7 8, deref
  EXPECT_EQ(value->value, 42u);
  EXPECT_EQ(value->slot.value, 0x1008u);
  EXPECT_EQ(run({0x77, 0, 0x94, 2})->value, 0x7788u);  // deref_size 2
  EXPECT_EQ(run({0x77, 16, 0x06}).error().unreadable->value, 0x1010u);
}

TEST_F(Expression, ArithmeticIsSignedWhereDwarfSaysSo) {
  EXPECT_EQ(run({0x09, 0xf8, 0x32, 0x1b})->value, static_cast<std::uint64_t>(-4));  // -8 / 2
  EXPECT_EQ(run({0x09, 0xf8, 0x31, 0x26})->value, static_cast<std::uint64_t>(-4));  // -8 >> 1
  EXPECT_EQ(run({0x09, 0xff, 0x30, 0x2d})->value, 1u);                              // -1 < 0
  EXPECT_EQ(run({0x31, 0x32, 0x33, 0x17})->value, 2u);                              // rot
  EXPECT_EQ(run({0x12, 0x22}, 21)->value, 42u);                                     // dup, plus
}

TEST_F(Expression, BranchesAndLimits) {
  EXPECT_EQ(run({0x31, 0x28, 1, 0, 0x00, 0x35})->value, 5u);  // bra over a bad opcode
  EXPECT_FALSE(run({0x2f, 0xfd, 0xff}));                      // skip to itself, for ever
  EXPECT_FALSE(run({0x2f, 0x00, 0x70}));                      // out of the expression
  EXPECT_FALSE(run({0x22}));                                  // empty stack
  EXPECT_FALSE(run({0x31, 0x30, 0x1b}));                      // 1 / 0
  EXPECT_FALSE(run({0x73, 0}));                               // a register that is not known
  EXPECT_FALSE(run({}));
}

}  // namespace
}  // namespace ringside::unwind::cfi
