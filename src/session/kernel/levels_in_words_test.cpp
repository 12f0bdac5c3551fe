#include "session/kernel/levels_in_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// kUnknown, kKernel, kUser, kFirmware, kGuest.
TEST(LevelsInWords, AllOfItBeingFirmwareIsSaidWithWhatToGive) {
  EXPECT_THAT(levels_in_words({0, 0, 0, 500, 0}, Arch::kRiscv64, {}),
              ElementsAre("all samples are in machine mode, outside of any known kernel, and "
                          "shown as [firmware]. If a kernel runs there, record with its ELF file: "
                          "--kernel FILE"));
  EXPECT_THAT(levels_in_words({0, 4, 6, 190, 0}, Arch::kAArch64, {"os.elf", true}),
              ElementsAre("95.0 % of the samples are in EL2 or EL3, outside of os.elf, and shown "
                          "as [firmware]. If a kernel runs there, record with its ELF file: "
                          "--kernel FILE"));
}

TEST(LevelsInWords, FirmwareBesideAKernelIsNothingToSay) {
  EXPECT_THAT(levels_in_words({0, 60, 40, 900, 0}, Arch::kRiscv64, {"vmlinux", true}), IsEmpty());
  EXPECT_THAT(levels_in_words({0, 60, 40, 90, 0}, Arch::kRiscv64, {}), IsEmpty());
  EXPECT_THAT(levels_in_words({0, 0, 0, 0, 0}, Arch::kX86_64, {}), IsEmpty());
}

TEST(LevelsInWords, AGuestOfAHypervisorIsSaid) {
  EXPECT_THAT(levels_in_words({0, 300, 0, 0, 100}, Arch::kX86_64, {"xen", true}),
              ElementsAre("the kernel is a hypervisor: 25.0 % of the samples are its guest's (in "
                          "user mode at a kernel's addresses, as Xen's dom0), and shown as "
                          "[guest]. For its functions, instead of the hypervisor's, record "
                          "with the guest's kernel: --kernel FILE"));
}

// Nothing to give.
TEST(LevelsInWords, AGuestWhoseKernelWasGivenHasNames) {
  EXPECT_THAT(
      levels_in_words({0, 300, 0, 0, 100}, Arch::kX86_64, {"vmlinux", true, true}),
      ElementsAre("25.0 % of the samples are those of a hypervisor's guest (in user mode at "
                  "a kernel's addresses, as Xen's dom0), whose kernel is vmlinux: one "
                  "frame each. The hypervisor's own functions have no names"));
}

}  // namespace
}  // namespace ringside::session
