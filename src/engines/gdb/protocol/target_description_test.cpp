#include "engines/gdb/protocol/target_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/execution_mode.h"
#include "base/file.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/register_layout.h"

namespace ringside::engines::gdb {
namespace {

namespace x86 = arch::x86_64;

std::string testdata(const std::string& name) {
  const auto file = MappedFile::open(std::string(RINGSIDE_GDB_TESTDATA) + "/" + name);
  if (!file) return {};
  const Bytes bytes = (*file)->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<std::string> no_annex(const std::string& name) {
  return fail(ErrorCode::kNotFound, "{}", name);
}

std::string hex_of(std::uint64_t value, std::size_t bytes) {
  return encode_hex_text(std::string(reinterpret_cast<const char*>(&value), bytes));
}

TEST(TargetDescription, OfQemu72) {
  const auto description = parse_target_description(
      testdata("target.xml"),
      [](const std::string& name) { return Result<std::string>(testdata(name)); });
  ASSERT_TRUE(description) << description.error().message;
  EXPECT_EQ(description->arch, Arch::kX86_64);
  const auto find = [&](std::string_view name) {
    return std::find_if(description->registers.begin(), description->registers.end(),
                        [name](const auto& reg) { return reg.name == name; });
  };
  EXPECT_EQ(find("rip")->number, 16u);
  EXPECT_EQ(find("cr3")->bits, 64u);

  // 608 bytes is what QEMU 7.2 sends; rip is the 17th register, cr3 the 30th.
  const auto layout = RegisterLayout::from_description(*description, 608);
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_TRUE(layout->numbers_for_p(AskedFor::kEverySample).empty());
  std::string g(1216, '0');
  g.replace(16 * 16, 16, hex_of(0xffffffff81234567, 8));
  const std::size_t cr3 = 2 * (17 * 8 + 7 * 4 + 5 * 8);
  g.replace(cr3, 16, hex_of(0x1122000, 8));
  arch::Registers registers;
  layout->decode_g(g, registers);
  EXPECT_EQ(registers.get(x86::kRip), 0xffffffff81234567u);
  EXPECT_EQ(registers.get(x86::kCr3), 0x1122000u);
  EXPECT_TRUE(registers.has(x86::kEfer));
}

TEST(TargetDescription, NumbersGoOnFromTheLastOne) {
  const auto description = parse_target_description(testdata("aarch64.xml"), no_annex);
  ASSERT_TRUE(description) << description.error().message;
  EXPECT_EQ(description->arch, Arch::kAArch64);
  ASSERT_EQ(description->registers.size(), 6u);
  EXPECT_EQ(description->registers[3].name, "cpsr");
  EXPECT_EQ(description->registers[3].number, 33u);
  EXPECT_EQ(description->registers[4].number, 72u);  // regnum in the file
  EXPECT_EQ(description->registers[5].number, 73u);
  // Only lr, sp, pc and cpsr of these lie in `g`.
  const auto layout = RegisterLayout::from_description(*description, 28);
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_EQ(layout->arch(), Arch::kAArch64);
}

TEST(TargetDescription, BadInput) {
  for (const char* text :
       {"", "<target", "<target><reg name='a' bitsize='0'/></target>",
        "<target><reg name='a' bitsize='99999999'/></target>",
        "<target><reg name='a' bitsize='8' regnum='1'/><reg name='b' bitsize='8' regnum='1'/>"
        "</target>",
        "<target><xi:include href='x'/></target>"})
    EXPECT_FALSE(parse_target_description(text, no_annex)) << text;
}

TEST(TargetDescription, ThatIncludesItselfEnds) {
  const std::string self = "<target><xi:include href='target.xml'/></target>";
  const auto description = parse_target_description(
      self, [&self](const std::string&) { return Result<std::string>(self); });
  ASSERT_FALSE(description);
  EXPECT_EQ(description.error().code, ErrorCode::kFormat);
}

TEST(RegisterLayout, BeyondTheEndOfGIsAskedOneByOne) {
  const TargetDescription description{
      Arch::kX86_64, "", {{"rsp", 0, 64}, {"rip", 1, 64}, {"zmm0", 2, 512}, {"cr3", 9, 64}}};
  const auto layout = RegisterLayout::from_description(description, 16);
  ASSERT_TRUE(layout);
  EXPECT_THAT(layout->numbers_for_p(AskedFor::kEverySample), ::testing::ElementsAre(9u));
  arch::Registers registers;
  layout->decode_p(AskedFor::kEverySample, 0, hex_of(0x5000, 8), registers);
  layout->decode_g("xxxxxxxxxxxxxxxx" + hex_of(1, 8), registers);
  EXPECT_EQ(registers.get(x86::kCr3), 0x5000u);
  EXPECT_FALSE(registers.has(x86::kRsp));
  EXPECT_EQ(registers.get(x86::kRip), 1u);
  EXPECT_FALSE(RegisterLayout::from_description(description, 8));
}

// Each level has a register of its own for what it has interrupted; a capture has the one that
// counts.
TEST(RegisterLayout, RegistersOfTheLevelThatRunsAreWanted) {
  using namespace arch::aarch64;
  const TargetDescription description{Arch::kAArch64,
                                      "",
                                      {{"sp", 0, 64},
                                       {"pc", 1, 64},
                                       {"cpsr", 2, 32},
                                       {"ELR_EL1", 70, 64},
                                       {"ELR_EL2", 71, 64},
                                       {"ELR_EL3", 72, 64}}};
  const auto layout = RegisterLayout::from_description(description, 20);
  ASSERT_TRUE(layout);
  constexpr auto kWhen = AskedFor::kKernelSample;
  ASSERT_THAT(layout->numbers_for_p(kWhen), ::testing::ElementsAre(70u, 71u, 72u));
  for (const auto& [cpsr, wanted] : {std::pair{0x3c0, 0u}, {0x3c5, 0u}, {0x3c9, 1u}, {0x3cd, 2u}}) {
    arch::Registers registers;
    registers.set(kCpsr, static_cast<std::uint64_t>(cpsr));
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_EQ(layout->is_wanted(kWhen, n, registers), n == wanted) << cpsr;
      layout->decode_p(kWhen, n, hex_of(0x100 + n, 8), registers);
    }
    EXPECT_EQ(registers.get(kElrEl1), 0x100u + wanted);
  }
}

TEST(RegisterLayout, FallbackIsGdbsOwn) {
  const auto layout = RegisterLayout::fallback(164);
  ASSERT_TRUE(layout);
  std::string g(328, '0');
  g.replace(16 * 16, 16, hex_of(0x401000, 8));
  g.replace(16 * 17 + 8, 8, hex_of(0x33, 4));
  arch::Registers registers;
  layout->decode_g(g, registers);
  EXPECT_EQ(registers.get(x86::kRip), 0x401000u);
  EXPECT_EQ(privilege_level_of(Arch::kX86_64, registers), PrivilegeLevel::kUser);
  EXPECT_FALSE(RegisterLayout::fallback(308));
  EXPECT_FALSE(RegisterLayout::fallback(4));
}

TEST(PrivilegeLevel, OfX86) {
  const auto level = [](std::uint64_t cr0, std::uint64_t cs) {
    arch::Registers registers;
    registers.set(x86::kCr0, cr0);
    registers.set(x86::kCs, cs);
    return privilege_level_of(Arch::kX86_64, registers);
  };
  EXPECT_EQ(level(0x60000010, 0xf000), PrivilegeLevel::kFirmware);
  EXPECT_EQ(level(0x11, 0x8), PrivilegeLevel::kFirmware);
  EXPECT_EQ(level(0x80050033, 0x10), PrivilegeLevel::kKernel);
  EXPECT_EQ(level(0x80050033, 0x33), PrivilegeLevel::kUser);
  EXPECT_EQ(arch::privilege_level_of(Arch::kX86_64, {}), PrivilegeLevel::kUnknown);
}

}  // namespace
}  // namespace ringside::engines::gdb
