#include "session/kernel/reboot_watch.h"

#include <gtest/gtest.h>

#include <random>

#include "arch/arch_info.h"
#include "base/testing/function_memory.h"
#include "elf/elf_writer.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kText = 0xffffffff81000000;
constexpr std::uint64_t kElsewhere = 0xffffffff9a000000;
constexpr std::size_t kTextSize = 64 << 10;
constexpr std::uint64_t kMs = 1'000'000;
constexpr unsigned kBoot = 60;  // ticks, of a millisecond each
using Verdict = RebootWatch::Verdict;

constexpr std::uint64_t kBanner = 0xffffffff82000000;
constexpr std::string_view kBannerText = "Linux version 6.1.0 (a@b) #1\n";

elf::Image kernel_image(const std::string& file_name = "kernel", bool has_banner = false) {
  std::mt19937 random(1);
  std::vector<std::byte> code(kTextSize);
  for (std::byte& byte : code) byte = static_cast<std::byte>(random());
  elf::ElfWriter writer(Arch::kX86_64, true, 2);
  writer.add_segment({kText}, code.size(), true, false, code);
  if (has_banner) {
    writer.add_segment({kBanner}, kBannerText.size(), false, false, as_bytes(kBannerText));
    writer.set_symbols({{"linux_banner", {kBanner}, kBannerText.size()}});
  }
  auto file = elf::ElfFile::from_bytes(writer.write(), file_name);
  EXPECT_TRUE(file);
  return {.id = 1, .name = "kernel", .file = *file, .load_bias = 0};
}

wire::Capture at(std::uint64_t pc, PrivilegeLevel level, std::uint16_t vcpu = 0) {
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.vcpu = VcpuId{vcpu};
  capture.level = level;
  capture.registers.set(arch::roles_of(Arch::kX86_64).pc, pc);
  return capture;
}

// A guest whose memory has the kernel where it is linked, as long as it is mapped.
class RebootWatchTest : public ::testing::Test {
 protected:
  void SetUp() override { known_.add(kernel_); }

  bool wants(std::uint64_t pc, PrivilegeLevel level, std::uint16_t vcpu = 0) {
    engines::Tick tick;
    tick.captures.push_back(at(pc, level, vcpu));
    tick.captures.back().firmware = firmware_;
    return watch_.poll(tick, known_, now_ += kMs) != nullptr;
  }
  bool any_wants(unsigned times, std::uint64_t pc, PrivilegeLevel level, std::uint16_t vcpu = 0) {
    bool any = false;
    for (unsigned i = 0; i < times; ++i) any |= wants(pc, level, vcpu);
    return any;
  }
  Verdict check(std::uint64_t pc) {
    const auto verdict = try_check(pc);
    EXPECT_TRUE(verdict);
    return verdict.value_or(Verdict::kUnreadable);
  }
  Result<Verdict> try_check(std::uint64_t pc) {
    ringside::testing::FunctionMemory memory(
        [&](GuestVirt from, std::span<std::byte> into) -> Result<std::size_t> {
          if (fails_ && from.value != pc) return fail(ErrorCode::kTimeout, "no answer");
          const Bytes bytes =
              is_mapped_ ? kernel_.file->bytes_at({from.value + shift_}, into.size()) : Bytes();
          if (bytes.empty() && from.value == pc && is_pc_readable_) return into.size();
          std::copy(bytes.begin(), bytes.end(), into.begin());
          if (is_another_version_ && from.value == kBanner) into[14] = std::byte{'7'};
          return bytes.size();
        });
    return watch_.check(kernel_, at(pc, PrivilegeLevel::kKernel), memory, now_);
  }

  std::optional<wire::Capture::Firmware> firmware_;
  elf::Image kernel_ = kernel_image();
  elf::ImageMap known_;
  RebootWatch watch_;
  bool is_mapped_ = true;
  std::uint64_t shift_ = 0;  // of what is in memory
  bool is_pc_readable_ = true;
  bool is_another_version_ = false;  // by its banner
  bool fails_ = false;               // memory does, but where code runs
  std::uint64_t now_ = 0;
};

constexpr auto kFirmware = PrivilegeLevel::kFirmware;
constexpr auto kKernel = PrivilegeLevel::kKernel;
constexpr auto kUser = PrivilegeLevel::kUser;

TEST_F(RebootWatchTest, AKernelThatRunsIsNotLookedAt) {
  EXPECT_FALSE(any_wants(100, kText, kKernel));
  EXPECT_FALSE(any_wants(100, 0x400000, kUser));
}

// Modules that were just loaded, and trampolines.
TEST_F(RebootWatchTest, UnknownCodeNowAndThenIsNotLookedAt) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(any_wants(2, kElsewhere, kKernel));
    EXPECT_FALSE(wants(kText, kKernel));
  }
}

TEST_F(RebootWatchTest, MuchUnknownCodeIsLookedAtLessAndLessOften) {
  ASSERT_TRUE(any_wants(3, kElsewhere, kKernel));
  EXPECT_EQ(check(kElsewhere), Verdict::kThere);
  EXPECT_FALSE(any_wants(200, kElsewhere, kKernel));
  EXPECT_TRUE(any_wants(100, kElsewhere, kKernel));
  EXPECT_EQ(check(kElsewhere), Verdict::kThere);
  EXPECT_FALSE(any_wants(450, kElsewhere, kKernel));
  EXPECT_TRUE(any_wants(100, kElsewhere, kKernel));
}

