#include "importers/perf_script/frame_line.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside::importers::perf_script {
namespace {

void expect(std::string_view line, std::uint64_t address, std::string_view symbol,
            std::string_view file, bool inlined = false) {
  SCOPED_TRACE(line);
  const auto frame = parse_frame_line(line);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->address.value, address);
  EXPECT_EQ(frame->symbol, symbol);
  EXPECT_EQ(frame->file, file);
  EXPECT_EQ(frame->inlined, inlined);
}

TEST(FrameLine, SymbolsAndFiles) {
  expect("\tffffffff81616a50 vfs_read+0x9d ([kernel.kallsyms])", 0xffffffff81616a50, "vfs_read",
         "[kernel.kallsyms]");
  expect("\t            1165 main+0x55 (/home/me/my prog)", 0x1165, "main", "/home/me/my prog");
  expect("\t             d70 _start+0xffff018fd5dce000 (/usr/lib/ld-2.24.so)", 0xd70, "_start",
         "/usr/lib/ld-2.24.so");
  expect("ffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])", 0xffffffff8103d0ca,
         "native_write_msr_safe", "[kernel.kallsyms]");
  expect("  7f std::map<int, char (*)(int)>::at(int const&) const (/x)", 0x7f,
         "std::map<int, char (*)(int)>::at(int const&) const", "/x");
  expect("  7f f (/usr/bin/foo (deleted))", 0x7f, "f", "/usr/bin/foo (deleted)");
  expect("  7f f (/tmp/a (b)/c)", 0x7f, "f", "/tmp/a (b)/c");
  expect("  7f f(int) (/tmp/a)b)", 0x7f, "f(int)", "/tmp/a)b");
  expect("  7f RegExp:[&<>\"'] (/tmp/perf-7539.map)", 0x7f, "RegExp:[&<>\"']",
         "/tmp/perf-7539.map");
  expect("  7f f+0x1 (/lib/libc.so.6+0x31c27)", 0x7f, "f", "/lib/libc.so.6");
}

// Brackets belong to a name: what the words of Redox' tool mean is for Stacks.
TEST(FrameLine, NamesInBrackets) {
  expect("\t ffffffff80101234 [<alloc::vec::Vec<T> as core::ops::Drop>::drop+12b] (kernel)",
         0xffffffff80101234, "[<alloc::vec::Vec<T> as core::ops::Drop>::drop+12b]", "kernel");
  expect("\t ffffffff80101234 [unknown] ([kernel])", 0xffffffff80101234, "", "[kernel]");
  expect("  7f [heap] (/x)", 0x7f, "[heap]", "/x");
}

TEST(FrameLine, UnknownOnes) {
  expect("  7f [unknown] (/lib/libc.so.6)", 0x7f, "", "/lib/libc.so.6");
  expect("   0 [unknown] ([unknown])", 0, "", "");
  expect("  7f  (/lib/libc.so.6)", 0x7f, "", "/lib/libc.so.6");
  expect("  7f [unknown]", 0x7f, "", "");
  expect("  7f", 0x7f, "", "");
}

TEST(FrameLine, WithoutFilesAndInlined) {
  expect("  7f f(int)", 0x7f, "f(int)", "");
  expect("  7f operator+0x12", 0x7f, "operator", "");
  expect("  7f mid+0x12 (inlined)", 0x7f, "mid", "", true);
  expect("  7f resolve_map+0x840", 0x7f, "resolve_map", "");
}

TEST(FrameLine, OthersAreNone) {
  for (const char* const line : {"", "main (x)", "7g f (x)", "12345678901234567 f (x)", "-1 f (x)",
                                 "  a.c:12", "ABI:2 AX:0x1"})
    EXPECT_FALSE(parse_frame_line(line)) << line;
}

TEST(FrameLine, InALineOfItsSample) {
  EXPECT_EQ(frame_in_line("  ffffffff8226ec67 f ([k])"), "ffffffff8226ec67 f ([k])");
  EXPECT_EQ(frame_in_line("      7f9c9f351c27 f (/x)"), "7f9c9f351c27 f (/x)");
  EXPECT_EQ(frame_in_line("     7ffff7ddc140 _start+0x0 (/x) =>     0 [unknown] ([unknown])"),
            "7ffff7ddc140 _start+0x0 (/x)");
  EXPECT_EQ(frame_in_line(" 1 2"), "");
  EXPECT_TRUE(begins_with_address("  ffffffff8226ec67 f ([k])"));
  EXPECT_TRUE(begins_with_address("            1165"));
  EXPECT_FALSE(begins_with_address("        1165 f"));
  EXPECT_FALSE(begins_with_address("                    x: 1"));
  EXPECT_FALSE(begins_with_address("                       "));
  EXPECT_EQ(frame_in_line(" prev_comm=swapper/0 prev_pid=0"), "");
}

TEST(FrameLine, OneThatIsASampleByItself) {
  for (const char* const line :
       {" ffffffff8226ec67 f ([k])", "     7f9c9f351c27 f", "             1165"})
    EXPECT_TRUE(stands_alone(line)) << line;
  for (const char* const line :
       {"\tffffffff8226ec67 f", "        ffffffff8226ec67 f", " 1165 f", "ffffffff8226ec67 f", ""})
    EXPECT_FALSE(stands_alone(line)) << line;
}

TEST(FrameLine, PlacesInTheSource) {
  const auto place = parse_source_line("  ./elf/./elf/rtld.c:2356");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->file, "./elf/./elf/rtld.c");
  EXPECT_EQ(place->line, 2356u);
  EXPECT_FALSE(place->inlined);
  const auto inlined = parse_source_line("  a.h:7 (inlined)");
  ASSERT_TRUE(inlined);
  EXPECT_EQ(inlined->file, "a.h");
  EXPECT_TRUE(inlined->inlined);
  for (const char* const line : {"  :0", "  libc.so.6[27b25]",
                                 "  [kernel.kallsyms][ffffffff8226ec67]", "  ??:0", "  ??:?"}) {
    const auto none = parse_source_line(line);
    ASSERT_TRUE(none) << line;
    EXPECT_EQ(none->file, "") << line;
  }
  EXPECT_FALSE(parse_source_line("\ta.c:12"));
  EXPECT_FALSE(parse_source_line("  words"));
}

TEST(FrameLine, WhichCodeIsTheKernels) {
  const auto kernel = [](std::uint64_t address, std::string_view file) {
    return is_kernel({GuestVirt{address}, {}, file, false});
  };
  for (const char* const file :
       {"[kernel.kallsyms]", "[kernel.vmlinux]", "[kernel]", "[ext4]", "[guest.kernel.kallsyms]",
        "/lib/modules/4.1.0-virtual/build/vmlinux", "/usr/lib/debug/boot/vmlinux-6.1.0",
        "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz"})
    EXPECT_TRUE(kernel(0x1000, file)) << file;
  for (const char* const file : {"[vdso]", "[vsyscall]", "[heap]", "[stack]", "[stack:12]",
                                 "/usr/bin/x", "//anon", "anon_inode:[perf_event]", ""})
    EXPECT_FALSE(kernel(0x1000, file)) << file;
  EXPECT_FALSE(kernel(0xffffffffff600400, "[vsyscall]"));
  EXPECT_TRUE(kernel(0xffffffff81000000, ""));
  EXPECT_FALSE(kernel(0xffffffffffffff80, ""));
}

}  // namespace
}  // namespace ringside::importers::perf_script
