// Page tables made by hand; entries from the manuals (The RISC-V Instruction Set Manual, volume II,
// "Sv39"; Arm Architecture Reference Manual, D8.3).

#include "guestos/linux/tasks/user_stack_recipe.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "memory/aarch64/page_walk.h"
#include "memory/riscv64/page_walk.h"
#include "memory/testing/fake_physical_memory.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kRamStart = 0x8000'0000;
constexpr std::uint64_t kRoot = kRamStart + 0x1000;
constexpr std::uint64_t kLinear = 0xffff'af80'0000'0000;  // of physical address 0

struct Copied {
  std::vector<wire::MemoryRequest> pieces;
  std::string stack;  // what could be read of it
  int loads = 0;
};

class UserStackRecipe : public ::testing::Test {
 protected:
  UserStackRecipe() {
    // Frames that follow each other in virtual memory do not in physical memory.
    for (const auto& [frame, letter] : {std::pair{0x10000, 'a'}, {0x20000, 'b'}, {0x30000, 'c'}})
      fill(kRamStart + frame, 0x1000, letter);
  }

  void fill(std::uint64_t at, std::size_t size, char letter) {
    for (std::size_t i = 0; i < size; ++i) ram_.put(GuestPhys{at + i}, letter);
  }
  void put(std::uint64_t at, std::uint64_t entry) { ram_.put(GuestPhys{at}, entry); }

  [[nodiscard]] Copied run(std::uint64_t sp, std::uint32_t bytes = 2048) {
    wire::RecipeBuilder builder;
    const UserStack stack{builder.slot(), builder.slot()};
    builder.set(stack.sp, sp);
    builder.set(stack.table, kLinear + kRoot);
    const UserTables tables{shape_.value(), kLinear};
    copy_user_stack(builder, tables, arch_, stack, builder.recipe_end());
    const auto recipe = builder.take();
    wire::RecipeBudget budget;
    budget.stack_bytes.fill(bytes);
    wire::RecipeRun run(recipe, registers_, budget);
    Copied copied;
    while (const auto request = run.next()) {
      std::vector<std::byte> data(request->size);
      data.resize(read(request->read_at.value, data));
      if (request->is_load()) {
        ++copied.loads;
        std::uint64_t value = 0;
        if (data.size() == 8) std::memcpy(&value, data.data(), 8);
        run.loaded(data.size() == 8 ? std::optional(value) : std::nullopt);
        continue;
      }
      copied.pieces.push_back(*request);
      if (request->why == wire::PieceKind::kUserStack)
        for (const std::byte byte : data) copied.stack.push_back(static_cast<char>(byte));
    }
    return copied;
  }
  // The linear map; user addresses where the processor lets the kernel read them: all are 'u'.
  [[nodiscard]] std::size_t read(std::uint64_t at, std::span<std::byte> into) {
    if (at >= kLinear) return ram_.read_up_to(GuestPhys{at - kLinear}, into).value();
    if (!may_read_user_) return 0;
    std::fill(into.begin(), into.end(), std::byte{'u'});
    return into.size();
  }

  memory::testing::FakePhysicalMemory ram_{0x400000, GuestPhys{kRamStart}};
  std::optional<memory::TableShape> shape_;
  Arch arch_ = Arch::kRiscv64;
  arch::Registers registers_;
  bool may_read_user_ = false;
};

class OnRiscv64 : public UserStackRecipe {
 protected:
  static constexpr std::uint64_t kSv39 = std::uint64_t{8} << 60;
  static constexpr std::uint64_t kTable = 0x01;
  static constexpr std::uint64_t kData = 0xd7;  // V R W U A D
  static constexpr std::uint64_t entry(std::uint64_t physical, std::uint64_t bits) {
    return physical >> 2 | bits;
  }

  // The last page below 0x3f'ffff'c000 is entry 0x1fb of the last table.
  OnRiscv64() {
    registers_.set(arch::riscv64::kPriv, 1);
    registers_.set(arch::riscv64::kSatp, kSv39 | kRoot >> 12);
    shape_ = memory::riscv64::SupervisorTables::of(registers_)->lower_half();
    put(kRoot + 0xff * 8, entry(kRamStart + 0x2000, kTable));
    put(kRamStart + 0x2000 + 0x1ff * 8, entry(kRamStart + 0x3000, kTable));
    put(kRamStart + 0x3000 + 0x1fa * 8, entry(kRamStart + 0x10000, kData));
    put(kRamStart + 0x3000 + 0x1fb * 8, entry(kRamStart + 0x20000, kData));
  }
  static constexpr std::uint64_t kPageA = 0x3f'ffff'a000;
};

