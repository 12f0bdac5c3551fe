#include "arch/arch_info.h"

#include <gtest/gtest.h>

#include "arch/execution_mode.h"
#include "arch/register_names.h"

namespace ringside::arch {
namespace {

class EachArchitecture : public ::testing::TestWithParam<const ArchInfo*> {
 protected:
  [[nodiscard]] static const ArchInfo& info() { return *GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(, EachArchitecture,
                         ::testing::ValuesIn(architectures().begin(), architectures().end()),
                         [](const auto& param) { return std::string(param.param->name); });

TEST_P(EachArchitecture, IsFoundByItsNumberNameAndMachine) {
  EXPECT_EQ(&info_of(info().id), &info());
  EXPECT_EQ(arch_named(info().name), info().id);
  EXPECT_EQ(arch_of_elf(info().elf_machine, info().is_64_bit()), info().id);
  EXPECT_EQ(arch_of_elf(info().elf_machine, !info().is_64_bit()), Arch::kUnknown);
}

TEST_P(EachArchitecture, HasAllThatIsAskedOfIt) {
  EXPECT_FALSE(info().gdb_name.empty());
  EXPECT_TRUE(info().roles.known());
  EXPECT_NE(info().roles.sp, kNoRegister);
  EXPECT_NE(info().roles.fp, kNoRegister);
  EXPECT_NE(info().roles.callee_saved, 0u);
  EXPECT_NE(info().user_root.reg, kNoRegister);
  EXPECT_NE(info().user_root.mask, 0u);
  ASSERT_NE(info().privilege_level, nullptr);
  EXPECT_NE(info().user_mode.reg, kNoRegister);
  EXPECT_NE(info().saved_mode.reg, kNoRegister);
  EXPECT_NE(std::string_view(info().firmware_mode), "");
  EXPECT_NE(std::string_view(info().guest_mode), "");
  // Where calls leave no return address in a register they push it, and so does hardware.
  EXPECT_EQ(info().roles.link == kNoRegister, info().exception.pc == kNoRegister);
}

TEST_P(EachArchitecture, NamesTheRegistersThatPlayAPart) {
  const RegisterRoles& roles = info().roles;
  for (const std::uint8_t reg : {roles.pc, roles.sp, roles.fp, info().user_root.reg,
                                 info().user_mode.reg, info().saved_mode.reg}) {
    ASSERT_LT(reg, kRegisterCount);
    const std::string name = register_name(info().id, reg);
    EXPECT_NE(name, "") << unsigned{reg};
    EXPECT_EQ(register_number(info().id, name), reg);
  }
}

TEST_P(EachArchitecture, NamesEachRegisterInOneWay) {
  for (const RegisterName& row : info().registers) {
    ASSERT_LT(row.id, kRegisterCount) << row.name;
    EXPECT_EQ(register_number(info().id, register_name(info().id, row.id)), row.id) << row.name;
  }
}

// "Is this user code?" has one answer, whoever asks: the registers of a vCPU, or a recipe.
TEST_P(EachArchitecture, AgreesWithItselfOnUserMode) {
  Registers registers;
  registers.set(info().user_mode.reg, info().user_mode.value);
  EXPECT_EQ(privilege_level_of(info().id, registers), PrivilegeLevel::kUser);
  registers.set(info().user_mode.reg, info().user_mode.value ^ info().user_mode.mask);
  EXPECT_NE(privilege_level_of(info().id, registers), PrivilegeLevel::kUser);
  EXPECT_EQ(privilege_level_of(info().id, {}), PrivilegeLevel::kUnknown);
}

TEST_P(EachArchitecture, ReadsTheRootThatItWasGiven) {
  Registers registers;
  EXPECT_EQ(user_root(info().id, registers), std::nullopt);
  registers.set(info().user_root.reg, ~std::uint64_t{0});
  const GuestPhys root{0x1234'4000};
  EXPECT_EQ(user_root(info().id, with_user_root(info().id, registers, root)), root.value);
}

TEST_P(EachArchitecture, HasOneInfoForEachLevelOfAKernel) {
  for (std::uint8_t level = 0; level < 8; ++level) {
    const ArchInfo& there = info_of(info().id, level);
    EXPECT_EQ(there.id, info().id);
    EXPECT_EQ(there.roles.pc, info().roles.pc);
    EXPECT_EQ(there.saved_mode.reg, info().saved_mode.reg);
  }
  EXPECT_EQ(info_of(info().id, std::nullopt).saved_mode.mask, info().saved_mode.mask);
}

TEST(UnknownArchitecture, HasNoRegisters) {
  EXPECT_FALSE(roles_of(Arch::kUnknown).known());
  EXPECT_EQ(find_info(Arch::kUnknown), nullptr);
  EXPECT_EQ(name_of(Arch::kUnknown), std::string_view("unknown"));
  EXPECT_EQ(arch_named("sparc64"), Arch::kUnknown);
  EXPECT_EQ(privilege_level_of(Arch::kUnknown, {}), PrivilegeLevel::kUnknown);
  EXPECT_EQ(user_root(Arch::kUnknown, {}), std::nullopt);
}

// Recordings and case files have them; gdb calls some otherwise.
TEST(RegisterNames, AreInLowerCase) {
  EXPECT_EQ(register_name(Arch::kAArch64, aarch64::kVbarEl1), "vbar_el1");
  EXPECT_EQ(register_name(Arch::kAArch64, aarch64::kFp), "x29");
  EXPECT_EQ(register_name(Arch::kAArch64, aarch64::kRaSignState), "ra_sign_state");
  EXPECT_EQ(register_name(Arch::kRiscv64, riscv64::kFp), "fp");
  EXPECT_EQ(register_name(Arch::kX86_64, x86_64::kCr8), "cr8");
  EXPECT_EQ(register_name(Arch::kX86_64, 63), "");
  EXPECT_EQ(register_number(Arch::kRiscv64, "s0"), std::nullopt);
}

TEST(RegisterNames, OfAStubAreThoseThatCapturesCarry) {
  EXPECT_EQ(known_register(Arch::kAArch64, "VBAR")->id, aarch64::kVbarEl1);
  EXPECT_EQ(known_register(Arch::kRiscv64, "s0")->id, riscv64::kFp);
  EXPECT_FALSE(known_register(Arch::kX86_64, "cr8"));
}

}  // namespace
}  // namespace ringside::arch
