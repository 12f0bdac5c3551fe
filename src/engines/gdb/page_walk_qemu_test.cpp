// Translation tables made at random for granules and sizes that Debian's kernels do not use,
// against what QEMU's own walk (gva2gpa) says of them.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ostream>
#include <random>

#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/testing/qemu_process.h"
#include "memory/aarch64/page_walk.h"
#include "memory/testing/fake_physical_memory.h"

namespace ringside::engines::gdb {
namespace {

using memory::WalkEnd;
using memory::aarch64::StageOneTables;
using memory::testing::FakePhysicalMemory;
using testing::QemuProcess;

constexpr GuestPhys kImage{0x44000000};
constexpr std::size_t kRegisters = 64;  // behind the code: TTBR0_EL1, TTBR1_EL1, TCR_EL1
constexpr std::uint64_t kTableStart = 0x10000;
constexpr unsigned kTables = 8;

struct Format {
  std::string name;
  unsigned granule_bits;
  unsigned address_bits;
  bool lpa2;
  bool wide;  // output addresses of 52 bits
};

// For the names that ctest shows.
void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

std::uint64_t tcr_of(const Format& format) {
  const std::uint64_t size = 64 - format.address_bits;
  const std::uint64_t tg0 = format.granule_bits == 12 ? 0 : format.granule_bits == 14 ? 2 : 1;
  const std::uint64_t tg1 = format.granule_bits == 12 ? 2 : format.granule_bits == 14 ? 1 : 3;
  return size | size << 16 | tg0 << 14 | tg1 << 30 | std::uint64_t{format.wide ? 6u : 5u} << 32 |
         std::uint64_t{format.lpa2 ? 1u : 0u} << 59;
}

class AgainstQemu : public ::testing::TestWithParam<Format> {
 protected:
  AgainstQemu() : ram_(kTableStart + kTables * table_bytes(), kImage) {
    std::ifstream file(RINGSIDE_GDB_TESTDATA "/walks/aarch64.bin", std::ios::binary);
    const std::string code(std::istreambuf_iterator<char>(file), {});
    std::transform(code.begin(), code.end(), ram_.bytes.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
    ram_.put(kImage + kRegisters, table(0).value);
    ram_.put(kImage + kRegisters + 8, table(1).value);
    ram_.put(kImage + kRegisters + 16, tcr_of(GetParam()));
    for (unsigned n = 0; n < kTables; ++n)
      for (std::uint64_t at = 0; at < table_bytes(); at += 8)
        ram_.put(table(n) + at, random_entry());
  }
  [[nodiscard]] static std::uint64_t table_bytes() {
    return std::uint64_t{1} << GetParam().granule_bits;
  }
  [[nodiscard]] static GuestPhys table(unsigned n) {
    return kImage + kTableStart + n * table_bytes();
  }
  // A table in half of the cases; a block or page of any address, readable, with the access flag;
  // or nothing.
  std::uint64_t random_entry() {
    const std::uint64_t kind = random_() % 8;
    if (kind < 4) return table(static_cast<unsigned>(random_() % kTables)).value | 3;
    if (kind == 4) return random_() & ~std::uint64_t{1};
    const std::uint64_t flags = 0x400 | (kind == 5 ? 3 : 1);
    const std::uint64_t pages = ~(table_bytes() - 1);
    std::uint64_t entry = (random_() & 0x0000'ffff'ffff'f000 & pages) | flags;
    if (GetParam().lpa2)
      entry |= (random_() & 0x0003'0000'0000'0000) | (GetParam().wide ? random_() & 0x300 : 0);
    else if (GetParam().wide)
      entry |= random_() & 0xf000;
    return entry;
  }
  std::uint64_t random_address() {
    const std::uint64_t size = std::uint64_t{1} << GetParam().address_bits;
    const std::uint64_t low = random_() & (size - 1);
    return random_() % 2 == 0 ? low : low | ~(size - 1);
  }

  std::mt19937_64 random_{GetParam().granule_bits * 100 + GetParam().address_bits};
  FakePhysicalMemory ram_;
};

TEST_P(AgainstQemu, WalksAgree) {
  const std::string path = ::testing::TempDir() + "ringside-tables-" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(ram_.bytes.data()),
             static_cast<std::streamsize>(ram_.bytes.size()));
  std::string why;
  const auto qemu = QemuProcess::start(
      {"-M", "virt", "-cpu", "max", "-m", "512", "-device",
       fmt::format("loader,file={},addr={:#x},cpu-num=0,force-raw=on", path, kImage.value)},
      why, "qemu-system-aarch64");
  if (!qemu) GTEST_SKIP() << why;
  ::usleep(300'000);
  ::unlink(path.c_str());
  (void)qemu->qmp("{\"execute\": \"stop\"}");
  const StageOneTables tables({table(0).value, table(1).value, tcr_of(GetParam())});
  // QEMU 7.2 takes blocks at levels where the architecture has none; 10.0 does not.
  const bool any_block = qemu->hmp("info version").find("\"7.") != std::string::npos;
  int mapped = 0, not_mapped = 0;
  for (int i = 0; i < 600; ++i) {
    const std::uint64_t address = random_address();
    const auto walk = tables.walk(ram_, GuestVirt{address});
    ASSERT_TRUE(walk);
    const bool is_block = walk->end == WalkEnd::kNotPresent &&
                          (ram_.read_value<std::uint64_t>(walk->entry).value_or(0) & 3) == 1;
    if (any_block && is_block) continue;
    const std::string said = qemu->hmp(fmt::format("gva2gpa {:#x}", address));
    const std::size_t at = said.find("gpa: 0x");
    ASSERT_EQ(walk->end == WalkEnd::kMapped, at != said.npos)
        << fmt::format("{:#x} at level {}, entry {}: {}", address, walk->level, walk->entry, said);
    ++(at == said.npos ? not_mapped : mapped);
    if (at == said.npos) continue;
    const std::size_t end = said.find_first_not_of("0123456789abcdef", at + 7);
    EXPECT_EQ(walk->address.value, parse_hex_number(said.substr(at + 7, end - at - 7)))
        << fmt::format("{:#x} at level {}, entry {}", address, walk->level, walk->entry);
  }
  EXPECT_GT(mapped, 50);
  EXPECT_GT(not_mapped, 40);
}

std::string name_of(const ::testing::TestParamInfo<Format>& format) { return format.param.name; }

const std::vector<Format> kFormats{
    {"FourKibOf39Bits", 12, 39, false, false},     {"FourKibOf48Bits", 12, 48, false, false},
    {"FourKibOf52Bits", 12, 52, true, true},       {"FourKibOf50BitsLpa2", 12, 50, true, true},
    {"SixteenKibOf36Bits", 14, 36, false, false},  {"SixteenKibOf48Bits", 14, 48, false, false},
    {"SixteenKibOf52Bits", 14, 52, true, true},    {"SixtyFourKibOf42Bits", 16, 42, false, false},
    {"SixtyFourKibOf48Bits", 16, 48, false, true}, {"SixtyFourKibOf52Bits", 16, 52, false, true},
};

INSTANTIATE_TEST_SUITE_P(On, AgainstQemu, ::testing::ValuesIn(kFormats), name_of);

}  // namespace
}  // namespace ringside::engines::gdb
