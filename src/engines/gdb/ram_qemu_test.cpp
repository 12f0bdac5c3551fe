// QEMU's own copy of guest memory, found for several machines and memory backends. A pattern is
// loaded into each block of RAM, and what is read is compared with the monitor's `xp`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <ostream>

#include "engines/gdb/gdb_engine.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/testing/qemu_process.h"

namespace ringside::engines::gdb {
namespace {

using testing::QemuProcess;

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kPatternBytes = 24 * kMiB;

struct Machine {
  std::string name;
  std::string program;
  std::vector<std::string> options;
  std::vector<std::uint64_t> blocks;  // guest-physical, in MiB: a place in each
  std::string explanation = "QEMU's own memory";
};

// For the names that ctest shows.
void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.name; }

class QemuRamOf : public ::testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "ringside-pattern-" + std::to_string(::getpid());
    std::FILE* const file = std::fopen(path_.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::vector<std::uint64_t> words(kPatternBytes / 8);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x9e3779b97f4a7c15 * (i + 1);
    EXPECT_EQ(std::fwrite(words.data(), 8, words.size(), file), words.size());
    std::fclose(file);
  }
  void TearDown() override { ::unlink(path_.c_str()); }

  std::string path_;
};

std::optional<std::uint64_t> word_by_monitor(QemuProcess& qemu, std::uint64_t address) {
  const std::string said = qemu.hmp(fmt::format("xp/1gx {:#x}", address));
  const std::size_t at = said.find(": 0x");
  if (at == said.npos) return std::nullopt;
  return parse_hex_number(said.substr(at + 4, 16));
}

TEST_P(QemuRamOf, EachBlockIsReadWithoutAStop) {
  std::vector<std::string> options = GetParam().options;
  for (const std::uint64_t mib : GetParam().blocks)
    options.insert(options.end(), {"-device", fmt::format("loader,file={},addr={:#x},force-raw=on",
                                                          path_, mib * kMiB)});
  std::string why;
  const auto qemu = QemuProcess::start(options, why, GetParam().program);
  if (!qemu) GTEST_SKIP() << why;
  auto engine = GdbEngine::attach(qemu->connect_gdb());
  ASSERT_TRUE(engine) << engine.error().message;
  const auto memory = (*engine)->physical_memory();
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_FALSE((*engine)->memory_reads_stop_the_guest());
  EXPECT_THAT((*engine)->explain_memory_access(), ::testing::HasSubstr(GetParam().explanation));
  const std::uint64_t stops = (*engine)->memory_pauses().count;
  for (const std::uint64_t mib : GetParam().blocks) {
    for (std::uint64_t at = mib * kMiB; at < mib * kMiB + kPatternBytes; at += 0x3fff18) {
      const auto word = (*memory)->read_value<std::uint64_t>(GuestPhys{at});
      ASSERT_TRUE(word) << word.error().message;
      EXPECT_EQ(*word, 0x9e3779b97f4a7c15 * ((at - mib * kMiB) / 8 + 1));
      EXPECT_EQ(*word, word_by_monitor(*qemu, at)) << fmt::format("{:#x}", at);
    }
  }
  EXPECT_EQ((*engine)->memory_pauses().count, stops);
  EXPECT_TRUE(qemu->runs());
}

std::string name_of(const ::testing::TestParamInfo<Machine>& machine) { return machine.param.name; }

const std::string kX86 = "qemu-system-x86_64";
const std::string kArm = "qemu-system-aarch64";

const std::vector<Machine> kMachines{
    {"Pc", kX86, {"-M", "pc", "-m", "512"}, {16}},
    {"Q35WithDimm",
     kX86,
     {"-M", "q35", "-m", "5G,slots=4,maxmem=16G", "-object", "memory-backend-ram,id=d0,size=256M",
      "-device", "pc-dimm,memdev=d0"},
     {16, 1024, 4096 + 512, 7168 + 64}},
    {"Numa",
     kX86,
     {"-M", "q35", "-m", "512", "-object", "memory-backend-memfd,id=m0,size=256M,share=on",
      "-object", "memory-backend-ram,id=m1,size=256M", "-numa", "node,memdev=m0,cpus=0", "-numa",
      "node,memdev=m1,cpus=1"},
     {16, 300}},
    {"Microvm", kX86, {"-M", "microvm", "-m", "256"}, {16}},
    {"I386", "qemu-system-i386", {"-M", "pc", "-m", "256"}, {16}},
    {"ArmVirt", kArm, {"-M", "virt", "-cpu", "cortex-a57", "-m", "512"}, {1024 + 16}},
    {"ArmVirtBackend",
     kArm,
     {"-M", "virt,memory-backend=mem0", "-cpu", "max", "-m", "512", "-object",
      "memory-backend-memfd,id=mem0,size=512M,share=on"},
     {1024 + 16}},
    {"Raspberry", kArm, {"-M", "raspi3b", "-smp", "4"}, {16, 512}},
    {"RiscvVirt", "qemu-system-riscv64", {"-M", "virt", "-m", "512"}, {2048 + 16}},
    {"RiscvSifive",
     "qemu-system-riscv64",
     {"-M", "sifive_u", "-smp", "2", "-m", "512"},
     {2048 + 16}},
};

INSTANTIATE_TEST_SUITE_P(On, QemuRamOf, ::testing::ValuesIn(kMachines), name_of);

}  // namespace
}  // namespace ringside::engines::gdb
