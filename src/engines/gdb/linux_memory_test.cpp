// Physical memory, page walks and bulk reads on Debian's Linux under a mixed workload, against what
// gdb's virtual reads and QEMU's monitor say of the same stopped guest.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>

#include "arch/arch_info.h"
#include "base/clock.h"
#include "engines/gdb/gdb_engine.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/gdb/testing/linux_guest.h"
#include "memory/address_space.h"
#include "memory/page_tables.h"
#include "wire/recipe_builder.h"

namespace ringside::engines::gdb {
namespace {

using memory::WalkEnd;
using testing::LinuxGuest;
using testing::QemuProcess;

constexpr const char* kStop = "{\"execute\": \"stop\"}";
constexpr const char* kContinue = "{\"execute\": \"cont\"}";
constexpr std::uint64_t kMiB = 1u << 20;

struct Way {
  std::string name;
  LinuxGuest::Machine machine;
  unsigned table_levels;
  bool reads_qemu_memory = true;
};

// For the names that ctest shows.
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

// Each guest is booted once, and stands still while another is looked at.
LinuxGuest* guest_of(const LinuxGuest::Machine& machine, bool& failed, std::string& why) {
  static std::map<LinuxGuest::Machine, std::unique_ptr<LinuxGuest>> guests;
  auto& guest = guests[machine];
  if (!guest) guest = LinuxGuest::boot(machine, failed, why);
  return guest.get();
}

class LinuxMemory : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    bool failed = false;
    std::string why;
    LinuxGuest* const guest = guest_of(GetParam().machine, failed, why);
    if (guest == nullptr && !failed) GTEST_SKIP() << why;
    ASSERT_NE(guest, nullptr) << why;
    qemu_ = &guest->qemu();
    qemu_->qmp(kContinue);
    Options options;
    options.reads_qemu_memory = GetParam().reads_qemu_memory;
    auto attached = GdbEngine::attach(qemu_->connect_gdb(), options);
    ASSERT_TRUE(attached) << attached.error().message;
    engine_ = std::move(*attached);
  }
  void TearDown() override {
    if (!engine_) return;
    EXPECT_TRUE(qemu_->runs());
    engine_.reset();
    EXPECT_TRUE(qemu_->runs());
    qemu_->qmp(kStop);
  }

