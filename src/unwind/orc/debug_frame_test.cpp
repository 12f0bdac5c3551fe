// ORC against the call-frame information of the same vmlinux: two descriptions of one code that
// different programs made, objtool from the instructions and the compiler. For Debian's amd64
// kernels that script/fetch-linux-guest --vmlinux has left in the cache.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "arch/arch_info.h"
#include "unwind/cfi/table.h"
#include "unwind/orc/table.h"

namespace ringside::unwind::orc {
namespace {

struct Comparison {
  std::size_t addresses = 0;
  std::size_t equal = 0;
  std::size_t different = 0;  // both know a rule, and another one
  // ORC goes over to another stack. The compiler cannot know: inline assembly does it.
  std::size_t switches = 0;
  std::size_t only_orc = 0;
  std::size_t only_cfi = 0;
};

bool is_known(const CompactRule& rule) {
  return rule.kind != CompactRule::Kind::kNone && rule.kind != CompactRule::Kind::kSlow;
}

bool is_equal(const CompactRule& a, const CompactRule& b) {
  return a.kind == b.kind && a.base == b.base && a.cfa_offset == b.cfa_offset &&
         a.pc_offset == b.pc_offset && a.fp == b.fp && a.fp_offset == b.fp_offset;
}

Comparison compare(const std::shared_ptr<const elf::ElfFile>& file, const Table& orc) {
  constexpr std::uint64_t kStep = 5;  // bytes, so that all places in instructions come up
  constexpr std::uint64_t kMost = 4096;
  cfi::Table cfi(file, arch::kX86_64Info);
  Comparison result;
  for (const elf::FunctionSymbol& function : file->symbols()) {
    for (std::uint64_t at = 0; at < std::min(function.size, kMost); at += kStep) {
      const CompactRule by_orc = orc.find_compact(function.address + at);
      const CompactRule by_cfi = cfi.find_compact(function.address + at);
      ++result.addresses;
      if (by_orc.base == CompactRule::Base::kOtherStack && is_known(by_cfi))
        ++result.switches;
      else if (is_known(by_orc) && is_known(by_cfi))
        ++(is_equal(by_orc, by_cfi) ? result.equal : result.different);
      result.only_orc += is_known(by_orc) && by_cfi.kind == CompactRule::Kind::kNone;
      result.only_cfi += is_known(by_cfi) && by_orc.kind == CompactRule::Kind::kNone;
    }
  }
  return result;
}

TEST(OrcLinux, AgreesWithCallFrameInformation) {
  const char* home = std::getenv("HOME");
  const std::filesystem::path cache =
      std::string(home == nullptr ? "" : home) + "/.cache/ringside/linux-amd64";
  int kernels = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache, ignored)) {
    if (entry.path().filename() != "vmlinux") continue;
    SCOPED_TRACE(entry.path().string());
    const auto file = elf::ElfFile::open(entry.path());
    ASSERT_TRUE(file) << file.error().message;
    const auto orc = Table::from_elf(**file);
    ASSERT_TRUE(orc);
    ++kernels;
    const Comparison result = compare(*file, *orc);
    RecordProperty("addresses", std::to_string(result.addresses));
    RecordProperty("different", std::to_string(result.different));
    RecordProperty("only_orc", std::to_string(result.only_orc));
    RecordProperty("only_cfi", std::to_string(result.only_cfi));
    std::printf(
        "%zu addresses: %zu equal, %zu different, %zu switches of stacks, %zu known to ORC only, "
        "%zu to CFI only\n",
        result.addresses, result.equal, result.different, result.switches, result.only_orc,
        result.only_cfi);
    EXPECT_GT(result.equal, 1'000'000u);
    EXPECT_GT(result.equal, result.addresses * 9 / 10);
    // Inline assembly that pushes (pushf; pop) has no call-frame information.
    EXPECT_LT(result.different, result.equal / 10'000);
    EXPECT_GT(result.switches, 0u);
    EXPECT_LT(result.switches, 1000u);
    // Only call-frame information covers code behind calls that do not return.
    EXPECT_LT(result.only_cfi, result.addresses / 100);
  }
  if (kernels == 0) GTEST_SKIP() << "no vmlinux in " << cache;
}

}  // namespace
}  // namespace ringside::unwind::orc
