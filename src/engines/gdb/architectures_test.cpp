// Every architecture as QEMU's stub describes it, against what QEMU's monitor said in the same
// stop.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <ostream>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "arch/x86.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/gdb/testing/fake_stub.h"
#include "engines/gdb/testing/known_registers.h"

namespace ringside::engines::gdb {
namespace {

using ::testing::Contains;
using testing::FakeStub;
using ::testing::Not;

struct Recorded {
  Arch machine;
  Arch runs;
  std::string folder;
};

// For the names that ctest shows.
void PrintTo(const Recorded& recorded, std::ostream* out) { *out << recorded.folder; }

class Architecture : public ::testing::TestWithParam<Recorded> {
 protected:
  void SetUp() override {
    const std::string folder = std::string(RINGSIDE_GDB_TESTDATA) + "/" + GetParam().folder;
    std::ifstream monitor(folder + "/info-registers");
    monitor_.assign(std::istreambuf_iterator<char>(monitor), {});
    ASSERT_FALSE(monitor_.empty());
    FakeStub::Settings settings;
    settings.vcpus.resize(1);
    settings.recording = FakeStub::Recording::read(folder);
    sp_ = *testing::monitor_value(monitor_, sp_label());
    settings.pages[sp_ & ~std::uint64_t{4095}] = std::string(4096, 's');
    stub_ = std::make_unique<FakeStub>(settings);
    Options options;
    options.guardian = false;
    auto attached = GdbEngine::attach(stub_->take_client(), options);
    ASSERT_TRUE(attached) << attached.error().message;
    engine_ = std::move(*attached);
  }
  [[nodiscard]] std::string sp_label() const {
    for (const auto& [id, label] : testing::monitor_names(GetParam().runs))
      if (id == arch::roles_of(GetParam().runs).sp) return label;
    return {};
  }
  wire::Capture capture(Arch recipe_arch, std::uint8_t sp) {
    const std::vector<wire::RecipeOp> recipe{{wire::RecipeOpcode::kRegister, 0, sp, 0, 99, 0, 0},
                                             {wire::RecipeOpcode::kLoad, 1, 0, 4, 0, 0, 0},
                                             {wire::RecipeOpcode::kCopy, 0, 0, 0, 0, 0, 16}};
    const std::vector<VcpuPlan> vcpus{{true, recipe, {}, {}}};
    auto tick = engine_->tick({true, true, vcpus, recipe_arch});
    EXPECT_TRUE(tick) << tick.error().message;
    return tick && !tick->captures.empty() ? tick->captures[0] : wire::Capture{};
  }