TEST_F(OnRiscv64, WalksWhereUserMemoryIsHidden) {
  const Copied copied = run(kPageA + 0x100);
  EXPECT_EQ(copied.stack, std::string(2048, 'a'));
  EXPECT_EQ(copied.loads, 1 + 3);
  ASSERT_EQ(copied.pieces.size(), 2u);
  EXPECT_EQ(copied.pieces[0].why, wire::PieceKind::kSystem);
  EXPECT_EQ(copied.pieces[0].address.value, kLinear + kRamStart + 0x3000 + 0x1fa * 8);
  EXPECT_EQ(copied.pieces[1].address.value, kPageA + 0x100);
  EXPECT_EQ(copied.pieces[1].read_at.value, kLinear + kRamStart + 0x10100);
}

TEST_F(OnRiscv64, GoesOnInTheNextPage) {
  const Copied copied = run(kPageA + 0xff0);
  EXPECT_EQ(copied.stack, std::string(0x10, 'a') + std::string(2048 - 0x10, 'b'));
  ASSERT_EQ(copied.pieces.size(), 3u);
  EXPECT_EQ(copied.pieces[2].address.value, kPageA + 0x1000);
  EXPECT_EQ(copied.pieces[2].read_at.value, kLinear + kRamStart + 0x20000);
  // Behind the second page nothing is mapped.
  EXPECT_EQ(run(kPageA + 0xff0, 0x4000).stack, std::string(0x10, 'a') + std::string(0x1000, 'b'));
}

TEST_F(OnRiscv64, CopiesSoManyPagesAtMost) {
  for (std::uint64_t n = 0; n < 8; ++n)
    put(kRamStart + 0x3000 + (0x100 + n) * 8, entry(kRamStart + 0x30000, kData));
  EXPECT_EQ(run(0x3f'fff0'0000, 0x10000).stack, std::string(kMaxStackPages * 0x1000, 'c'));
}

TEST_F(OnRiscv64, DoesNotGoOnBehindItsTable) {
  put(kRamStart + 0x3000 + 0x1ff * 8, entry(kRamStart + 0x30000, kData));
  put(kRamStart + 0x4000, entry(kRamStart + 0x10000, kData));  // of another table
  EXPECT_EQ(run(0x3f'ffff'ff00).stack, std::string(0x100, 'c'));
}

TEST_F(OnRiscv64, CopiesAsItIsWhatMayBeRead) {
  may_read_user_ = true;
  const Copied copied = run(kPageA + 0xff0);
  EXPECT_EQ(copied.stack, std::string(2048, 'u'));
  EXPECT_EQ(copied.pieces.size(), 1u);
}

TEST_F(OnRiscv64, WalksWhereOtherTablesAreLoaded) {
  may_read_user_ = true;
  registers_.set(arch::riscv64::kSatp, kSv39 | ((kRoot >> 12) + 5));
  EXPECT_EQ(run(kPageA + 0x100).stack, std::string(2048, 'a'));
  registers_ = {};
  EXPECT_EQ(run(kPageA + 0x100).stack, std::string(2048, 'a'));
}

TEST_F(OnRiscv64, LargePages) {
  // 2 MiB at entry 0x1fe of the second table, above an address of its own.
  fill(kRamStart + 0x200000, 0x200000, 'L');
  put(kRamStart + 0x2000 + 0x1fe * 8, entry(kRamStart + 0x200000, kData));
  const Copied copied = run(0x3f'ffc1'2f00, 0x2000);
  EXPECT_EQ(copied.stack, std::string(0x2000, 'L'));
  ASSERT_EQ(copied.pieces.size(), 2u);
  EXPECT_EQ(copied.pieces[1].read_at.value, kLinear + kRamStart + 0x212f00);
  EXPECT_EQ(run(0x3f'ffdf'ff00, 0x2000).stack, std::string(0x100, 'L'));
}

