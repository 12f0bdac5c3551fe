#include "session/guest_view.h"

#include <gtest/gtest.h>

#include "session/testing/arm64_guest.h"

namespace ringside::session {
namespace {

// The kernel's own root is at physical 0x3000.
class Arm64View : public testing::Arm64Guest, public ::testing::Test {
 protected:
  static constexpr std::uint64_t kRoot = kText + 0x1000;  // where the kernel has it

  void map_own_root() { ram_.put(GuestPhys{0x7000 + 0x11 * 8}, 0x3000 | kPage); }
  [[nodiscard]] static std::optional<std::uint64_t> text_of(GuestView& view) {
    const auto place = view.kernel().physical_address({kText}).value();
    return place ? std::optional(place->value) : std::nullopt;
  }
};

TEST_F(Arm64View, IsSettledOnceAVcpuHasGivenItsRegisters) {
  engine_.no_registers = Error{ErrorCode::kTimeout, "all vCPUs are idle"};
  GuestView view(engine_);
  EXPECT_FALSE(view.adopt(capture_, std::nullopt).value());
  EXPECT_EQ(text_of(view), std::nullopt);
  engine_.no_registers.reset();
  EXPECT_TRUE(view.adopt(capture_, std::nullopt).value());
  EXPECT_EQ(text_of(view), 0xa000u);
}

TEST_F(Arm64View, AndOnceThereIsPhysicalMemory) {
  engine_.physical = nullptr;
  GuestView view(engine_);
  EXPECT_FALSE(view.adopt(capture_, std::nullopt).value());
  EXPECT_EQ(view.why_not_physical(), "no physical memory");
  engine_.physical = &ram_;
  EXPECT_TRUE(view.adopt(capture_, std::nullopt).value());
  EXPECT_EQ(text_of(view), 0xa000u);
}

// The stack of a process that has ended is not mapped any more.
TEST_F(Arm64View, ACaptureThatComesTooLateTakesNothingAway) {
  GuestView view(engine_);
  ASSERT_TRUE(view.adopt(capture_, std::nullopt).value());
  capture_.registers.set(arch::aarch64::kSp, kStack + 0x100000);
  EXPECT_FALSE(view.adopt(capture_, std::nullopt).value());
  EXPECT_EQ(text_of(view), 0xa000u);
}

// As arm64 Linux up to 6.5 does: init_pg_dir, here at 0xc000, is given back.
TEST_F(Arm64View, TheTablesOfTheKernelsStartAreNotKept) {
  map_own_root();
  const std::uint64_t table = 0x6003;
  ram_.put(GuestPhys{0xc000 + 0x100 * 8}, table);
  ram_.put(GuestPhys{0x3000 + 0x100 * 8}, std::uint64_t{0});
  engine_.registers.set(arch::aarch64::kTtbr1El1, 0xc000);
  GuestView view(engine_);
  EXPECT_FALSE(view.adopt(capture_, GuestVirt{kRoot}).value());
  EXPECT_EQ(text_of(view), 0xa000u);  // for now
  ram_.put(GuestPhys{0x3000 + 0x100 * 8}, table);
  EXPECT_TRUE(view.adopt(capture_, GuestVirt{kRoot}).value());
  ram_.put(GuestPhys{0xc000 + 0x100 * 8}, std::uint64_t{0});
  view.forget();
  EXPECT_EQ(text_of(view), 0xa000u);
}

}  // namespace
}  // namespace ringside::session
