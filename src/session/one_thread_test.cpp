#include "session/one_thread.h"

#include <gtest/gtest.h>

namespace ringside::session {
namespace {

using namespace arch::x86_64;

constexpr std::uint64_t kOwnStack = 0xffffc90000004000;
constexpr std::uint64_t kNextStack = 0xffffc90000008000;
constexpr std::uint64_t kStackBytes = 0x4000;

arch::Registers user_code(std::uint64_t pc, std::uint64_t sp) {
  arch::Registers registers;
  registers.set(kRip, pc);
  registers.set(kRsp, sp);
  return registers;
}

wire::Capture on_stack(std::uint64_t sp, wire::PieceKind why = wire::PieceKind::kCurrentStack) {
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.level = PrivilegeLevel::kKernel;
  capture.bytes.resize(64);
  capture.pieces.push_back(
      {.address = GuestVirt{sp}, .why = why, .requested = 64, .offset = 0, .size = 64});
  return capture;
}

guestos::TaskAttribution thread(std::uint64_t pc, std::uint64_t sp) {
  guestos::TaskAttribution attribution;
  attribution.user = user_code(pc, sp);
  attribution.kernel_stack = guestos::KernelStack{GuestVirt{kOwnStack}, kStackBytes};
  return attribution;
}

TEST(OneThread, ItsOwnStackNeedsNoOtherProof) {
  const auto not_asked = []() -> arch::Registers {
    ADD_FAILURE();
    return {};
  };
  const auto attribution = thread(0x401000, 0x7fff0000);
  EXPECT_TRUE(is_of_one_thread(on_stack(kOwnStack + 0x3000), attribution, not_asked));
  EXPECT_TRUE(is_of_one_thread(on_stack(kOwnStack + kStackBytes - 64), attribution, not_asked));
  EXPECT_TRUE(is_of_one_thread(on_stack(kOwnStack + 0x100, wire::PieceKind::kInterruptedStack),
                               attribution, not_asked));
  guestos::TaskAttribution elsewhere = attribution;
  elsewhere.kernel_stack.reset();
  EXPECT_TRUE(is_of_one_thread(on_stack(kNextStack + 0x3000), elsewhere, not_asked));
}

// As it was seen: in __switch_to() the stack led to a read(), and the saved registers to memcpy().
TEST(OneThread, TheNextThreadsStackIsNot) {
  const auto attribution = thread(0x401ffb, 0x7fff0000);
  const wire::Capture capture = on_stack(kNextStack + 0x3d00);
  const auto entered = [](std::uint64_t pc, std::uint64_t sp) {
    return [=] { return user_code(pc, sp); };
  };
  EXPECT_FALSE(is_of_one_thread(capture, attribution, entered(0x405000, 0x7ffe0000)));
  EXPECT_FALSE(is_of_one_thread(capture, attribution, entered(0x401ffb, 0x7ffe0000)));
  // A stack of entry code's alone leads to the same user code.
  EXPECT_TRUE(is_of_one_thread(capture, attribution, entered(0x401ffb, 0x7fff0000)));
  EXPECT_TRUE(is_of_one_thread(capture, attribution, [] { return arch::Registers(); }));
  // Pieces of other kinds, and empty ones, are no kernel stacks.
  EXPECT_FALSE(is_of_one_thread(on_stack(kOwnStack, wire::PieceKind::kSystem), attribution,
                                entered(0x405000, 0x7ffe0000)));
  wire::Capture empty = on_stack(kOwnStack);
  empty.pieces.front().size = 0;
  EXPECT_FALSE(is_of_one_thread(empty, attribution, entered(0x405000, 0x7ffe0000)));
}

}  // namespace
}  // namespace ringside::session
