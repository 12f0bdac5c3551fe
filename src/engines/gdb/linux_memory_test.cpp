// Physical memory, page walks and bulk reads on a QEMU that runs Debian's Linux
// (script/fetch-linux-guest), against what gdb's virtual reads and QEMU's monitor say of the same
// stopped guest.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>

#include "base/clock.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/gdb/hex.h"
#include "engines/gdb/testing/qemu_process.h"
#include "memory/address_space.h"
#include "memory/x86_64/page_walk.h"

namespace ringside::engines::gdb {
namespace {

using memory::x86_64::LongModeTables;
using testing::QemuProcess;

constexpr const char* kStop = "{\"execute\": \"stop\"}";

std::string cached_kernel() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const std::filesystem::path folder =
      (cache ? std::filesystem::path(cache) : std::filesystem::path(home ? home : "/") / ".cache") /
      "ringside/linux-amd64";
  std::error_code ignored;
  for (const auto& version : std::filesystem::directory_iterator(folder, ignored))
    if (std::filesystem::exists(version.path() / "vmlinuz")) return version.path() / "vmlinuz";
  return {};
}

// Linux without an initial RAM disk: it comes up, finds no root file system and panics, which is
// enough, because a panic loops in the kernel.
class LinuxMemory : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const std::string kernel = cached_kernel();
    if (kernel.empty()) GTEST_SKIP() << "run script/fetch-linux-guest";
    std::string why;
    qemu_ = QemuProcess::start({"-m", "256", "-kernel", kernel, "-append", "quiet"}, why);
    if (!qemu_) GTEST_SKIP() << why;
    Options options;
    options.reads_qemu_memory = GetParam();
    auto attached = GdbEngine::attach(qemu_->connect_gdb(), options);
    ASSERT_TRUE(attached) << attached.error().message;
    engine_ = std::move(*attached);
    ASSERT_TRUE(wait_for_kernel());
  }
  // In long mode, at an address of the kernel's text, and for some seconds, so that its memory is
  // set up.
  bool wait_for_kernel() {
    int seen = 0;
    for (int i = 0; i < 600 && seen < 25; ++i) {
      ::usleep(100'000);
      const auto registers = engine_->read_registers(VcpuId{0});
      if (!registers) return false;
      seen += registers->get(wire::x86_64::kRip) >= 0xffffffff80000000 ? 1 : 0;
    }
    return seen == 25;
  }
  [[nodiscard]] wire::Registers registers() {
    return engine_->read_registers(VcpuId{0}).value_or(wire::Registers{});
  }
  memory::PhysicalMemory& physical() {
    auto found = engine_->physical_memory();
    EXPECT_TRUE(found) << found.error().message;
    return **found;
  }
  // gdb's own virtual read of the stopped guest.
  std::vector<std::byte> virtual_read(GuestVirt address, std::size_t size) {
    std::vector<std::byte> bytes(size);
    const auto done = engine_->with_memory([&](const ReadMemory& read) -> Result<void> {
      RINGSIDE_ASSIGN(const std::size_t got, read(VcpuId{0}, address, bytes));
      bytes.resize(got);
      return {};
    });
    EXPECT_TRUE(done);
    return bytes;
  }

  std::unique_ptr<QemuProcess> qemu_;
  std::unique_ptr<GdbEngine> engine_;
};

// "gpa: 0x1234" of `gva2gpa`, which takes vCPU 0.
std::optional<std::uint64_t> number_behind(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return std::nullopt;
  const std::size_t begin = at + label.size();
  return parse_hex_number(
      text.substr(begin, text.find_first_not_of("0123456789abcdef", begin) - begin));
}

