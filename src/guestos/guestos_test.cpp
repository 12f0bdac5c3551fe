#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>

#include "arch/arch_info.h"
#include "guestos/adapter.h"
#include "guestos/linux/aarch64/entries.h"
#include "guestos/linux/i386/entries.h"
#include "guestos/linux/riscv64/entries.h"
#include "guestos/stack_recipe.h"
#include "guestos/testing/entry_machine.h"

namespace ringside::guestos {
namespace {

using Kind = StackTop::Kind;

std::vector<wire::RecipeOp> stack_recipe(Arch arch, std::vector<StackTop> tops, std::uint64_t size,
                                         std::vector<GuestVirt> to_user = {}) {
  wire::RecipeBuilder recipe;
  copy_stacks(recipe, arch, {.tops = std::move(tops), .size = size, .to_user = std::move(to_user)});
  return recipe.take();
}

// Copies of a stack, and what is added behind them.
std::vector<wire::RecipeOp> stack_recipe_and(Arch arch,
                                             const std::function<void(wire::RecipeBuilder&)>& add) {
  wire::RecipeBuilder recipe;
  copy_stacks(recipe, arch, {.size = 0x1000});
  add(recipe);
  return recipe.take();
}

std::vector<wire::MemoryRequest> run(const std::vector<wire::RecipeOp>& recipe, std::uint64_t rsp,
                                     std::uint64_t cs, std::uint64_t left_stack) {
  arch::Registers registers;
  registers.set(arch::x86_64::kRsp, rsp);
  registers.set(arch::x86_64::kCs, cs);
  wire::RecipeRun recipe_run(recipe, registers, {});
  std::vector<wire::MemoryRequest> copies;
  while (auto request = recipe_run.next()) {
    if (request->is_load())
      recipe_run.loaded(left_stack);
    else
      copies.push_back(*request);
  }
  return copies;
}

TEST(StackRecipe, CopiesNothingOfUserCode) {
  EXPECT_TRUE(run(stack_recipe(Arch::kX86_64, {}, 4096), 0x7000, 0x33, 0).empty());
  EXPECT_EQ(run(stack_recipe(Arch::kX86_64, {}, 4096), 0x7000, 0x08, 0).size(), 1u);
}

TEST(StackRecipe, FollowsEachTopFromItsOwnStackOnly) {
  const std::vector<StackTop> tops = {{GuestVirt{0x10ff8}, Kind::kPopped},
                                      {GuestVirt{0x20ff8}, Kind::kTop}};
  const auto recipe = stack_recipe(Arch::kX86_64, tops, 0x1000);
  EXPECT_EQ(run(recipe, 0x5000, 8, 0x5550).size(), 1u);
  const auto first = run(recipe, 0x10800, 8, 0x5550);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[1].why, wire::PieceKind::kStackLink);
  EXPECT_EQ(first[1].address, GuestVirt{0x10ff8});
  EXPECT_EQ(first[2].address, GuestVirt{0x5550});
  const auto second = run(recipe, 0x20800, 8, 0x5550);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[1].why, wire::PieceKind::kInterruptedStack);
}

// Linux on i386: a hard interrupt on the stack of soft ones on that of a task.
TEST(StackRecipe, GoesOnFromAStackToTheNext) {
  const std::vector<StackTop> tops = {{GuestVirt{0x10000}, Kind::kBottom},
                                      {GuestVirt{0x20000}, Kind::kBottom}};
  const auto recipe = stack_recipe(Arch::kI386, tops, 0x2000);
  arch::Registers registers;
  registers.set(arch::i386::kEsp, 0x11f00);
  registers.set(arch::i386::kCs, 0x60);
  wire::RecipeRun run(recipe, registers, {});
  std::vector<std::uint64_t> copies;
  while (const auto request = run.next()) {
    if (request->is_load())
      run.loaded(request->address.value == 0x10000 ? 0x21e00 : 0x5550);
    else
      copies.push_back(request->address.value);
  }
  EXPECT_EQ(copies, (std::vector<std::uint64_t>{0x11f00, 0x21dc0, 0x5510}));
}

