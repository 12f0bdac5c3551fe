// Functions that have no symbols, in the programs of single_step_test.cpp without their symbols and
// their call-frame information: what their instructions say is compared with that information.

#include "unwind/x86/function_starts.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "arch/arch_info.h"
#include "unwind/cfi/table.h"
#include "unwind/user/user_rules.h"
#include "unwind/x86/decoder.h"
#include "unwind/x86/padding.h"

namespace ringside::unwind::x86 {
namespace {

struct Count {
  std::size_t same = 0;
  std::size_t none = 0;
  std::size_t other_register = 0;
};

class Comparison {
 public:
  Comparison(std::shared_ptr<const elf::ElfFile> whole,
             std::shared_ptr<const elf::ElfFile> stripped, const arch::ArchInfo& platform)
      : whole_(whole),
        truth_(whole, platform),
        rules_(std::move(stripped), platform),
        decoder_(platform) {}

  Count run() {
    for (const cfi::Table::Function& function : truth_.functions())
      for (std::uint64_t at = 0; at < function.size;) {
        const ImageAddr pc = function.start + at;
        const Bytes code = whole_->bytes_at(pc, 16);
        if (!begins_with_padding(code)) poll(pc);
        at += decoder_.decode(code, pc).size;
      }
    return count_;
  }

 private:
  void poll(ImageAddr pc) {
    const auto expected = truth_.find(pc);
    const UserRules::Known& known = rules_.at(pc, PcKind::kExact);
    ASSERT_TRUE(expected);
    if (!known.rule) {
      ++count_.none;
    } else if (known.rule->cfa.reg != expected->rule.cfa.reg) {
      ++count_.other_register;
    } else {
      ++count_.same;
      EXPECT_EQ(known.rule->cfa.offset, expected->rule.cfa.offset)
          << whole_->name() << std::hex << " at " << pc.value;
    }
  }

  std::shared_ptr<const elf::ElfFile> whole_;
  cfi::Table truth_;
  UserRules rules_;
  Decoder decoder_;
  Count count_;
};

class StrippedProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(StrippedProgram, HasTheRulesOfItsCallFrameInformation) {
  const std::string path = fmt::format("{}/step_{}", RINGSIDE_STEP_PROGRAMS, GetParam());
  const auto whole = elf::ElfFile::open(path);
  const auto stripped = elf::ElfFile::open(path + ".stripped");
  if (!whole && std::string_view(GetParam()).find("clang") != std::string_view::npos)
    GTEST_SKIP() << "there is no clang here";
  ASSERT_TRUE(whole && stripped) << path;
  ASSERT_TRUE((*stripped)->symbols().empty());
  // The rules are not the same in entry code, in retpolines and where stacks were realigned.
  const Count count = Comparison(*whole, *stripped, *arch::find_info((*whole)->arch())).run();
  const std::size_t all = count.same + count.none + count.other_register;
  EXPECT_GT(count.same, all / 3);
}

INSTANTIATE_TEST_SUITE_P(Programs, StrippedProgram,
                         ::testing::Values("gcc_cfi_O0", "gcc_cfi_O1", "gcc_cfi_O2", "gcc_cfi_O3",
                                           "gcc_cfi_Os", "clang_cfi_O0", "clang_cfi_O2",
                                           "clang_cfi_Os", "i386_gcc_cfi_O2", "i386_clang_cfi_O2"),
                         [](const auto& program) { return std::string(program.param); });

}  // namespace
}  // namespace ringside::unwind::x86
