#include "guestos/linux/tasks/user_names.h"

#include <gtest/gtest.h>

#include <span>

namespace ringside::guestos {
namespace {

UserNames parse(std::string_view text) {
  return parse_passwd(std::as_bytes(std::span(text.data(), text.size())));
}

TEST(UserNames, NamesById) {
  const UserNames names = parse(
      "root:x:0:0:root:/root:/bin/bash\n"
      "_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n"
      "nobody:*:4294967295:65534:nobody,,:/:\n"
      "last:x:1000:1000::/home/last:/bin/sh");
  EXPECT_EQ(names, (UserNames{{0, "root"}, {42, "_apt"}, {0xffffffff, "nobody"}, {1000, "last"}}));
}

TEST(UserNames, TheFirstOfAnIdCounts) {
  EXPECT_EQ(parse("root:x:0:0:::\ntoor:x:0:0:::\n"), (UserNames{{0, "root"}}));
}

TEST(UserNames, OtherLinesArePassedOver) {
  EXPECT_EQ(parse("\n"
                  "#a:x:1:1:::\n"
                  "+b:x:2:2:::\n"
                  "-:x:3:3:::\n"
                  ":x:4:4:::\n"
                  "c:x:5\n"
                  "d:x:6:6\n"
                  "e:x::7:::\n"
                  "f:x:8x:8:::\n"
                  "g:x:-9:9:::\n"
                  "h:x: 10:10:::\n"
                  "i:x:4294967296:11:::\n"
                  "j:x:12::::\n"
                  " k:x:13:13:::\n"
                  "l\x1b[2J:x:14:14:::\n"
                  "m\xc3\xbcller:x:15:15:::\n"
                  "n\n:x:16:16:::\n"
                  "good:x:17:17:::\n"),
            (UserNames{{17, "good"}}));
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse(std::string_view("\0\0:\0:\0\n\n::::", 11)).empty());
}

}  // namespace
}  // namespace ringside::guestos