// handle_exception, stopped in its `rep movsl`: 5 of 17 words are still to be moved.
TEST(StackRecipe, CopiesAFrameThatIsBeingMoved) {
  const auto copies = [](std::uint64_t edi) {
    const auto recipe = stack_recipe_and(Arch::kI386, copy_frame_in_transit);
    arch::Registers registers;
    registers.set(arch::i386::kEsp, 0xc2e63fb4);
    registers.set(arch::i386::kEdi, edi);
    registers.set(arch::i386::kEsi, 0xff403fec);
    registers.set(arch::i386::kCs, 0x60);
    wire::RecipeRun run(recipe, registers, {});
    std::vector<std::uint64_t> addresses;
    while (const auto request = run.next()) addresses.push_back(request->address.value);
    return addresses;
  };
  EXPECT_EQ(copies(0xc2e63fe4), (std::vector<std::uint64_t>{0xc2e63fb4, 0xff403fec}));
  EXPECT_EQ(copies(0xc2e63ff8), std::vector<std::uint64_t>{0xc2e63fb4});
  EXPECT_EQ(copies(0xc2e63fb0), std::vector<std::uint64_t>{0xc2e63fb4});
}

// restore_all_switch_stack, stopped in its `rep movsl` and behind it.
TEST(StackRecipe, CopiesAFrameThatIsBeingMovedToTheEntryStack) {
  const auto copies = [](std::uint64_t esi, std::uint64_t edi) {
    const auto recipe = stack_recipe_and(Arch::kI386, copy_frame_in_transit);
    arch::Registers registers;
    registers.set(arch::i386::kEsp, 0xc2e63fb4);
    registers.set(arch::i386::kEsi, esi);
    registers.set(arch::i386::kEdi, edi);
    registers.set(arch::i386::kEbx, 0xff403fbc);
    registers.set(arch::i386::kCs, 0x60);
    wire::RecipeRun run(recipe, registers, {});
    std::vector<std::uint64_t> addresses;
    while (const auto request = run.next()) addresses.push_back(request->address.value);
    return addresses;
  };
  const std::vector<std::uint64_t> both = {0xc2e63fb4, 0xff403fbc};
  EXPECT_EQ(copies(0xc2e63fb4, 0xff403fbc), both);
  EXPECT_EQ(copies(0xc2e63fe4, 0xff403fec), both);
  EXPECT_EQ(copies(0xc2e63ff8, 0xff404000), both);
  EXPECT_EQ(copies(0xc2e63ffc, 0xff404004), std::vector<std::uint64_t>{0xc2e63fb4});
  EXPECT_EQ(copies(0xc2e63fe4, 0xff403fe8), std::vector<std::uint64_t>{0xc2e63fb4});
}

// Runs a recipe over a few words of memory; the addresses that it copies.
std::vector<std::uint64_t> copies_of(const std::vector<wire::RecipeOp>& recipe,
                                     const arch::Registers& registers,
                                     const std::map<std::uint64_t, std::uint64_t>& words) {
  wire::RecipeRun run(recipe, registers, {});
  std::vector<std::uint64_t> copies;
  while (const auto request = run.next()) {
    const auto word = words.find(request->address.value);
    if (!request->is_load())
      copies.push_back(request->address.value);
    else if (word != words.end())
      run.loaded(word->second);
    else
      run.loaded(std::nullopt);
  }
  return copies;
}

arch::Registers kernel_on_aarch64(std::uint64_t sp, std::uint64_t fp) {
  arch::Registers registers;
  registers.set(arch::aarch64::kCpsr, 0x3c5);
  registers.set(arch::aarch64::kSp, sp);
  registers.set(arch::aarch64::kFp, fp);
  return registers;
}

