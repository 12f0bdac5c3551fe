#include "unwind/user_unwinder.h"

#include <elf.h>
#include <gtest/gtest.h>

#include "elf/elf_writer.h"
#include "wire/registers.h"

namespace ringside::unwind {
namespace {

constexpr std::uint64_t kCode = 0x10000;
constexpr std::uint64_t kStubs = kCode + 0x400;
constexpr std::uint64_t kStubsSize = 0x60;
constexpr std::uint64_t kSp = 0x7fff'f000;

class LinkRegister : public ::testing::TestWithParam<Arch> {
 protected:
  // A program with a procedure linkage table, and no call-frame information.
  LinkRegister() {
    const std::vector<std::byte> code(0x1000);
    elf::ElfWriter writer(GetParam(), true, ET_EXEC);
    writer.add_segment({kCode}, code.size(), true, false, code);
    writer.map_section(".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {kStubs}, kStubsSize);
    auto file = elf::ElfFile::from_bytes(writer.write(), "program");
    EXPECT_TRUE(file);
    if (file) code_ = UserCode({{{kCode}, {kCode + code.size()}, 0, 1, *file}});
  }
  [[nodiscard]] Stack unwind(std::uint64_t pc) {
    const wire::RegisterRoles roles = wire::roles_of(GetParam());
    wire::Registers registers;
    registers.set(roles.pc, pc);
    registers.set(roles.sp, kSp);
    registers.set(roles.link, kCode + 0x104);
    wire::Capture capture;
    capture.arch = GetParam();
    capture.level = PrivilegeLevel::kUser;
    return unwinder_.unwind(GetParam(), registers, capture, code_);
  }

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

INSTANTIATE_TEST_SUITE_P(Architectures, LinkRegister,
                         ::testing::Values(Arch::kAArch64, Arch::kRiscv64),
                         [](const auto& arch) { return std::string(name_of(arch.param)); });

}  // namespace
}  // namespace ringside::unwind