TEST_F(OnRiscv64, NothingWhereNothingIsMapped) {
  EXPECT_TRUE(run(kPageA - 0x1000).pieces.empty());                  // no page
  EXPECT_TRUE(run(0x3f'fe00'0000).pieces.empty());                   // no table
  EXPECT_TRUE(run(0x10'0000).pieces.empty());                        // none in the root
  EXPECT_TRUE(run(kPageA | std::uint64_t{1} << 38).pieces.empty());  // no user address
  EXPECT_TRUE(run(kLinear).pieces.empty());
  put(kRoot + 1 * 8, entry(0x7777'0000, kTable));
  EXPECT_TRUE(run(0x4000'0000).pieces.empty());  // a table outside of RAM
  // Svnapot.
  put(kRamStart + 0x3000 + 8, entry(kRamStart + 0x18000, kData) | std::uint64_t{1} << 63);
  EXPECT_TRUE(run(0x3f'ffe0'1000).pieces.empty());
}

class OnAArch64 : public UserStackRecipe {
 protected:
  static constexpr std::uint64_t kTable = 0x3;
  static constexpr std::uint64_t kPage = 0x00e8'0000'0000'0f43;  // PXN UXN nG AF SH AP, as Linux
  static constexpr std::uint64_t kBlock = 0x00e8'0000'0000'0f41;

  OnAArch64() {
    arch_ = Arch::kAArch64;
    registers_.set(arch::aarch64::kTtbr0El1, std::uint64_t{0x1234} << 48 | kRoot | 1);
  }
  [[nodiscard]] std::optional<memory::TableShape> shape_of(std::uint64_t tcr) {
    return memory::aarch64::StageOneTables({kRoot, 0, tcr}).lower_half();
  }
};

// 4 KiB pages of 48-bit addresses: 0xffff'f123'4000 has the entries 0x1ff, 0x1ff, 0x189 and 0x34.
TEST_F(OnAArch64, FourKib) {
  shape_ = shape_of(16);
  put(kRoot + 0x1ff * 8, kRamStart + 0x2000 + kTable);
  put(kRamStart + 0x2000 + 0x1ff * 8, kRamStart + 0x3000 + kTable);
  put(kRamStart + 0x3000 + 0x189 * 8, kRamStart + 0x4000 + kTable);
  put(kRamStart + 0x4000 + 0x34 * 8, kRamStart + 0x10000 + kPage);
  put(kRamStart + 0x4000 + 0x35 * 8, kRamStart + 0x20000 + kPage);
  EXPECT_EQ(run(0xffff'f123'4f00, 0x300).stack, std::string(0x100, 'a') + std::string(0x200, 'b'));
  EXPECT_EQ(run(0xffff'f123'4f00, 0x300).loads, 1 + 4 + 1);
  fill(kRamStart + 0x200000, 0x200000, 'L');
  put(kRamStart + 0x3000 + 0x18a * 8, kRamStart + 0x200000 + kBlock);
  EXPECT_EQ(run(0xffff'f15f'ff00, 0x300).stack, std::string(0x100, 'L'));
  // A block where there may be none.
  put(kRoot + 0x1fe * 8, kRamStart + 0x200000 + kBlock);
  EXPECT_TRUE(run(0xff7f'f15f'ff00, 0x300).pieces.empty());
  may_read_user_ = true;
  EXPECT_EQ(run(0xffff'f123'4f00, 0x300).stack, std::string(0x300, 'u'));
}

// 64 KiB pages of 52-bit addresses: bits 51:48 of a physical address are in an entry's 15:12. As
// there is no such RAM here, they are all 0; but bits 15:12 must not be taken for bits 15:12.
TEST_F(OnAArch64, SixtyFourKib) {
  constexpr std::uint64_t kIps52 = std::uint64_t{6} << 32;
  constexpr std::uint64_t kTg0 = 1u << 14;
  shape_ = shape_of(12 | kTg0 | kIps52);
  // 0xf'f123'4567'8900: entries 0x3fc, 0x91a and 0x567 (of 10, 13 and 13 bits).
  put(kRoot + 0x3fc * 8, kRamStart + 0x50000 + kTable);
  put(kRamStart + 0x50000 + 0x91a * 8, kRamStart + 0x60000 + kTable);
  put(kRamStart + 0x60000 + 0x567 * 8, kRamStart + 0x70000 + kPage);
  fill(kRamStart + 0x70000, 0x10000, 'p');
  const Copied copied = run(0xf'f123'4567'8900);
  EXPECT_EQ(copied.stack, std::string(2048, 'p'));
  EXPECT_EQ(copied.pieces.at(1).read_at.value, kLinear + kRamStart + 0x78900);
  put(kRamStart + 0x60000 + 0x567 * 8, kRamStart + 0x70000 + 0x5000 + kPage);
  const Copied far = run(0xf'f123'4567'8900);
  EXPECT_EQ(far.pieces.at(1).read_at.value,
            kLinear + kRamStart + 0x78900 + (std::uint64_t{5} << 48));
}

}  // namespace
}  // namespace ringside::guestos
