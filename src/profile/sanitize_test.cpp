#include "profile/sanitize.h"

#include <gtest/gtest.h>

namespace ringside::profile {
namespace {

TEST(Sanitize, Names) {
  EXPECT_EQ(sanitize("do_sys_open"), "do_sys_open");
  EXPECT_EQ(sanitize("a<b>::c(int&, \"x\")"), "a<b>::c(int&, \"x\")");
  EXPECT_EQ(sanitize("a;b"), "a:b");
  EXPECT_EQ(sanitize("a\nb\tc\x7f"), "a b c ");
  EXPECT_EQ(sanitize(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(sanitize(""), "[empty name]");
}

TEST(Sanitize, Utf8) {
  EXPECT_EQ(sanitize("größe_\xe2\x82\xac_\xf0\x9f\x94\xa5"), "größe_\xe2\x82\xac_\xf0\x9f\x94\xa5");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(sanitize("a\xff"
                     "b"),
            "a" + bad + "b");
  EXPECT_EQ(sanitize("\xc3"), bad);                      // cut
  EXPECT_EQ(sanitize("\xc0\xaf"), bad + bad);            // overlong
  EXPECT_EQ(sanitize("\xed\xa0\x80"), bad + bad + bad);  // a surrogate
  EXPECT_EQ(sanitize("\xef\xbf\xbf"), bad + bad + bad);  // U+FFFF, which XML forbids
  EXPECT_EQ(sanitize("\xc2\x85"), bad + bad);            // a C1 control: a line end to some
}

TEST(Sanitize, Lines) {
  EXPECT_EQ(with_line("vfs_read", "/usr/src/fs/read_write.c", 12), "vfs_read read_write.c:12");
  EXPECT_EQ(with_line("f", "a;b\n.c", 1), "f a:b .c:1");
}

TEST(Sanitize, Addresses) {
  EXPECT_EQ(unknown_name({0xffffffff81000010}), "<unknown:0xffffffff81000010>");
  EXPECT_EQ(with_address("vfs_read", {0x10}), "vfs_read [0x10]");
}

}  // namespace
}  // namespace ringside::profile