// The pointer in the slot is followed only while the frame record is the one that was learnt:
// another function may keep an address of device memory there, which must not be read.
TEST(StackRecipe, FollowsALearntFrameRecordOnly) {
  constexpr std::uint64_t kReturn = 0x80000801670c;
  const std::vector<StackTop> tops = {{.slot = GuestVirt{0x10f80}, .returns_to = kReturn}};
  const auto recipe = stack_recipe(Arch::kAArch64, tops, 0x1000);
  const auto registers = kernel_on_aarch64(0x10800, 0x10810);
  using Addresses = std::vector<std::uint64_t>;
  EXPECT_EQ(
      copies_of(recipe, registers, {{0x10f80, 0x5550}, {0x10f88, 0x2b3f'0000'0000'0000 | kReturn}}),
      (Addresses{0x10800, 0x5550}));
  EXPECT_EQ(copies_of(recipe, registers, {{0x10f80, 0x5550}, {0x10f88, kReturn + 4}}),
            (Addresses{0x10800}));
  EXPECT_EQ(copies_of(recipe, registers, {{0x10f80, 0x5550}}), (Addresses{0x10800}));
}

TEST(StackRecipe, FollowsTheFramePointerFromAnEmptyStack) {
  const std::vector<StackTop> tops = {{.slot = GuestVirt{0x11000}, .kind = Kind::kEmpty}};
  const auto recipe = stack_recipe(Arch::kAArch64, tops, 0x1000);
  using Addresses = std::vector<std::uint64_t>;
  EXPECT_EQ(copies_of(recipe, kernel_on_aarch64(0x11000, 0x5550), {}),
            (Addresses{0x11000, 0x5550}));
  EXPECT_EQ(copies_of(recipe, kernel_on_aarch64(0x10ff0, 0x5550), {}), (Addresses{0x10ff0}));
}

// The end of the stack in use shows where the frame record of the first function would be.
class UnknownStacksOfAArch64 : public ::testing::Test {
 protected:
  using Addresses = std::vector<std::uint64_t>;
  static constexpr std::uint64_t kReturn = 0x80000801670c;
  static constexpr std::uint64_t kCode = 0xffff800008016700;

  [[nodiscard]] static Addresses copies(const arch::Registers& registers,
                                        const std::map<std::uint64_t, std::uint64_t>& words) {
    wire::RecipeBuilder recipe;
    copy_stacks(recipe, Arch::kAArch64,
                {.size = 0x4000,
                 .alignment = 0x4000,
                 .unknown = {.records = {{.below_end = 48, .returns_to = kReturn}},
                             .empty_in = {{GuestVirt{kCode}, 0x40}}}});
    return copies_of(recipe.take(), registers, words);
  }
  static constexpr std::uint64_t kEnd = 0xffff800008004000;
};

TEST_F(UnknownStacksOfAArch64, AreLeftByTheRecordOfTheFirstFunction) {
  const std::uint64_t record = kEnd - 48;
  const auto registers = kernel_on_aarch64(kEnd - 0x800, kEnd - 0x7f0);
  EXPECT_EQ(copies(registers, {{record, 0x5550}, {record + 8, 0x2b3f'0000'0000'0000 | kReturn}}),
            (Addresses{kEnd - 0x800, 0x5550}));
  EXPECT_EQ(copies(registers, {{record, 0x5550}, {record + 8, kReturn + 4}}),
            (Addresses{kEnd - 0x800}));
  EXPECT_EQ(copies(registers, {}), (Addresses{kEnd - 0x800}));
}

TEST_F(UnknownStacksOfAArch64, AreLeftByTheFramePointerWhereTheirCodeRunsOnAnEmptyOne) {
  auto registers = kernel_on_aarch64(kEnd, 0x5550);
  registers.set(arch::aarch64::kPc, kCode + 0x3c);
  EXPECT_EQ(copies(registers, {}), (Addresses{0x5550}));
  registers.set(arch::aarch64::kPc, kCode + 0x40);
  EXPECT_TRUE(copies(registers, {}).empty());
  registers.set(arch::aarch64::kPc, kCode);
  registers.set(arch::aarch64::kSp, kEnd - 16);
  EXPECT_EQ(copies(registers, {}), (Addresses{kEnd - 16}));
}

class UserStackLinks : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kStacks = 0xffff888000000000;
  using Addresses = std::vector<std::uint64_t>;

  // Two threads' stacks, one above the other, and the vCPU's interrupt stack above them.
  [[nodiscard]] static Addresses copies(std::uint64_t sp, std::uint64_t user_sp = 0x7fff0010,
                                        std::uint64_t cs = 8) {
    const std::vector<StackTop> tops = {{.slot = GuestVirt{kStacks + 0x3ff8}}};
    const auto recipe =
        stack_recipe(Arch::kX86_64, tops, 0x2000, {{kStacks + 0x1ff0}, {kStacks + 0xff0}});
    arch::Registers registers;
    registers.set(arch::x86_64::kRsp, sp);
    registers.set(arch::x86_64::kCs, cs);
    return copies_of(recipe, registers,
                     {{kStacks + 0xff0, user_sp},
                      {kStacks + 0x1ff0, 0x7fff2000},
                      {kStacks + 0x3ff8, kStacks + 0xe00}});
  }
};

TEST_F(UserStackLinks, TheNearestAboveTheStackPointerCounts) {
  EXPECT_EQ(copies(kStacks + 0x800), (Addresses{kStacks + 0x800, 0x7fff0010}));
  EXPECT_EQ(copies(kStacks + 0x1800), (Addresses{kStacks + 0x1800, 0x7fff2000}));
}

TEST_F(UserStackLinks, TheStackThatWasLeftLeadsToItToo) {
  EXPECT_EQ(copies(kStacks + 0x3000), (Addresses{kStacks + 0x3000, kStacks + 0xe00, 0x7fff0010}));
}

TEST_F(UserStackLinks, OtherStacksAndOtherWordsAreLeftAlone) {
  EXPECT_EQ(copies(kStacks + 0x10000), (Addresses{kStacks + 0x10000}));
  EXPECT_EQ(copies(kStacks - 0x3000), (Addresses{kStacks - 0x3000}));
  EXPECT_EQ(copies(kStacks + 0x800, 0), (Addresses{kStacks + 0x800}));
  EXPECT_EQ(copies(kStacks + 0x800, kStacks), (Addresses{kStacks + 0x800}));
  EXPECT_EQ(copies(kStacks + 0x800, 0x7fff0010, 0x33), (Addresses{}));
}

// psABI: the frame record is the two words below the frame pointer.
TEST(StackRecipe, CopiesTheFrameRecordOnRiscv64) {
  const std::vector<StackTop> tops = {{.slot = GuestVirt{0x10ff0}, .kind = Kind::kRecord}};
  arch::Registers registers;
  registers.set(arch::riscv64::kPriv, 1);
  registers.set(arch::riscv64::kSp, 0x10800);
  EXPECT_EQ(copies_of(stack_recipe(Arch::kRiscv64, tops, 0x1000), registers, {{0x10ff0, 0x5550}}),
            (std::vector<std::uint64_t>{0x10800, 0x5540}));
}

TEST(StackRecipe, FollowsTheFramePointerFromAnEmptyStackOnRiscv64) {
  const std::vector<StackTop> tops = {{.slot = GuestVirt{0x10ff0}, .kind = Kind::kRecord},
                                      {.slot = GuestVirt{0x11000}, .kind = Kind::kEmpty}};
  arch::Registers registers;
  registers.set(arch::riscv64::kPriv, 1);
  registers.set(arch::riscv64::kSp, 0x11000);
  registers.set(arch::riscv64::kFp, 0x5550);
  const auto recipe = stack_recipe(Arch::kRiscv64, tops, 0x1000);
  EXPECT_EQ(copies_of(recipe, registers, {{0x10ff0, 0x9990}}),
            (std::vector<std::uint64_t>{0x11000, 0x5540}));
  registers.set(arch::riscv64::kSp, 0x10fe0);
  EXPECT_EQ(copies_of(recipe, registers, {{0x10ff0, 0x9990}}),
            (std::vector<std::uint64_t>{0x10fe0, 0x9980}));
}

// handle_exception of riscv64 shifts sp while it tests for an overflow: the task has it.
TEST(StackRecipe, CopiesTheStackThatRiscv64sTaskHas) {
  constexpr std::uint64_t kTask = 0xff60000003120000;
  constexpr std::uint64_t kStack = 0xff200000000fbc50;
  const auto recipe = stack_recipe_and(
      Arch::kRiscv64, [](auto& builder) { copy_saved_stack(builder, 16, 0x4000); });
  arch::Registers registers;
  registers.set(arch::riscv64::kPriv, 1);
  registers.set(arch::riscv64::kSp, (kStack - 288) >> 14);
  registers.set(arch::riscv64::kTp, kTask);
  using Addresses = std::vector<std::uint64_t>;
  EXPECT_EQ(copies_of(recipe, registers, {{kTask + 16, kStack}}),
            (Addresses{(kStack - 288) >> 14, kTask + 16, kStack}));
  // No pointer to a stack, and a stack pointer that is one.
  EXPECT_EQ(copies_of(recipe, registers, {{kTask + 16, 0x1234}}),
            (Addresses{(kStack - 288) >> 14, kTask + 16}));
  registers.set(arch::riscv64::kSp, kStack);
  EXPECT_EQ(copies_of(recipe, registers, {{kTask + 16, kStack}}), (Addresses{kStack}));
}

// kernel_ventry of arm64, as Debian's 6.1 has it: the vectors lie 128 bytes apart, and meanwhile sp
// and x0 are what its comments say.
TEST(StackRecipe, CopiesTheStackThatAArch64Tests) {
  constexpr std::uint64_t kVectors = 0xffff800008010800;
  constexpr std::uint64_t kStack = 0xffff80000854b9c0;
  constexpr std::uint64_t kX0Value = 0x123456789;
  constexpr std::uint64_t kSum = kStack + kX0Value;
  const auto recipe = stack_recipe_and(Arch::kAArch64, [](auto& builder) {
    copy_tested_stack(builder, {{kVectors}, 4}, 0x4000);
  });
  const auto copies_at = [&](std::uint64_t offset, std::uint64_t sp, std::uint64_t x0) {
    arch::Registers registers;
    registers.set(arch::aarch64::kCpsr, 5);
    registers.set(arch::aarch64::kPc, kVectors + offset);
    registers.set(arch::aarch64::kSp, sp);
    registers.set(arch::aarch64::kX0, x0);
    return copies_of(recipe, registers, {});
  };
  using Addresses = std::vector<std::uint64_t>;
  for (const std::uint64_t vector : {0x200, 0x280}) {
    EXPECT_EQ(copies_at(vector, kStack + 336, kX0Value), Addresses{kStack + 336});
    EXPECT_EQ(copies_at(vector + 4, kStack, kX0Value), Addresses{kStack});
    EXPECT_EQ(copies_at(vector + 8, kSum, kX0Value), (Addresses{kSum, kStack}));
    EXPECT_EQ(copies_at(vector + 12, kSum, kStack), (Addresses{kSum, kStack}));
    EXPECT_EQ(copies_at(vector + 16, kSum, kStack), (Addresses{kSum, kStack}));
    EXPECT_EQ(copies_at(vector + 20, kSum, kX0Value), (Addresses{kSum, kStack}));
    EXPECT_EQ(copies_at(vector + 24, kStack, kX0Value), Addresses{kStack});
  }
  EXPECT_EQ(copies_at(0x410, kStack, 0x1000), Addresses{kStack});  // from user mode
  EXPECT_EQ(copies_at(0x290, kSum, 0x1000), Addresses{kSum});      // no stack
}

TEST(StackRecipe, TheTestOfAArch64sStackIsFoundInItsCode) {
  std::vector<std::uint32_t> code(0x800 / 4, 0xd503201f);  // nop
  const auto found = [&] {
    const auto bytes = std::as_bytes(std::span(code));
    const elf::Image kernel = testing::kernel_of(Arch::kAArch64, 0xffff800008010800,
                                                 {bytes.begin(), bytes.end()}, {{"vectors", 0}});
    return aarch64_overflow_test(kernel);
  };
  EXPECT_FALSE(found());
  // sub sp, sp, #336; add sp, sp, x0; sub x0, sp, x0; tbnz w0, #14, …
  const std::array<std::uint32_t, 4> test{0xd10543ff, 0x8b2063ff, 0xcb2063e0, 0x37700080};
  std::copy(test.begin(), test.end(), code.begin() + 0x200 / 4);
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->vectors.value, 0xffff800008010800);
  EXPECT_EQ(found()->start, 4u);
}

// Copies of a stack at 0x80800 below a top at 0x80ff8, run with these registers.
std::vector<wire::MemoryRequest> run_on(Arch arch, std::uint8_t level_register,
                                        std::uint64_t level) {
  arch::Registers registers;
  registers.set(arch::roles_of(arch).sp, 0x80800);
  registers.set(level_register, level);
  const std::vector<StackTop> tops = {{GuestVirt{0x80ff8}, Kind::kPopped}};
  const auto recipe = stack_recipe(arch, tops, 0x1000);
  wire::RecipeRun recipe_run(recipe, registers, {});
  std::vector<wire::MemoryRequest> requests;
  while (auto request = recipe_run.next()) {
    requests.push_back(*request);
    if (request->is_load()) recipe_run.loaded(0x5550);
  }
  return requests;
}

TEST(StackRecipe, OfEachArchitecture) {
  struct Case {
    Arch arch;
    std::uint8_t level_register;
    std::uint64_t kernel, user, firmware;
    std::uint32_t pointer;
  };
  // Firmware, in whose mode a kernel may run: real mode has any cs, so x86 has no such value here.
  // aarch64: EL1h with interrupts masked, EL0, EL3h. riscv64: S, U, M.
  for (const Case& c :
       {Case{Arch::kI386, arch::i386::kCs, 0x60, 0x73, 0x73, 4},
        Case{Arch::kX86_64, arch::x86_64::kCs, 0x10, 0x33, 0x33, 8},
        Case{Arch::kAArch64, arch::aarch64::kCpsr, 0x600003c5, 0x60001000, 0x3cd, 8},
        Case{Arch::kRiscv64, arch::riscv64::kPriv, 1, 0, 3, 8}}) {
    const auto requests = run_on(c.arch, c.level_register, c.kernel);
    ASSERT_EQ(requests.size(), 4u) << arch::name_of(c.arch);
    EXPECT_EQ(requests[0].address, GuestVirt{0x80800});
    EXPECT_EQ(requests[1].why, wire::PieceKind::kStackLink);
    EXPECT_EQ(requests[1].size, c.pointer);
    EXPECT_TRUE(requests[2].is_load());
    EXPECT_EQ(requests[2].size, c.pointer);
    EXPECT_EQ(requests[3].address, GuestVirt{c.arch == Arch::kRiscv64 ? 0x5540u : 0x5550u});
    EXPECT_TRUE(run_on(c.arch, c.level_register, c.user).empty());
    EXPECT_EQ(run_on(c.arch, c.level_register, c.firmware).empty(), c.firmware == c.user);
  }
  EXPECT_TRUE(stack_recipe(Arch::kUnknown, {}, 0x1000).empty());
}

TEST(Adapter, AGenericOneAdoptsWhatTheKernelRunsAs) {
  const auto adapter = make_adapter(AdapterOptions(), Arch::kX86_64);
  EXPECT_EQ(adapter->name(), "generic");
  EXPECT_FALSE(adapter->adopt(Arch::kX86_64));
  EXPECT_TRUE(adapter->adopt(Arch::kI386));
  EXPECT_EQ(adapter->arch(), Arch::kI386);
}

}  // namespace
}  // namespace ringside::guestos