  [[nodiscard]] bool walks() const { return GetParam().reads_qemu_memory; }
  [[nodiscard]] std::uint64_t kernel_half() const {
    return engine_->arch() == Arch::kI386 ? 0xc0000000 : 0xffff000000000000;
  }
  [[nodiscard]] std::uint64_t ram_start() const {
    if (engine_->arch() == Arch::kAArch64) return 1024 * kMiB;
    return engine_->arch() == Arch::kRiscv64 ? 2048 * kMiB : 0;
  }
  [[nodiscard]] std::uint64_t pc(const arch::Registers& registers) const {
    return registers.get(arch::roles_of(engine_->arch()).pc);
  }
  // QEMU translates with the vCPU's rights: with PAN (aarch64, -cpu max), and without SUM
  // (riscv64), the kernel may not read user pages.
  [[nodiscard]] bool stub_judges_rights() const {
    return engine_->arch() == Arch::kAArch64 || engine_->arch() == Arch::kRiscv64;
  }
  // Its first instructions still have the user's stack pointer.
  [[nodiscard]] bool runs_kernel(const arch::Registers& registers) const {
    const arch::RegisterRoles roles = arch::roles_of(engine_->arch());
    const std::uint64_t upper_half = std::uint64_t{1} << (8 * roles.pointer_size - 1);
    return pc(registers) >= kernel_half() && registers.get(roles.sp) >= upper_half;
  }
  // On arm64 the first instructions of the kernel's entry run before the kernel is mapped.
  [[nodiscard]] bool maps_kernel(const arch::Registers& registers) {
    if (engine_->arch() != Arch::kAArch64) return true;
    const std::uint64_t in_stack = registers.get(arch::aarch64::kSp) - 16;
    const std::uint64_t text = pc(registers) & ~0xffffull;  // the trampoline's page is alone
    const auto is_mapped = [&](std::uint64_t address) {
      return qemu_->hmp(fmt::format("gva2gpa {:#x}", address)).find("gpa: ") != std::string::npos;
    };
    return is_mapped(in_stack) && is_mapped(text);
  }
  // Stops the guest for good where vCPU 0 runs the kernel, and returns its registers.
  arch::Registers pause_in_kernel() {
    for (int i = 0; i < 400; ++i) {
      qemu_->qmp(kStop);
      const auto registers = engine_->read_registers(VcpuId{0});
      EXPECT_TRUE(registers) << registers.error().message;
      if (registers && runs_kernel(*registers) && maps_kernel(*registers)) return *registers;
      qemu_->qmp(kContinue);
      ::usleep(5000);
    }
    ADD_FAILURE() << "vCPU 0 is never seen in the kernel";
    return {};
  }
  PhysicalMemory& physical() {
    auto found = engine_->physical_memory();
    if (!found) throw std::runtime_error(found.error().message);
    return **found;
  }
  // gdb's own virtual read of the stopped guest.
  std::vector<std::byte> gdb_read(std::uint64_t address, std::size_t size) {
    std::vector<std::byte> bytes(size);
    const auto done = engine_->with_memory([&](const ReadMemory& read) -> Result<void> {
      RINGSIDE_ASSIGN(const std::size_t got, read(VcpuId{0}, GuestVirt{address}, bytes));
      bytes.resize(got);
      return {};
    });
    EXPECT_TRUE(done);
    return bytes;
  }
  std::vector<std::byte> engine_read(std::uint64_t address, std::size_t size) {
    std::vector<std::byte> bytes(size);
    const auto got = engine_->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{address}, bytes);
    EXPECT_TRUE(got) << got.error().message;
    bytes.resize(got.value_or(0));
    return bytes;
  }

  QemuProcess* qemu_ = nullptr;
  std::unique_ptr<GdbEngine> engine_;
};

std::optional<std::uint64_t> number_behind(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return std::nullopt;
  const std::size_t begin = at + label.size();
  return parse_hex_number(
      text.substr(begin, text.find_first_not_of("0123456789abcdef", begin) - begin));
}

std::vector<std::uint64_t> interesting_addresses(Arch arch, const arch::Registers& registers) {
  const arch::RegisterRoles roles = arch::roles_of(arch);
  const std::uint64_t pc = registers.get(roles.pc);
  const std::uint64_t sp = registers.get(roles.sp);
  std::vector<std::uint64_t> addresses{pc, sp, 0x1000, 0x400000, 0xfffb5000};
  std::vector<std::uint64_t> bases{pc & ~0x1fffffull, sp - 0x8000};
  if (arch == Arch::kX86_64) {
    bases.push_back(registers.get(arch::x86_64::kGsBase));
    const std::vector<std::uint64_t> edges{0xfffffe0000000000, 0xffffffffff5fb000,
                                           0x00007ffffffff000, 0x0000800000000000,
                                           0xffff7fffffffffff};
    addresses.insert(addresses.end(), edges.begin(), edges.end());
  }
  for (std::uint64_t i = 0; i < 60; ++i)
    for (const std::uint64_t base : bases) addresses.push_back(base + i * 0x3f123 / bases.size());
  if (arch == Arch::kI386)
    for (std::uint64_t& address : addresses) address &= 0xffffffff;
  return addresses;
}

// As Linux has them: by CR4, satp, and with 4 KiB pages T1SZ.
unsigned table_levels(Arch arch, const arch::Registers& registers) {
  switch (arch) {
    case Arch::kX86_64:
      return (registers.get(arch::x86_64::kCr4) >> 12 & 1) != 0 ? 5 : 4;
    case Arch::kAArch64:
      return (registers.get(arch::aarch64::kTcrEl1) >> 16 & 0x3f) == 16 ? 4 : 0;
    case Arch::kRiscv64:
      return static_cast<unsigned>(registers.get(arch::riscv64::kSatp) >> 60) - 5;
    default:
      return 2;
  }
}

