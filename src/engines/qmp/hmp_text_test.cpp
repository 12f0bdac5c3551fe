// Compares the human monitor's output (testdata/record.py) with the gdb stub's answers in the same
// stop.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>

#include "arch/execution_mode.h"
#include "arch/register_names.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/qmp/hmp_memory.h"
#include "engines/qmp/hmp_registers.h"

namespace ringside::engines::qmp {
namespace {

struct Recorded {
  std::string folder;
  Arch arch;
};

// For the names that ctest shows.
void PrintTo(const Recorded& recorded, std::ostream* out) { *out << recorded.folder; }

std::string read_file(const std::string& folder, const std::string& name) {
  std::ifstream file(std::string(RINGSIDE_QMP_TESTDATA) + "/" + folder + "/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Said {
  bool halted = false;
  arch::Registers registers;
};

std::map<unsigned, Said> said_by_stub(const Recorded& recorded) {
  std::map<unsigned, Said> vcpus;
  std::istringstream lines(read_file(recorded.folder, "registers"));
  unsigned vcpu = 0;
  std::uint64_t value = 0;
  for (std::string name; lines >> vcpu >> name >> std::hex >> value >> std::dec;) {
    if (name == "halted") vcpus[vcpu].halted = value != 0;
    arch::Registers& registers = vcpus[vcpu].registers;
    const auto known = arch::known_register(recorded.arch, name);
    if (known && known->is_of(arch::running_level(recorded.arch, registers)))
      registers.set(known->id, value);
  }
  return vcpus;
}

// The stub gives them as they were when a flag was last asked for (target/i386/gdbstub.c).
std::uint64_t without_arithmetic_flags(Arch arch, std::size_t id, std::uint64_t value) {
  const bool flags = (arch == Arch::kX86_64 && id == arch::x86_64::kRflags) ||
                     (arch == Arch::kI386 && id == arch::i386::kEflags);
  return flags ? value & ~std::uint64_t{0xcd5} : value;
}

// R8 … R15 are not printed of a vCPU that is not in 64-bit mode: here, one that is off.
std::uint64_t hidden_in_16_bit_code(Arch arch, const arch::Registers& registers) {
  const bool hides = arch == Arch::kX86_64 &&
                     arch::privilege_level_of(arch, registers) == PrivilegeLevel::kFirmware;
  return hides ? std::uint64_t{0xff} << arch::x86_64::kR8 : 0;
}

// The stub was not asked for machine mode's own.
std::uint64_t not_said_in_machine_mode(Arch arch, const arch::Registers& registers) {
  const bool machine = arch == Arch::kRiscv64 && arch::running_level(arch, registers) == 3;
  std::uint64_t bits = 0;
  for (const std::uint8_t reg :
       {arch::riscv64::kSepc, arch::riscv64::kSstatus, arch::riscv64::kStvec})
    bits |= machine ? std::uint64_t{1} << reg : 0;
  return bits;
}

class HmpText : public ::testing::TestWithParam<Recorded> {};

TEST_P(HmpText, RegistersAreTheStubs) {
  const Arch arch = GetParam().arch;
  const auto printed = parse_info_registers(arch, read_file(GetParam().folder, "info-registers"));
  const auto said = said_by_stub(GetParam());
  ASSERT_GT(said.size(), 1u);
  ASSERT_EQ(printed.size(), said.size());
  for (const PrintedVcpu& vcpu : printed) {
    const Said& expected = said.at(vcpu.vcpu.value);
    const bool x86 = arch == Arch::kX86_64 || arch == Arch::kI386;
    EXPECT_EQ(vcpu.halted, x86 && expected.halted) << vcpu.vcpu.value;
    EXPECT_EQ(vcpu.registers.valid | hidden_in_16_bit_code(arch, vcpu.registers),
              expected.registers.valid | not_said_in_machine_mode(arch, expected.registers))
        << vcpu.vcpu.value;
    for (std::size_t id = 0; id < arch::kRegisterCount; ++id) {
      const std::uint64_t not_said = not_said_in_machine_mode(arch, expected.registers);
      if (!expected.registers.has(id) || (not_said >> id & 1) != 0) continue;
      EXPECT_EQ(without_arithmetic_flags(arch, id, vcpu.registers.get(id)),
                without_arithmetic_flags(arch, id, expected.registers.get(id)))
          << "vCPU " << vcpu.vcpu.value << ", register " << id;
    }
    EXPECT_EQ(arch::privilege_level_of(arch, vcpu.registers),
              arch::privilege_level_of(arch, expected.registers));
  }
}

TEST_P(HmpText, MemoryIsTheStubs) {
  const std::string dump = read_file(GetParam().folder, "dump");
  std::istringstream line(read_file(GetParam().folder, "memory"));
  std::uint64_t address = 0;
  std::string hex;
  line >> std::hex >> address >> hex;
  std::array<std::byte, 256> expected{};
  ASSERT_EQ(gdb::decode_hex(hex, expected), expected.size());
  std::array<std::byte, 256> got{};
  EXPECT_EQ(parse_dump(dump, address, got), got.size());
  EXPECT_EQ(got, expected);
  // Bytes in the middle of words.
  std::array<std::byte, 17> some{};
  EXPECT_EQ(parse_dump(dump, address + 5, some), some.size());
  EXPECT_TRUE(std::equal(some.begin(), some.end(), expected.begin() + 5));
  EXPECT_EQ(parse_dump(dump, address + 8, some), 0u);  // the text begins elsewhere
}

INSTANTIATE_TEST_SUITE_P(Qemu, HmpText,
                         ::testing::Values(Recorded{"qemu-7.2-amd64", Arch::kX86_64},
                                           Recorded{"qemu-7.2-i386", Arch::kI386},
                                           Recorded{"qemu-7.2-arm64", Arch::kAArch64},
                                           Recorded{"qemu-7.2-riscv64", Arch::kRiscv64},
                                           Recorded{"qemu-10.0-amd64", Arch::kX86_64},
                                           Recorded{"qemu-10.0-i386", Arch::kI386},
                                           Recorded{"qemu-10.0-arm64", Arch::kAArch64},
                                           Recorded{"qemu-10.0-riscv64", Arch::kRiscv64}),
                         [](const auto& recorded) {
                           std::string name = recorded.param.folder;
                           for (char& c : name)
                             if (c == '-' || c == '.') c = '_';
                           return name;
                         });

TEST(HmpDump, IsAskedForInWholeWords) {
  EXPECT_EQ(dump_command("x", 0xffffc90000083d88, 2048), "x /256gx 0xffffc90000083d88");
  EXPECT_EQ(dump_command("xp", 0x1003, 4), "xp /1gx 0x1000");
  EXPECT_EQ(dump_command("x", 0x1005, 4), "x /2gx 0x1000");
  EXPECT_EQ(dump_command("x", 0xfffffffffffffff8, 64), "x /1gx 0xfffffffffffffff8");
}

TEST(HmpDump, EndsWhereTheMonitorCannotReadOn) {
  std::array<std::byte, 32> bytes{};
  EXPECT_EQ(parse_dump("0000000000001ff0: 0x0102030405060708 0x1\r\n"
                       "0000000000002000: Cannot access memory\r\n",
                       0x1ff4, bytes),
            12u);
  EXPECT_EQ(bytes[0], std::byte{4});
  EXPECT_EQ(bytes[3], std::byte{1});
  EXPECT_EQ(bytes[4], std::byte{1});
  EXPECT_EQ(parse_dump("0000000000000010: Cannot access memory\r\n", 0x10, bytes), 0u);
  EXPECT_EQ(parse_dump("unknown command: 'x'\r\n", 0x10, bytes), 0u);
  // A machine of 32 bits has addresses of 32 bits.
  EXPECT_EQ(parse_dump("fffffff8: 0x1\n", 0xfffffffffffffff8, bytes), 8u);
}

TEST(HmpMemory, ReadsTranslations) {
  EXPECT_EQ(parse_translation("gpa: 0x546fea8\r\n"), GuestPhys{0x546fea8});
  EXPECT_EQ(parse_translation("Unmapped\r\n"), std::nullopt);
  EXPECT_EQ(parse_translation("gpa: 0x\n"), std::nullopt);
  EXPECT_EQ(parse_translation("gpa: 0x123456789abcdef01\n"), std::nullopt);
}

TEST(HmpRegisters, OddTextIsPassedOver) {
  const auto vcpus = parse_info_registers(
      Arch::kX86_64,
      "RAX=1\nCPU#0\nRAX=zz RBX=\nRCX=12345678901234567 HLT=1\nCPU#99999\nCPU#7\nRIP=2");
  ASSERT_EQ(vcpus.size(), 2u);
  EXPECT_TRUE(vcpus[0].halted);
  EXPECT_EQ(vcpus[0].registers.valid, 0u);
  EXPECT_EQ(vcpus[1].vcpu.value, 7);
  EXPECT_EQ(vcpus[1].registers.get(arch::x86_64::kRip), 2u);
}

// The text has no privilege mode. Addresses: OpenSBI's with Linux, xv6's, and those of a kernel in
// machine mode.
TEST(HmpRegisters, TheModeOfRiscv64ComesFromTheVectors) {
  const auto priv = [](std::uint64_t pc, std::uint64_t satp, std::uint64_t mtvec,
                       std::uint64_t stvec) {
    const auto vcpus = parse_info_registers(
        Arch::kRiscv64,
        fmt::format("CPU#0\n pc {:016x}\n mstatus 0000000a00001880\n stvec {:016x}\n mtvec "
                    "{:016x}\n mepc 0000000080000123\n sepc 0000000000000456\n satp {:016x}\n",
                    pc, stvec, mtvec, satp));
    EXPECT_EQ(vcpus.size(), 1u);
    const arch::Registers& registers = vcpus.at(0).registers;
    const bool machine = registers.get(arch::riscv64::kPriv) == 3;
    EXPECT_EQ(registers.get(arch::riscv64::kSepc), machine ? 0x80000123u : 0x456u);
    EXPECT_EQ(registers.get(arch::riscv64::kStvec), machine ? mtvec : stvec);
    EXPECT_EQ(registers.get(arch::riscv64::kSstatus), machine ? 0xa00001880u : 0x200000000u);
    return registers.get(arch::riscv64::kPriv);
  };
  constexpr std::uint64_t kPages = std::uint64_t{8} << 60 | 0x80123;
  constexpr std::uint64_t kLinux = 0xffffffff80003a2c;
  EXPECT_EQ(priv(0xffffffff80801234, kPages, 0x800004f8, kLinux), 1u);
  EXPECT_EQ(priv(0x80012345, kPages, 0x800004f8, kLinux), 3u);
  EXPECT_EQ(priv(0x3f12345678, kPages, 0x800004f8, kLinux), 0u);
  EXPECT_EQ(priv(0x80201000, kPages, 0x800004f8, 0x80204000), 1u);  // a kernel behind OpenSBI
  EXPECT_EQ(priv(0x80912345, kPages, 0x800004f8, 0x80204000), 1u);
  EXPECT_EQ(priv(0x80001000, kPages, 0x80005a40, 0x80005a00), 1u);  // xv6
  EXPECT_EQ(priv(0x00001234, kPages, 0x80005a40, 0x3ffffff000), 0u);
  EXPECT_EQ(priv(0x80005a50, kPages, 0x80005a40, 0x80005a00), 1u);
  EXPECT_EQ(priv(0x80000200, 0, 0x80000030, 0), 3u);
  EXPECT_EQ(priv(0x80300200, 0, 0x80000030, 0), 3u);
  EXPECT_EQ(priv(0x80201000, 0, 0x800004f8, 0x80200100), 1u);  // no page tables yet
}

}  // namespace
}  // namespace ringside::engines::qmp
