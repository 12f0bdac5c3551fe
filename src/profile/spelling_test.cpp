#include "profile/spelling.h"

#include <gtest/gtest.h>

namespace ringside::profile {
namespace {

TEST(Spelling, Names) {
  EXPECT_EQ(spell("do_sys_open"), "do_sys_open");
  EXPECT_EQ(spell("a<b>::c(int&, \"x\")"), "a<b>::c(int&, \"x\")");
  EXPECT_EQ(spell("a;b"), "a:b");
  EXPECT_EQ(spell("a\nb\tc\x7f"), "a b c ");
  EXPECT_EQ(spell(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(spell(""), "[empty name]");
}

TEST(Spelling, Utf8) {
  EXPECT_EQ(spell("größe_\xe2\x82\xac_\xf0\x9f\x94\xa5"), "größe_\xe2\x82\xac_\xf0\x9f\x94\xa5");
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(spell("a\xff"
                  "b"),
            "a" + bad + "b");
  EXPECT_EQ(spell("\xc3"), bad);                      // cut
  EXPECT_EQ(spell("\xc0\xaf"), bad + bad);            // overlong
  EXPECT_EQ(spell("\xed\xa0\x80"), bad + bad + bad);  // a surrogate
  EXPECT_EQ(spell("\xef\xbf\xbf"), bad + bad + bad);  // U+FFFF, which XML forbids
  EXPECT_EQ(spell("\xc2\x85"), bad + bad);            // a C1 control: a line end to some
}

TEST(Spelling, Lines) {
  EXPECT_EQ(with_line("vfs_read", "/usr/src/fs/read_write.c", 12), "vfs_read read_write.c:12");
  EXPECT_EQ(with_line("f", "a;b\n.c", 1), "f a:b .c:1");
}

TEST(Spelling, Addresses) {
  EXPECT_EQ(unknown_name({0xffffffff81000010}), "<unknown:0xffffffff81000010>");
  EXPECT_EQ(with_address("vfs_read", {0x10}), "vfs_read [0x10]");
}

}  // namespace
}  // namespace ringside::profile
