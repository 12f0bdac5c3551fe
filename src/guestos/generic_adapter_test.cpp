#include "guestos/generic_adapter.h"

#include <gtest/gtest.h>

#include "arch/execution_mode.h"
#include "guestos/emerald/saved_registers.h"
#include "guestos/testing/fake_guest_memory.h"
#include "guestos/testing/program_file.h"
#include "wire/ring.h"

namespace ringside::guestos {
namespace {

wire::Capture capture_at(std::uint64_t cr3, PrivilegeLevel level = PrivilegeLevel::kUser) {
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.level = level;
  capture.registers.set(arch::x86_64::kCr3, cr3);
  return capture;
}

TaskAttribution attributed(Adapter& adapter, const wire::Capture& capture) {
  testing::FakeGuestMemory memory;
  ProcessUpdates updates;
  const auto attribution = adapter.attribute(capture, memory, updates);
  EXPECT_TRUE(attribution.has_value());
  return *attribution;
}

std::shared_ptr<const UserImage> program(std::uint64_t address, std::string name) {
  auto image = std::make_shared<UserImage>();
  image->file =
      elf::ElfFile::from_bytes(testing::program_bytes(address, std::string(64, 'x')), name).value();
  image->name = std::move(name);
  return image;
}

std::uint64_t root_of(Arch arch, std::uint8_t reg, std::uint64_t value) {
  wire::Capture capture;
  capture.arch = arch;
  capture.registers.set(reg, value);
  return arch::user_root(capture.arch, capture.registers).value();
}

TEST(UserRoot, LeavesOutWhatIsNotTheRoot) {
  EXPECT_EQ(root_of(Arch::kX86_64, arch::x86_64::kCr3, 0x8000'0000'1234'5019), 0x1234'5000u);
  EXPECT_EQ(root_of(Arch::kI386, arch::i386::kCr3, 0x1234'5038), 0x1234'5020u);
  EXPECT_EQ(root_of(Arch::kAArch64, arch::aarch64::kTtbr0El1, 0x0042'0000'4123'4001), 0x4123'4000u);
  // Sv39, ASID 5.
  EXPECT_EQ(root_of(Arch::kRiscv64, arch::riscv64::kSatp, 0x8000'5000'0008'0123), 0x8012'3000u);
  EXPECT_EQ(arch::user_root(Arch::kUnknown, {}), std::nullopt);
}

TEST(GenericAdapter, LearntLinksLeadToUserCodesStackWhereItCanBeUnwound) {
  AdapterOptions options;
  const LearntLink link{.slot = GuestVirt{0xffff888000003ff0}, .leads_to_user = true};
  const auto user_stacks = [&](const arch::Registers& registers) {
    const auto recipe =
        GenericAdapter(Arch::kX86_64, options).recipe(VcpuId{0}, {.links = {&link, 1}});
    wire::RecipeRun run(recipe, registers, {});
    std::vector<std::uint64_t> copies;
    while (const auto request = run.next()) {
      if (request->is_load())
        run.loaded(0x7fff0010);
      else if (request->why == wire::PieceKind::kUserStack)
        copies.push_back(request->address.value);
    }
    return copies;
  };
  arch::Registers registers;
  registers.set(arch::x86_64::kCs, 8);
  registers.set(arch::x86_64::kRsp, 0xffff888000003e00);
  EXPECT_TRUE(user_stacks(registers).empty());
  options.user_program = program(0x10000, "shell");
  EXPECT_EQ(user_stacks(registers), std::vector<std::uint64_t>{0x7fff0010});
  registers.set(arch::x86_64::kRsp, 0x7fff0100);
  registers.set(arch::x86_64::kCs, 0x33);
  EXPECT_EQ(user_stacks(registers), std::vector<std::uint64_t>{0x7fff0100});
}

// A recipe has room for as many links as session/sampling/capture_feedback.h learns.
TEST(GenericAdapter, RecipesFitIntoTheRing) {
  AdapterOptions options;
  options.user_program = program(0x10000, "shell");
  std::vector<LearntLink> links(kMaxKernelLinks,
                                {.slot = GuestVirt{0xffff888000003ff8}, .returns_to = 1});
  links.resize(kMaxKernelLinks + kMaxUserLinks,
               {.slot = GuestVirt{0xffff888000003ff0}, .leads_to_user = true});
  wire::RecipeBuilder process;
  emerald::copy_process(process);
  process.next_recipe();
  EXPECT_LE(GenericAdapter(Arch::kX86_64, options).recipe(VcpuId{0}, {.links = links}).size() +
                process.take().size(),
            wire::kMaxRecipeOps);
}

TEST(GenericAdapter, UnwindingFindsTheUsersRegistersInKernelMode) {
  GenericAdapter adapter(Arch::kX86_64);
  EXPECT_FALSE(attributed(adapter, capture_at(0x1000)).finds_user_by_unwinding);
  EXPECT_TRUE(
      attributed(adapter, capture_at(0x1000, PrivilegeLevel::kKernel)).finds_user_by_unwinding);
}

TEST(GenericAdapter, AnAdapterThatFollowsGivesOtherIds) {
  const AdapterOptions options;
  GenericAdapter before(Arch::kX86_64, options);
  GenericAdapter after(Arch::kX86_64, options);
  before.count_unnamed_processes();
  after.count_unnamed_processes();
  const TaskAttribution first = attributed(before, capture_at(0x1000));
  EXPECT_NE(attributed(after, capture_at(0x1000)).address_space, first.address_space);
}

TEST(GenericAdapter, AnAdapterThatFollowsKnowsTheProcessesThatWereSeen) {
  const AdapterOptions options;
  GenericAdapter before(Arch::kX86_64, options);
  before.count_unnamed_processes();
  (void)attributed(before, capture_at(0x2000));
  const TaskAttribution seen = attributed(before, capture_at(0x1000));
  EXPECT_EQ(seen.pid, 2u);
  GenericAdapter after(Arch::kX86_64, options);
  after.take_over(before);
  EXPECT_EQ(attributed(after, capture_at(0x1000)).pid, 2u);
  EXPECT_EQ(attributed(after, capture_at(0x1000)).address_space, seen.address_space);
}

// xxhsum -H3 of the same bytes.
TEST(ProgramFiles, TextIsHashedByXxh3) {
  EXPECT_EQ(text_hash(as_bytes("abc")), 0x78af5f94892f3950u);
  EXPECT_EQ(text_hash({}), 0x2d06800538d394c2u);
}

TEST(ProgramFiles, AreFoundByTheirText) {
  const testing::TemporaryFolder folder;
  const std::string a(100, 'a');
  const std::string b(100, 'b');
  testing::write_file(folder.path / "a-stripped", testing::program_bytes(0x1000, a, ""));
  testing::write_file(folder.path / "bin/a", testing::program_bytes(0x1000, a));
  testing::write_file(folder.path / "bin/b", testing::program_bytes(0x1000, b));
  testing::write_file(folder.path / "c.o", testing::program_bytes(0, "object", "f", ET_REL));
  testing::write_file(folder.path / "notes", as_bytes("no program"));
  testing::write_file(folder.path / "broken", as_bytes("\x7f"
                                                       "ELF"));
  const auto programs = ProgramFiles::open(folder.path).value();
  EXPECT_EQ(programs->size(), 3u);
  EXPECT_EQ(programs->find(as_bytes(a))->name, "a");
  EXPECT_EQ(programs->find(as_bytes(b))->name, "b");
  EXPECT_EQ(programs->find(as_bytes(std::string(100, 'c'))), nullptr);
  EXPECT_EQ(programs->find(as_bytes("object")), nullptr);
}

TEST(ProgramFiles, AFolderWithoutProgramsIsAMistake) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(ProgramFiles::open(folder.path).error().code, ErrorCode::kNotFound);
  const auto missing = ProgramFiles::open(folder.path / "missing");
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("missing: No such file"), std::string::npos);
}

}  // namespace
}  // namespace ringside::guestos