TEST_P(LinuxMemory, WalksAgreeWithQemuAndGdb) {
  qemu_->qmp(kStop);
  const wire::Registers registers = this->registers();
  const auto tables = LongModeTables::of(registers);
  ASSERT_TRUE(tables);
  memory::PhysicalMemory& ram = physical();
  EXPECT_EQ(engine_->physical_reads_stop_the_guest(), !GetParam());
  memory::AddressSpace space(*tables, ram);
  const std::uint64_t text = registers.get(wire::x86_64::kRip) & ~std::uint64_t{0x1fffff};
  const std::uint64_t stack = registers.get(wire::x86_64::kRsp) & ~std::uint64_t{0xfff};
  std::vector<std::uint64_t> addresses{registers.get(wire::x86_64::kRip),
                                       registers.get(wire::x86_64::kRsp),
                                       registers.get(wire::x86_64::kGsBase),
                                       0xfffffe0000000000,  // the interrupt table
                                       0x1000,
                                       0xffffffffff5fb000};
  for (std::uint64_t i = 0; i < 60; ++i) {
    addresses.push_back(text + i * 0x3f123);
    addresses.push_back(stack - 0x8000 + i * 0x456);
    addresses.push_back(registers.get(wire::x86_64::kGsBase) + i * 0x1357);
  }
  std::map<memory::WalkEnd, int> ends;
  std::map<int, int> levels;
  for (const std::uint64_t address : addresses) {
    const auto walk = space.walk(GuestVirt{address});
    ASSERT_TRUE(walk) << walk.error().message;
    ++ends[walk->end];
    const std::string said = qemu_->hmp(fmt::format("gva2gpa {:#x}", address));
    const auto gpa = number_behind(said, "gpa: 0x");
    ASSERT_EQ(walk->end == memory::WalkEnd::kMapped, gpa.has_value()) << address << said;
    std::vector<std::byte> mine(64);
    const auto got = space.read_up_to(GuestVirt{address}, mine);
    ASSERT_TRUE(got);
    mine.resize(*got);
    if (!gpa) {
      EXPECT_TRUE(mine.empty());
      continue;
    }
    ++levels[walk->level];
    EXPECT_EQ(walk->address.value, *gpa) << fmt::format("{:#x}", address);
    if (!mine.empty()) {
      EXPECT_EQ(mine, virtual_read(GuestVirt{address}, mine.size()));
    }
  }
  EXPECT_GT(ends[memory::WalkEnd::kMapped], 60);
  EXPECT_GT(ends[memory::WalkEnd::kNotPresent], 0);
  EXPECT_GT(levels[1], 0);
  EXPECT_GT(levels[2], 0);
}

TEST_P(LinuxMemory, PhysicalReadsAgreeWithTheMonitor) {
  qemu_->qmp(kStop);
  memory::PhysicalMemory& ram = physical();
  int not_zero = 0;
  for (std::uint64_t at = 0x100000; at < 0x10000000; at += 0x3ff008) {
    const auto mine = ram.read_value<std::uint64_t>(GuestPhys{at});
    ASSERT_TRUE(mine) << mine.error().message;
    const auto said = number_behind(qemu_->hmp(fmt::format("xp/1gx {:#x}", at)), ": 0x");
    EXPECT_EQ(*mine, said) << fmt::format("{:#x}", at);
    not_zero += *mine != 0 ? 1 : 0;
  }
  EXPECT_GT(not_zero, 4);
  EXPECT_FALSE(ram.read_value<std::uint64_t>(GuestPhys{0x10000000}));  // behind 256 MiB
}

// The figures of docs/design.md.
TEST_P(LinuxMemory, SixteenMebibytes) {
  memory::PhysicalMemory& ram = physical();
  const wire::Registers registers = this->registers();
  std::vector<std::byte> bytes(16u << 20);
  const auto measure = [&](const char* what, const auto& read) {
    const MemoryPauses before = engine_->memory_pauses();
    const std::uint64_t start = monotonic_ns();
    const Result<std::size_t> got = read();
    const std::uint64_t took = monotonic_ns() - start;
    const MemoryPauses after = engine_->memory_pauses();
    ASSERT_TRUE(got) << got.error().message;
    fmt::print("{}: {} KiB in {:.1f} ms, {} pauses, {:.1f} ms in all, longest so far {:.2f} ms\n",
               what, *got / 1024, static_cast<double>(took) / 1e6, after.count - before.count,
               static_cast<double>(after.total_ns - before.total_ns) / 1e6,
               static_cast<double>(after.longest_ns) / 1e6);
  };
  measure(GetParam() ? "QEMU's memory" : "physical mode", [&] {
    const auto got = ram.read_up_to(GuestPhys{0x1000000}, bytes);
    EXPECT_EQ(got.value_or(0), bytes.size());
    return got;
  });
  measure("virtual, by gdb", [&] {
    return engine_->read_virtual(
        VcpuId{0}, GuestVirt{registers.get(wire::x86_64::kRip) & ~0x1fffffull}, bytes);
  });
  if (const auto tables = LongModeTables::of(registers)) {
    memory::AddressSpace space(*tables, ram);
    measure("virtual, by page walks", [&] {
      return space.read_up_to(GuestVirt{registers.get(wire::x86_64::kRip) & ~0x1fffffull}, bytes);
    });
  }
  EXPECT_TRUE(qemu_->runs());
}

INSTANTIATE_TEST_SUITE_P(By, LinuxMemory, ::testing::Values(true, false),
                         [](const auto& by) { return by.param ? "QemusMemory" : "PhysicalMode"; });

}  // namespace
}  // namespace ringside::engines::gdb