  std::string monitor_;
  std::uint64_t sp_ = 0;
  std::unique_ptr<FakeStub> stub_;
  std::unique_ptr<GdbEngine> engine_;
};

TEST_P(Architecture, ACaptureHoldsWhatTheMonitorSays) {
  EXPECT_EQ(engine_->arch(), GetParam().machine);
  const Arch arch = GetParam().runs;
  const wire::Capture taken = capture(arch, arch::roles_of(arch).sp);
  EXPECT_EQ(taken.arch, arch);
  EXPECT_EQ(taken.level, PrivilegeLevel::kKernel);
  EXPECT_EQ(taken.disposition, wire::Disposition::kSampled);
  for (const auto& [id, label] : testing::monitor_names(arch)) {
    if (!taken.registers.has(id)) continue;  // on demand, see below
    EXPECT_EQ(taken.registers.get(id), testing::monitor_value(monitor_, label)) << label;
  }
  for (std::size_t n = 0; n < 9; ++n) EXPECT_TRUE(taken.registers.has(n)) << n;
  ASSERT_EQ(taken.pieces.size(), 1u);
  EXPECT_EQ(taken.pieces[0].address.value, sp_);
  EXPECT_EQ(taken.bytes.size(), 16u);
  EXPECT_THAT(stub_->requests(), Contains(fmt::format("m{:x},4", sp_)));
}

TEST_P(Architecture, AllRegistersOnDemand) {
  auto registers = engine_->read_registers(VcpuId{0});
  ASSERT_TRUE(registers) << registers.error().message;
  if (GetParam().machine == Arch::kX86_64) registers = *arch::as_i386(*registers);
  for (const auto& [id, label] : testing::monitor_names(GetParam().runs)) {
    ASSERT_TRUE(registers->has(id)) << label;
    EXPECT_EQ(registers->get(id), testing::monitor_value(monitor_, label)) << label;
  }
  for (const auto& [id, value] : testing::loop_constants(GetParam().runs)) {
    ASSERT_TRUE(registers->has(id)) << int{id};
    EXPECT_EQ(registers->get(id), value) << int{id};
  }
  EXPECT_FALSE(engine_->read_registers(VcpuId{1}));
}

TEST_P(Architecture, ARecipeForAnotherArchitectureDoesNotRun) {
  const wire::Capture taken = capture(Arch::kUnknown, arch::roles_of(GetParam().runs).sp);
  EXPECT_EQ(taken.bytes.size(), 16u);  // it runs where nothing is said
  stub_->forget_requests();
  const Arch other = GetParam().runs == Arch::kI386 ? Arch::kX86_64 : Arch::kI386;
  const wire::Capture bare = capture(other, 0);
  EXPECT_EQ(bare.disposition, wire::Disposition::kSampled);
  EXPECT_TRUE(bare.bytes.empty());
  EXPECT_THAT(stub_->requests(), Not(Contains(::testing::StartsWith("m"))));
}

INSTANTIATE_TEST_SUITE_P(
    Qemu72, Architecture,
    ::testing::Values(Recorded{Arch::kI386, Arch::kI386, "qemu-7.2-i386"},
                      Recorded{Arch::kX86_64, Arch::kI386, "qemu-7.2-x86_64-in-32-bit-mode"},
                      Recorded{Arch::kAArch64, Arch::kAArch64, "qemu-7.2-aarch64"},
                      Recorded{Arch::kRiscv64, Arch::kRiscv64, "qemu-7.2-riscv64"}),
    [](const auto& parameter) {
      return std::string(arch::name_of(parameter.param.machine)) + "_runs_" +
             arch::name_of(parameter.param.runs);
    });

PrivilegeLevel level(Arch arch,
                     std::initializer_list<std::pair<std::uint8_t, std::uint64_t>> values) {
  arch::Registers registers;
  for (const auto& [id, value] : values) registers.set(id, value);
  return privilege_level_of(arch, registers);
}

TEST(PrivilegeLevel, OfI386) {
  using namespace arch::i386;
  EXPECT_EQ(level(Arch::kI386, {{kCr0, 0x10}, {kCs, 0xf000}}), PrivilegeLevel::kFirmware);
  EXPECT_EQ(level(Arch::kI386, {{kCr0, 0x80050033}, {kCs, 0x60}}), PrivilegeLevel::kKernel);
  EXPECT_EQ(level(Arch::kI386, {{kCr0, 0x80050033}, {kCs, 0x73}}), PrivilegeLevel::kUser);
  EXPECT_EQ(level(Arch::kI386, {{kCr0, 0x80050033}, {kCs, 0xf000}, {kEflags, 0x20202}}),
            PrivilegeLevel::kUser);
}

TEST(PrivilegeLevel, OfAArch64) {
  using arch::aarch64::kCpsr;
  const auto el = [](std::uint64_t cpsr) { return level(Arch::kAArch64, {{kCpsr, cpsr}}); };
  EXPECT_EQ(el(0x60001000), PrivilegeLevel::kUser);      // EL0t
  EXPECT_EQ(el(0x200f0010), PrivilegeLevel::kUser);      // AArch32 user
  EXPECT_EQ(el(0x600003c5), PrivilegeLevel::kKernel);    // EL1h
  EXPECT_EQ(el(0x600003c4), PrivilegeLevel::kKernel);    // EL1t
  EXPECT_EQ(el(0x600003c9), PrivilegeLevel::kFirmware);  // EL2h
  EXPECT_EQ(el(0x600003cd), PrivilegeLevel::kFirmware);  // EL3h
  EXPECT_EQ(el(0x200001d3), PrivilegeLevel::kUnknown);   // AArch32 supervisor
  EXPECT_EQ(level(Arch::kAArch64, {}), PrivilegeLevel::kUnknown);
}

TEST(PrivilegeLevel, OfRiscv64) {
  using arch::riscv64::kPriv;
  const auto of = [](std::uint64_t priv) { return level(Arch::kRiscv64, {{kPriv, priv}}); };
  EXPECT_EQ(of(0), PrivilegeLevel::kUser);
  EXPECT_EQ(of(1), PrivilegeLevel::kKernel);
  EXPECT_EQ(of(3), PrivilegeLevel::kFirmware);
  EXPECT_EQ(level(Arch::kRiscv64, {}), PrivilegeLevel::kUnknown);
}

TEST(AsI386, OnlyWherePagingIsOnAndLongModeIsNot) {
  using namespace arch::x86_64;
  arch::Registers registers;
  registers.set(kRsp, 0x1ffffc000);
  registers.set(kCr0, 0x80050033);
  EXPECT_FALSE(arch::as_i386(registers));  // EFER is not known
  registers.set(kEfer, 0xd01);  // SCE, LME, LMA, NXE: a 64-bit kernel, or its 32-bit program
  EXPECT_FALSE(arch::as_i386(registers));
  registers.set(kEfer, 0x800);
  ASSERT_TRUE(arch::as_i386(registers));
  EXPECT_EQ(arch::as_i386(registers)->get(arch::i386::kEsp), 0xffffc000u);
  registers.set(kCr0, 0x11);
  EXPECT_FALSE(arch::as_i386(registers));
}

}  // namespace
}  // namespace ringside::engines::gdb