// As a trampoline between two address spaces would be.
TEST_F(RebootWatchTest, AKernelThatIsHiddenIsNotGone) {
  ASSERT_TRUE(any_wants(3, kElsewhere, kKernel));
  is_mapped_ = false;
  EXPECT_EQ(check(kElsewhere), Verdict::kHidden);
}

TEST_F(RebootWatchTest, AKernelThatIsNotThereAfterFirmwareIsGone) {
  EXPECT_FALSE(any_wants(kBoot, 0xf0000, kFirmware));
  ASSERT_TRUE(wants(kElsewhere, kKernel));
  is_mapped_ = false;
  EXPECT_EQ(check(kElsewhere), Verdict::kGone);
}

// Its caller's pc may be from before the reset.
TEST_F(RebootWatchTest, FirmwareWhoseCallersRegistersAreNotFoundMayBeABoots) {
  firmware_ = wire::Capture::Firmware{GuestVirt{0x80001234}, GuestVirt{0x80040000}};
  EXPECT_FALSE(any_wants(kBoot, kText, kKernel));
  firmware_->frame.reset();
  EXPECT_FALSE(any_wants(kBoot, kText, kKernel));  // no code of a kernel's mode
  firmware_.reset();
  EXPECT_TRUE(wants(kText, kKernel));
  EXPECT_EQ(check(kText), Verdict::kThereAfterReset);
}

// Its start is in the file, and since then it has patched itself.
TEST_F(RebootWatchTest, AKernelThatWasFoundInMemoryIsThereAsLongAsItsAddressesAreMapped) {
  kernel_ = kernel_image("");
  shift_ = 4;
  ASSERT_TRUE(any_wants(3, kElsewhere, kKernel));
  EXPECT_EQ(check(kElsewhere), Verdict::kThere);
  is_mapped_ = false;
  any_wants(500, kElsewhere, kKernel);
  EXPECT_EQ(check(kElsewhere), Verdict::kHidden);
}

// No kernel patches its banner.
TEST_F(RebootWatchTest, AnotherVersionAtThePlaceOfAKernelThatWasFoundInMemoryIsNotThatKernel) {
  kernel_ = kernel_image("", true);
  any_wants(kBoot, 0xf0000, kFirmware);
  ASSERT_TRUE(wants(kText, kKernel));
  EXPECT_EQ(check(kText), Verdict::kThereAfterReset);
  is_another_version_ = true;
  any_wants(300, 0xf0000, kFirmware);
  ASSERT_TRUE(wants(kText, kKernel));
  EXPECT_EQ(check(kText), Verdict::kGone);
}

// Firmware that serves the kernel for long, or a guest that makes it look so.
TEST_F(RebootWatchTest, ResetsThatShowNothingAreLookedAtLessAndLessOften) {
  unsigned looks = 0;
  for (int i = 0; i < 1000; ++i) {
    any_wants(kBoot, 0xf0000, kFirmware);
    if (!wants(kText, kKernel)) continue;
    EXPECT_EQ(check(kText), Verdict::kThereAfterReset);
    ++looks;
  }
  EXPECT_LE(looks, 15u);  // of a minute
}

TEST_F(RebootWatchTest, AReadThatFailsLosesNoEvidence) {
  any_wants(kBoot, 0xf0000, kFirmware);
  ASSERT_TRUE(wants(kElsewhere, kKernel));
  fails_ = true;
  EXPECT_FALSE(try_check(kElsewhere));
  ASSERT_TRUE(wants(kElsewhere, kKernel));
  fails_ = is_mapped_ = false;
  EXPECT_EQ(check(kElsewhere), Verdict::kGone);
}

TEST_F(RebootWatchTest, OtherCodeAtThePlaceOfAFileIsNotTheKernel) {
  shift_ = 4;
  ASSERT_TRUE(any_wants(3, kElsewhere, kKernel));
  EXPECT_EQ(check(kElsewhere), Verdict::kHidden);
}

// A kernel of another build may lie at the same place.
TEST_F(RebootWatchTest, AfterFirmwareTheFirstKernelCodeIsLookedAtWhereverItIs) {
  EXPECT_FALSE(any_wants(kBoot, 0xf0000, kFirmware));
  ASSERT_TRUE(wants(kText, kKernel));
  EXPECT_EQ(check(kText), Verdict::kThereAfterReset);
  EXPECT_FALSE(any_wants(10, kText, kKernel));
}

// As riscv64's firmware does for the kernel, and as later vCPUs start on x86.
TEST_F(RebootWatchTest, FirmwareForAMomentOrOnALaterVcpuShowsNothing) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(any_wants(40, 0xf0000, kFirmware));
    EXPECT_FALSE(wants(kText, kKernel));
    EXPECT_FALSE(any_wants(10, 0x9a000, kFirmware, 1));
    EXPECT_FALSE(wants(kText, kKernel, 1));
  }
}

TEST_F(RebootWatchTest, WhereNotEvenTheCodeThatRunsCanBeReadNothingIsShown) {
  any_wants(kBoot, 0xf0000, kFirmware);
  ASSERT_TRUE(wants(kElsewhere, kKernel));
  is_mapped_ = is_pc_readable_ = false;
  EXPECT_EQ(check(kElsewhere), Verdict::kUnreadable);
  ASSERT_TRUE(wants(kElsewhere, kKernel));
  is_pc_readable_ = true;
  EXPECT_EQ(check(kElsewhere), Verdict::kGone);
}

}  // namespace
}  // namespace ringside::session
