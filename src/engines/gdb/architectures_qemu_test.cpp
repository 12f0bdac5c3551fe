// Every architecture on the QEMU that is installed: a program of testdata/loops runs, and captures
// must hold what QEMU's monitor says, and what the program has set.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "arch/x86.h"
#include "base/clock.h"
#include "base/testing/time_limits.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/gdb/testing/known_registers.h"
#include "engines/gdb/testing/qemu_process.h"

namespace ringside::engines::gdb {
namespace {

using testing::QemuProcess;

struct Machine {
  std::string name;
  std::string program;
  Arch arch;
  Arch runs;
  std::string loop;
  std::vector<std::string> options;  // LOOP stands for the program's path
};

// For the names that ctest shows.
void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.name; }

class QemuOf : public ::testing::TestWithParam<Machine> {
 protected:
  void boot() {
    std::string path = fmt::format("{}/loops/{}.bin", RINGSIDE_GDB_TESTDATA, GetParam().loop);
    if (GetParam().runs == Arch::kI386) path = make_rom(path);
    std::vector<std::string> options = GetParam().options;
    for (std::string& option : options)
      if (const auto at = option.find("LOOP"); at != option.npos) option.replace(at, 4, path);
    std::string why;
    qemu_ = QemuProcess::start(options, why, GetParam().program);
    if (!qemu_) GTEST_SKIP() << why;
  }
  // A BIOS of 64 KiB that ends with the program.
  std::string make_rom(const std::string& path) {
    rom_ = ::testing::TempDir() + "ringside-rom-" + std::to_string(::getpid());
    std::ifstream in(path, std::ios::binary);
    const std::string code(std::istreambuf_iterator<char>(in), {});
    std::ofstream(rom_, std::ios::binary) << std::string(64 * 1024 - code.size(), '\0') << code;
    return rom_;
  }
  ~QemuOf() override {
    std::error_code ignored;
    if (!rom_.empty()) std::filesystem::remove(rom_, ignored);
  }

  std::string rom_;
  std::unique_ptr<QemuProcess> qemu_;
};

TEST_P(QemuOf, CapturesHoldWhatTheMonitorSays) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  auto attached = GdbEngine::attach(qemu_->connect_gdb());
  ASSERT_TRUE(attached) << attached.error().message;
  GdbEngine& engine = **attached;
  EXPECT_EQ(engine.arch(), GetParam().arch);
  const Arch arch = GetParam().runs;
  const auto constants = testing::loop_constants(arch);
  const arch::RegisterRoles roles = arch::roles_of(arch);
  // The last that the program sets is the frame pointer or lies before it.
  wire::Capture capture;
  // A busy host loses many ticks, which have no registers.
  const std::uint64_t end_ns = ringside::testing::step_end_ns();
  while (monotonic_ns() < end_ns) {
    ::usleep(10'000);
    const std::vector<wire::RecipeOp> none;
    const std::vector<VcpuPlan> vcpus{{true, none, {}, {}}};
    const auto tick = engine.tick({true, true, vcpus});
    ASSERT_TRUE(tick) << tick.error().message;
    capture = tick->captures[0];
    const auto& last = constants.back();
    if (capture.arch == arch && capture.registers.has(last.id) &&
        capture.registers.get(last.id) == last.value)
      break;
  }
  EXPECT_EQ(capture.arch, arch);
  EXPECT_EQ(capture.level, PrivilegeLevel::kKernel);
  auto all = engine.read_registers(VcpuId{0});
  ASSERT_TRUE(all) << all.error().message;
  if (arch != engine.arch()) all = *arch::as_i386(*all);
  const std::string monitor = qemu_->hmp("info registers");
  for (const auto& [id, label] : testing::monitor_names(arch)) {
    ASSERT_TRUE(all->has(id)) << label;
    const auto said = testing::monitor_value(monitor, label);
    EXPECT_EQ(all->get(id), said) << label << "\n" << monitor;
    if (capture.registers.has(id)) {
      EXPECT_EQ(capture.registers.get(id), said) << label;
    }
  }
  for (const auto& [id, value] : constants) EXPECT_EQ(all->get(id), value) << int{id};
  EXPECT_TRUE(capture.registers.has(roles.pc));
  EXPECT_TRUE(qemu_->runs());
}

TEST_P(QemuOf, MemoryIsReadWhileTheGuestRuns) {
  ASSERT_NO_FATAL_FAILURE(boot());
  if (!qemu_) return;
  auto attached = GdbEngine::attach(qemu_->connect_gdb());
  ASSERT_TRUE(attached) << attached.error().message;
  GdbEngine& engine = **attached;
  // The program is its own expected value: the code at the pc comes from it.
  std::ifstream file(fmt::format("{}/loops/{}.bin", RINGSIDE_GDB_TESTDATA, GetParam().loop),
                     std::ios::binary);
  std::string program(std::istreambuf_iterator<char>(file), {});
  program.append(8, '\0');  // what lies behind it
  bool same = false;
  for (int i = 0; i < 200 && !same; ++i) {
    ::usleep(10'000);
    const auto registers = engine.read_registers(VcpuId{0});
    ASSERT_TRUE(registers) << registers.error().message;
    const std::uint64_t pc = registers->get(arch::roles_of(engine.arch()).pc);
    std::string code(8, '\0');
    const auto got = engine.virtual_memory(VcpuId{0}).read_up_to(
        GuestVirt{pc}, std::as_writable_bytes(std::span(code.data(), 8)));
    ASSERT_TRUE(got) << got.error().message;
    same = *got == 8 && code != std::string(8, '\0') && program.find(code) != program.npos;
  }
  EXPECT_TRUE(same);
  EXPECT_NE(engine.explain_memory_access(), "");
  EXPECT_GT(engine.memory_pauses().count, 0u);
  EXPECT_TRUE(qemu_->runs());
}

const std::vector<Machine> kMachines{
    {"I386", "qemu-system-i386", Arch::kI386, Arch::kI386, "x86", {"-bios", "LOOP"}},
    {"X86In32BitMode", "qemu-system-x86_64", Arch::kX86_64, Arch::kI386, "x86", {"-bios", "LOOP"}},
    {"CortexA57",
     "qemu-system-aarch64",
     Arch::kAArch64,
     Arch::kAArch64,
     "aarch64",
     {"-M", "virt", "-cpu", "cortex-a57", "-device",
      "loader,file=LOOP,addr=0x40200000,cpu-num=0,force-raw=on"}},
    {"Aarch64Max",
     "qemu-system-aarch64",
     Arch::kAArch64,
     Arch::kAArch64,
     "aarch64",
     {"-M", "virt", "-cpu", "max", "-device",
      "loader,file=LOOP,addr=0x40200000,cpu-num=0,force-raw=on"}},
    {"Riscv64",
     "qemu-system-riscv64",
     Arch::kRiscv64,
     Arch::kRiscv64,
     "riscv64",
     {"-M", "virt", "-bios", "none", "-device", "loader,file=LOOP,addr=0x80000000,force-raw=on"}},
};

INSTANTIATE_TEST_SUITE_P(Each, QemuOf, ::testing::ValuesIn(kMachines),
                         [](const auto& machine) { return machine.param.name; });

}  // namespace
}  // namespace ringside::engines::gdb
