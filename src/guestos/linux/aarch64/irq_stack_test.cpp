#include "guestos/linux/aarch64/irq_stack.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "elf/elf_writer.h"
#include "guestos/linux/linux_adapter.h"
#include "wire/ring.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kText = 0xffff800008010000;
constexpr std::uint64_t kSlide = 0x20000000;
constexpr std::uint32_t kNop = 0xd503201f;

struct Function {
  std::string name;
  std::vector<std::uint32_t> code;
};

elf::Image kernel_with(const std::vector<Function>& functions) {
  std::vector<std::byte> text(256 * functions.size());
  std::vector<elf::ElfWriter::Symbol> symbols;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const auto& code = functions[i].code;
    std::memcpy(text.data() + 256 * i, code.data(), 4 * code.size());
    symbols.push_back({.name = functions[i].name,
                       .address = {kText + 256 * i},
                       .size = 4 * code.size(),
                       .info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC)});
  }
  elf::ElfWriter writer(Arch::kAArch64, true, ET_EXEC);
  writer.add_segment({kText}, text.size(), true, false, text);
  writer.set_symbols(symbols);
  const auto file = elf::ElfFile::from_bytes(writer.write(), "vmlinux");
  EXPECT_TRUE(file);
  return {.id = 1, .name = "kernel", .file = *file, .load_bias = kSlide};
}

std::vector<EndRecord> records_of(const std::vector<Function>& functions) {
  return aarch64_irq_stack_records(kernel_with(functions));
}

// From Debian's 6.1 arm64 kernel, as llvm-objdump shows it.
const Function kCaller = {"call_on_irq_stack",
                          {0xd503245f, 0xa9bf7bfd, 0x910003fd, 0x9140121f,  // add sp, x16, #16384
                           0xd63f0020, 0x910003bf}};                        // blr x1; mov sp, x29
const Function kSoft = {"____do_softirq", {kNop, kNop, 0xd503233f, 0xa9bf7bfd, 0x910003fd}};
const Function kHard2 = {"gic_handle_irq", {kNop, kNop, 0xd503233f, 0xa9bd7bfd, 0x910003fd}};
const Function kHard3 = {"gic_handle_irq", {kNop, kNop, 0xd503233f, 0xa9be7bfd, 0x910003fd}};

TEST(Aarch64IrqStack, TheFirstFunctionsRecordIsWhereItsPushSays) {
  const std::uint64_t back = (kText + kSlide + 20) & 0xffffffffffff;
  EXPECT_EQ(records_of({kCaller, kSoft, kHard2, kHard3, kHard2}),
            (std::vector<EndRecord>{{16, back}, {48, back}, {32, back}}));
}

TEST(Aarch64IrqStack, NothingIsGuessed) {
  EXPECT_TRUE(records_of({kSoft, kHard2}).empty());  // no call_on_irq_stack
  EXPECT_TRUE(records_of({{"call_on_irq_stack", {kNop, kNop}}, kSoft}).empty());
  EXPECT_TRUE(records_of({kCaller, {"gic_handle_irq", {kNop, 0x910003fd}}}).empty());  // no push
  EXPECT_TRUE(records_of({kCaller, {"do_softirq", kSoft.code}}).empty());
}

TEST(Aarch64IrqStack, IsEmptyInTheCodeThatSwitchesToItAndInItsFirstFunctions) {
  const UnknownStacks stacks = aarch64_unknown_irq_stacks(kernel_with({kCaller, kHard2}));
  EXPECT_EQ(stacks.records.size(), 1u);
  ASSERT_EQ(stacks.empty_in.size(), 2u);
  EXPECT_EQ(stacks.empty_in[0].start.value, kText + kSlide);
  EXPECT_EQ(stacks.empty_in[0].size, 24u);
  EXPECT_EQ(stacks.empty_in[1].start.value, kText + kSlide + 256);
  EXPECT_TRUE(aarch64_unknown_irq_stacks(kernel_with({kSoft})).empty_in.empty());
}

std::size_t recipe_size(const LinuxAdapter& adapter, const std::vector<LearntLink>& links = {}) {
  return adapter.recipe(VcpuId{0}, {.links = links}).size();
}

// Another handler's record has the same return address, and another distance.
TEST(Aarch64IrqStack, ALearntRecordCountsUnlessItIsAtADistanceThatIsKnown) {
  const elf::Image kernel = kernel_with({kCaller, kSoft});
  const LinuxAdapter adapter(kernel, {});
  const std::size_t size = recipe_size(adapter);
  constexpr std::uint64_t kEnd = 0xffff80000a00c000;
  const std::uint64_t back = (kText + kSlide + 20) & 0xffffffffffff;
  EXPECT_EQ(recipe_size(adapter, {{.slot = {kEnd - 16}, .returns_to = back}}), size);
  EXPECT_GT(recipe_size(adapter, {{.slot = {kEnd - 48}, .returns_to = back}}), size);
  EXPECT_GT(recipe_size(adapter, {{.slot = {kEnd - 16}, .returns_to = back + 4}}), size);
}

TEST(Aarch64IrqStack, RecipesFitIntoTheRingWhateverSymbolsTheKernelHas) {
  std::vector<Function> functions{kCaller};
  for (std::uint32_t i = 0; i < 100; ++i) {  // stp x29, x30, [sp, #-8 * (1 + i % 64)]!
    const std::uint32_t push = 0xa9807bfd | (127 - i % 64) << 15;
    functions.push_back({"gic_handle_irq", {kNop, push}});
  }
  const elf::Image kernel = kernel_with(functions);
  const UnknownStacks stacks = aarch64_unknown_irq_stacks(kernel);
  EXPECT_EQ(stacks.records.size(), 8u);
  EXPECT_EQ(stacks.empty_in.size(), 8u);
  const std::vector<LearntLink> links(kMaxKernelLinks,
                                      {.slot = GuestVirt{0xffff80000a00bf08}, .returns_to = 1});
  EXPECT_LE(recipe_size(LinuxAdapter(kernel, {}), links), wire::kMaxRecipeOps);
}

}  // namespace
}  // namespace ringside::guestos
