// A function whose first instructions call a tracer, before it has saved the link register.

#include <gtest/gtest.h>

#include "arch/arch_info.h"
#include "unwind/link_programs.h"
#include "unwind/unwinder.h"

namespace ringside::unwind {
namespace {

constexpr std::uint64_t kStack = 0xffff888000010000;

struct Machine {
  const char* name;
  const arch::ArchInfo& platform;
  std::uint8_t tracers_link;    // has the return address of a call of the tracer's kind
  std::uint8_t functions_link;  // and there the function's own one is, meanwhile
  std::uint64_t record_below_fp;
};

class TracedFunction : public ::testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    const auto path = std::string(kLinkPrograms) + "/" + GetParam().name;
    auto file = elf::ElfFile::open(path);
    if (!file) GTEST_SKIP() << "clang or ld.lld was missing";
    file_ = *file;
    images_.add({.id = 1, .name = "kernel", .file = file_});
    const arch::RegisterRoles& roles = GetParam().platform.roles;
    capture_.arch = GetParam().platform.id;
    capture_.level = PrivilegeLevel::kKernel;
    // calls_traced has a frame of two words, the outermost: it was called from leaf.
    capture_.registers.set(roles.sp, kStack);
    capture_.registers.set(roles.fp, kStack + GetParam().record_below_fp);
    const std::array<std::uint64_t, 2> frame = {0, at("leaf") + 4};
    const auto bytes = std::as_bytes(std::span(frame));
    capture_.bytes.assign(bytes.begin(), bytes.end());
    capture_.pieces.push_back({{kStack}, wire::PieceKind::kCurrentStack, 16, 0, 16});
  }
  [[nodiscard]] std::uint64_t at(const char* name) const {
    return file_->symbol_named(name)->address.value;
  }
  void set(std::uint8_t reg, std::uint64_t value) { capture_.registers.set(reg, value); }
  void expect_callers(std::uint64_t in_traced) const {
    const Stack stack = Unwinder(images_, {.tables = {.cfi = false}}).unwind(capture_);
    ASSERT_GE(stack.frames.size(), 3u);
    EXPECT_EQ(stack.frames[1].address.value, in_traced);
    EXPECT_EQ(stack.frames[2].address.value, in_calls_traced());
    EXPECT_NE(stack.frames[2].source, FrameSource::kGuess);
  }
  // Behind its one call.
  [[nodiscard]] std::uint64_t in_calls_traced() const {
    return at("calls_traced") + (capture_.arch == Arch::kAArch64 ? 12 : 24);
  }

  std::shared_ptr<const elf::ElfFile> file_;
  elf::ImageMap images_;
  wire::Capture capture_;
};

TEST_P(TracedFunction, HasItsCallerWhileTheTracerRuns) {
  const Machine& machine = GetParam();
  const std::uint64_t in_traced = at("traced") + 8;
  set(machine.platform.roles.pc, at("tracer"));
  set(machine.tracers_link, in_traced);
  set(machine.functions_link, in_calls_traced());
  expect_callers(in_traced);
}

TEST_P(TracedFunction, HasItsCallerBeforeAndBehindTheCall) {
  const Machine& machine = GetParam();
  for (const std::uint64_t offset : {0, 8}) {
    set(machine.platform.roles.pc, at("traced") + offset);
    set(machine.platform.roles.link, in_calls_traced());
    const Stack stack = Unwinder(images_, {.tables = {.cfi = false}}).unwind(capture_);
    ASSERT_GE(stack.frames.size(), 2u);
    EXPECT_EQ(stack.frames[1].address.value, in_calls_traced());
    EXPECT_EQ(stack.frames[1].source, FrameSource::kInstructions);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, TracedFunction,
                         ::testing::Values(Machine{"link_aarch64_exact", arch::kAArch64Info,
                                                   arch::aarch64::kLr, 9, 0},
                                           Machine{"link_riscv64_exact", arch::kRiscv64Info,
                                                   arch::riscv64::kT0, arch::riscv64::kRa, 16}),
                         [](const auto& machine) { return std::string(machine.param.name); });

}  // namespace
}  // namespace ringside::unwind