TEST_P(LinuxMemory, WalksAgreeWithQemuAndGdb) {
  const arch::Registers registers = pause_in_kernel();
  const auto tables = memory::page_tables_of(engine_->arch(), registers);
  ASSERT_TRUE(tables);
  EXPECT_EQ(table_levels(engine_->arch(), registers), GetParam().table_levels);
  memory::AddressSpace space(*tables, physical());
  EXPECT_EQ(engine_->memory_reads_stop_the_guest(), !GetParam().reads_qemu_memory);
  std::map<WalkEnd, int> ends;
  std::map<int, int> levels;
  int read = 0;
  for (const std::uint64_t address : interesting_addresses(engine_->arch(), registers)) {
    const auto walk = space.walk(GuestVirt{address});
    ASSERT_TRUE(walk) << walk.error().message;
    ++ends[walk->end];
    // The monitor answers for vCPU 0, with "gpa: 0x1234"; it looks at whole pages.
    const std::string said = qemu_->hmp(fmt::format("gva2gpa {:#x}", address));
    const auto gpa = number_behind(said, "gpa: 0x");
    if (stub_judges_rights() && !gpa && address < kernel_half()) continue;
    ASSERT_EQ(walk->end == WalkEnd::kMapped, gpa.has_value()) << std::hex << address << said;
    std::vector<std::byte> mine(64);
    const auto got = space.read_up_to(GuestVirt{address}, mine);
    ASSERT_TRUE(got) << got.error().message;
    mine.resize(*got);
    if (!gpa) {
      EXPECT_TRUE(mine.empty());
      continue;
    }
    ++levels[walk->level];
    EXPECT_EQ(walk->address.value, *gpa) << fmt::format("{:#x}", address);
    if (mine.empty()) continue;  // a device
    ++read;
    EXPECT_EQ(mine, gdb_read(address, mine.size())) << fmt::format("{:#x}", address);
  }
  EXPECT_GT(ends[WalkEnd::kMapped], 60);
  EXPECT_GT(ends[WalkEnd::kNotPresent], 0);
  EXPECT_GT(read, 60);
  EXPECT_GT(levels[1] * levels[2], 0) << "pages of two sizes";
  qemu_->qmp(kContinue);
}

TEST_P(LinuxMemory, PhysicalReadsAgreeWithTheMonitor) {
  qemu_->qmp(kStop);
  PhysicalMemory& ram = physical();
  int not_zero = 0;
  for (std::uint64_t at = ram_start() + kMiB; at < ram_start() + 512 * kMiB; at += 0x3fe008) {
    const auto mine = ram.read_value<std::uint64_t>(GuestPhys{at});
    ASSERT_TRUE(mine) << mine.error().message;
    const auto said = number_behind(qemu_->hmp(fmt::format("xp/1gx {:#x}", at)), ": 0x");
    EXPECT_EQ(*mine, said) << fmt::format("{:#x}", at);
    not_zero += *mine != 0 ? 1 : 0;
  }
  EXPECT_GT(not_zero, 4);
  EXPECT_FALSE(ram.read_value<std::uint64_t>(GuestPhys{ram_start() + 512 * kMiB}));
  qemu_->qmp(kContinue);
}

