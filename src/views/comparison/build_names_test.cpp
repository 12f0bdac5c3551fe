#include "views/comparison/build_names.h"

#include <gtest/gtest.h>

#include "profile/profile_test_util.h"
#include "views/call_tree.h"

namespace ringside::views {
namespace {

using profile::testing::TestRecording;

TEST(BuildNames, SuffixesOfClonesGo) {
  EXPECT_EQ(name_across_builds("do_sys_poll.constprop.0"), "do_sys_poll");
  EXPECT_EQ(name_across_builds("f.isra.0.cold"), "f");
  EXPECT_EQ(name_across_builds("f.part.0.constprop.12"), "f");
  EXPECT_EQ(name_across_builds("f.llvm.1234567890123456789"), "f");
  EXPECT_EQ(name_across_builds("f.cold"), "f");
  EXPECT_EQ(name_across_builds("f(int) [clone .isra.0] [clone .cold]"), "f(int)");
}

TEST(BuildNames, NamesThatOnlyLookAlikeStay) {
  for (const char* const name :
       {"f", "f.0", ".cold", "isra.0", "cold", "x.partial", "operator[]", "a[12345678", "f [clone",
        "[clone .cold]", "deadbeefdeadbeef", "ns::h0123", "[deadbeef]", "v[0]"})
    EXPECT_EQ(name_across_builds(name), name);
}

TEST(BuildNames, HashesOfRustGo) {
  EXPECT_EQ(name_across_builds("core::fmt::write::h0123456789abcdef"), "core::fmt::write");
  EXPECT_EQ(name_across_builds("_ZN4core3fmt5write17h0123456789abcdefE"), "_ZN4core3fmt5writeE");
  EXPECT_EQ(name_across_builds("core[846817f741e54dfd]::fmt::write<alloc[3c1e1e2b0f35e0a1]::S>"),
            "core::fmt::write<alloc::S>");
}

TEST(BuildNames, UnknownAddressesAreOne) {
  EXPECT_EQ(name_across_builds("<unknown:0xffffffff81000000>"), "<unknown>");
}

TEST(BuildNames, TheKernelsImageHasOneName) {
  using profile::Kind;
  EXPECT_EQ(image_across_builds("vmlinux-6.1.0-40-amd64", Kind::kKernel), "kernel");
  EXPECT_EQ(image_across_builds("[kernel.kallsyms]", Kind::kInterrupt), "kernel");
  EXPECT_EQ(image_across_builds("kernel", Kind::kKernel), "kernel");
  EXPECT_EQ(image_across_builds("ext4", Kind::kKernel), "ext4");
  EXPECT_EQ(image_across_builds("vmlinux", Kind::kUser), "vmlinux");
}

TEST(BuildNames, FunctionsOfOneNameAreOne) {
  TestRecording recording;
  recording.add({"main|work", 3}).add({"main|work.isra.0", 2}).add({"main|work.cold", 1});
  profile::Profile profile = recording.profile();
  use_names_across_builds(profile);
  const CallTree tree = make_call_tree(profile);
  ASSERT_EQ(tree.nodes.size(), 3u);
  EXPECT_EQ(tree.nodes[2].name, "work");
  EXPECT_EQ(tree.nodes[2].self, 6);
  EXPECT_FALSE(tree.nodes[2].several_functions);
}

}  // namespace
}  // namespace ringside::views