// A sample of a guest that stands still, read by the stub and from QEMU's own memory.
TEST_P(LinuxMemory, SamplesAgreeWithTheStub) {
  (void)pause_in_kernel();
  engine_.reset();
  Options options;
  options.reads_qemu_memory = GetParam().reads_qemu_memory;
  options.captures_paused = true;
  options.guest_was_running = false;
  auto attached = GdbEngine::attach(qemu_->connect_gdb(), options);
  ASSERT_TRUE(attached) << attached.error().message;
  engine_ = std::move(*attached);

  const arch::RegisterRoles roles = arch::roles_of(engine_->arch());
  wire::RecipeBuilder b;
  const auto sp = b.slot();
  const auto at = b.slot();
  const auto no_pointer = b.label();
  b.read_register(sp, roles.sp, no_pointer);
  b.copy_stack(sp, wire::PieceKind::kCurrentStack, 16384);
  b.read_register(at, roles.pc, no_pointer);
  b.mask(at, at, ~std::uint64_t{0xfff});
  b.copy({at, 0}, 8192, wire::PieceKind::kSystem, 1);
  b.load(at, {sp, 0}, roles.pointer_size, no_pointer);
  b.copy({at, 0}, 64, wire::PieceKind::kSystem, 2);
  b.bind(no_pointer);
  for (const std::uint64_t place : {0x0ull, 0x1000ull, 0x400ff0ull, 0xfffb5000ull}) {
    if (stub_judges_rights() && place != 0) continue;
    b.set(at, place);
    b.copy({at, 0}, 32, wire::PieceKind::kSystem, 3);
  }
  const auto recipe = b.take();
  const VcpuPlan vcpu{true, recipe, {}, {}};
  const std::array vcpus{vcpu, vcpu};
  TickPlan plan;
  plan.vcpus = vcpus;
  plan.recipe_arch = engine_->arch();
  const auto by_stub = engine_->tick(plan);
  ASSERT_TRUE(by_stub) << by_stub.error().message;
  (void)physical();  // from now on
  EXPECT_EQ(engine_->memory_reads_stop_the_guest(), !GetParam().reads_qemu_memory);
  for (int i = 0; i < 2; ++i) {  // the second reads ahead
    const auto direct = engine_->tick(plan);
    ASSERT_TRUE(direct) << direct.error().message;
    ASSERT_EQ(direct->captures.size(), by_stub->captures.size());
    for (std::size_t v = 0; v < direct->captures.size(); ++v) {
      const wire::Capture& a = by_stub->captures[v];
      const wire::Capture& c = direct->captures[v];
      EXPECT_EQ(c.disposition, a.disposition);
      EXPECT_EQ(c.level, a.level);
      ASSERT_EQ(c.pieces.size(), a.pieces.size());
      for (std::size_t p = 0; p < a.pieces.size(); ++p) {
        EXPECT_EQ(c.pieces[p].address, a.pieces[p].address);
        EXPECT_EQ(c.pieces[p].size, a.pieces[p].size) << "piece " << p;
      }
      EXPECT_EQ(c.bytes, a.bytes);
    }
  }
  EXPECT_GE(by_stub->captures.at(0).pieces.size(), 2u);
  EXPECT_GT(by_stub->captures.at(0).bytes.size(), 4096u);
  qemu_->qmp(kContinue);
}

class LinuxVirtualMemory : public LinuxMemory {};

TEST_P(LinuxVirtualMemory, ReadsAgreeWithGdb) {
  const arch::Registers registers = pause_in_kernel();
  const std::uint64_t text = pc(registers) & ~0xffffull;
  // An empty stack's pointer is at the unmapped page behind it.
  const std::uint64_t sp = registers.get(arch::roles_of(engine_->arch()).sp) - 16;
  const auto before = gdb_read(text, kMiB);
  EXPECT_GE(before.size(), 0x10000u);
  EXPECT_EQ(engine_read(text, kMiB), before);
  // A stack of Linux's is 16 KiB; on x86_64, arm64 and riscv64 an unmapped page lies at its end.
  // On arm64 the next thing may be a device, and the stub's read of the GIC's registers ends QEMU.
  const auto stack = engine_read(sp, 64 * 1024);
  EXPECT_EQ(stack, gdb_read(sp, engine_->arch() == Arch::kAArch64 ? stack.size() : 64 * 1024));
  EXPECT_FALSE(stack.empty());
  EXPECT_TRUE(engine_read(0x1000, 64).empty());
  EXPECT_THAT(engine_->explain_memory_access(),
              ::testing::StartsWith(walks() ? "page walks" : "the gdb stub"));
  // Text does not change while the guest runs, and is read also while the vCPU runs user code.
  qemu_->qmp(kContinue);
  EXPECT_EQ(engine_read(text, kMiB), before);
  for (int i = 0; i < 40; ++i) {
    ::usleep(2300);
    ASSERT_EQ(engine_read(text, 4096),
              std::vector<std::byte>(before.begin(), before.begin() + 4096))
        << i;
  }
}

// Prints the figures of docs/cost.md. QEMU's own events report how often and how long it stood.
TEST_P(LinuxMemory, StopsAreShortAndCounted) {
  arch::Registers registers = pause_in_kernel();
  qemu_->qmp(kContinue);
  (void)physical();
  const std::uint64_t text = pc(registers) & ~0x1fffffull;
  const auto measure = [&](const char* what, const auto& read) {
    (void)qemu_->take_stops();
    const MemoryPauses before = engine_->memory_pauses();
    const std::uint64_t start = monotonic_ns();
    const std::size_t got = read();
    const std::uint64_t took = monotonic_ns() - start;
    EXPECT_TRUE(qemu_->runs());
    std::vector<std::uint64_t> stops = qemu_->take_stops();
    const MemoryPauses after = engine_->memory_pauses();
    EXPECT_EQ(after.count - before.count, stops.size());
    if (stops.empty()) stops.push_back(0);
    std::sort(stops.begin(), stops.end());
    const std::uint64_t total = std::accumulate(stops.begin(), stops.end(), std::uint64_t{0});
    fmt::print(
        "{}: {} KiB in {:.1f} ms; {} stops, {:.1f} ms in all (counted: {:.1f}), median {} us, "
        "99 % {} us, longest {} us\n",
        what, got / 1024, static_cast<double>(took) / 1e6, after.count - before.count,
        static_cast<double>(total) / 1e3,
        static_cast<double>(after.total_ns - before.total_ns) / 1e6, stops[stops.size() / 2],
        stops[stops.size() * 99 / 100], stops.back());
  };
  std::vector<std::byte> bytes(16 * kMiB);
  measure("physical", [&] {
    return physical().read_up_to(GuestPhys{ram_start() + 16 * kMiB}, bytes).value_or(0);
  });
  measure("virtual", [&] {
    return engine_->virtual_memory(VcpuId{0}).read_up_to(GuestVirt{text}, bytes).value_or(0);
  });
  measure("virtual, 64 KiB at a time", [&] {
    std::size_t got = 0;
    for (int i = 0; i < 256; ++i) {
      ::usleep(1000);
      got += engine_->virtual_memory(VcpuId{0})
                 .read_up_to(GuestVirt{text + i * 65536}, std::span(bytes).first(65536))
                 .value_or(0);
    }
    return got;
  });
}

std::string name_of_way(const ::testing::TestParamInfo<Way>& way) { return way.param.name; }

// Five levels on amd64 and riscv64 where the processor has them; no4lvl and no5lvl are Linux's.
const std::vector<Way> kWalked{
    {"Amd64", {"amd64", "", ""}, 4},
    {"Amd64FromTheStub", {"amd64", "", ""}, 4, false},
    {"Amd64FiveLevels", {"amd64", "max", ""}, 5},
    {"I386", {"i386", "", ""}, 2},
    {"Arm64", {"arm64", "", ""}, 4},
    {"Arm64Max", {"arm64", "max", ""}, 4},
    {"Riscv64Sv57", {"riscv64", "", ""}, 5},
    {"Riscv64Sv48", {"riscv64", "", "no5lvl"}, 4},
    {"Riscv64Sv39", {"riscv64", "", "no4lvl"}, 3},
};
const std::vector<Way> kByTheStub{{"Riscv64FromTheStub", {"riscv64", "", ""}, 5, false}};

INSTANTIATE_TEST_SUITE_P(On, LinuxMemory, ::testing::ValuesIn(kWalked), name_of_way);
INSTANTIATE_TEST_SUITE_P(On, LinuxVirtualMemory, ::testing::ValuesIn(kWalked), name_of_way);
INSTANTIATE_TEST_SUITE_P(OnOther, LinuxVirtualMemory, ::testing::ValuesIn(kByTheStub), name_of_way);

}  // namespace
}  // namespace ringside::engines::gdb
