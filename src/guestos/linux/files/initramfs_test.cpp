#include "guestos/linux/files/initramfs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "guestos/testing/program_file.h"

namespace ringside::guestos {
namespace {

std::vector<std::byte> content_of(const std::string& path) {
  const auto file = MappedFile::open(path).value();
  return {file->bytes().begin(), file->bytes().end()};
}

// An entry of newc, with what only the test of its damage sets.
std::string entry(const std::string& name, std::uint32_t mode, const std::string& contents,
                  std::uint32_t links = 1, std::uint32_t inode = 7) {
  std::string text = "070701";
  for (const std::size_t number :
       {std::size_t{inode}, std::size_t{mode}, std::size_t{0}, std::size_t{0}, std::size_t{links},
        std::size_t{0}, contents.size(), std::size_t{8}, std::size_t{1}, std::size_t{0},
        std::size_t{0}, name.size() + 1, std::size_t{0}})
    text += fmt::format("{:08X}", number);
  text += name + '\0';
  text.resize((text.size() + 3) / 4 * 4);
  text += contents;
  text.resize((text.size() + 3) / 4 * 4);
  return text;
}

constexpr std::uint32_t kFile = 0100755;
constexpr std::uint32_t kLink = 0120777;
constexpr std::uint32_t kFolder = 0040755;
const std::string kEnd = entry("TRAILER!!!", 0, "");

std::string program(const std::string& text) {
  const auto bytes = testing::program_bytes(0x1000, text);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
bool is(Bytes found, const std::string& wanted) {
  return std::ranges::equal(found, as_bytes(wanted));
}

class PackedInitramfs : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static std::string path() { return std::string(RINGSIDE_INITRAMFS) + GetParam(); }
  std::vector<std::byte> program_ = content_of(RINGSIDE_LINUX_TYPES_DWARF);
};

TEST_P(PackedInitramfs, HasThePrograms) {
  const auto initramfs = Initramfs::open(path());
  ASSERT_TRUE(initramfs) << initramfs.error().message;
  EXPECT_TRUE(std::ranges::equal(initramfs->find("/usr/bin/tool"), program_));
  EXPECT_TRUE(std::ranges::equal(initramfs->find("/usr/bin/same"), program_));  // a hard link
  EXPECT_TRUE(std::ranges::equal(initramfs->find("/usr/lib/late"), program_));
  for (const char* other :
       {"/etc/text", "/usr/lib/module.ko", "/bin/tool", "/loop", "/", "", "usr"})
    EXPECT_TRUE(initramfs->find(other).empty()) << other;
}

TEST_P(PackedInitramfs, OneThatEndsTooEarlyIsAnError) {
  const auto bytes = content_of(path());
  // Within the packed archives, which begin behind 600 bytes or so, and end at most 3 before the
  // end.
  for (const std::size_t size : {std::size_t{800}, bytes.size() / 2, bytes.size() - 700}) {
    const auto initramfs = Initramfs::from_bytes(Bytes(bytes).first(size));
    EXPECT_FALSE(initramfs) << size << " of " << bytes.size();
  }
}

TEST_P(PackedInitramfs, MoreThanIsAllowedIsAnError) {
  const auto bytes = content_of(path());
  const auto initramfs = Initramfs::from_bytes(bytes, program_.size());
  EXPECT_EQ(initramfs.has_value(), GetParam() == std::string_view("none"));
}

TEST_P(PackedInitramfs, DamageIsAnErrorOrOtherBytes) {
  auto bytes = content_of(path());
  for (std::size_t at = 0; at < bytes.size(); at += 331) {
    bytes[at] ^= std::byte{0x55};
    (void)Initramfs::from_bytes(bytes);
    bytes[at] ^= std::byte{0x55};
  }
}

INSTANTIATE_TEST_SUITE_P(Compressions, PackedInitramfs,
                         ::testing::Values("gzip", "bzip2", "lzma", "xz", "lzo", "lz4", "zstd",
                                           "none"),
                         [](const auto& how) { return std::string(how.param); });

TEST(Initramfs, ALaterFileTakesTheName) {
  const std::string text = entry("a", kFile, program("one")) + entry("a", kFile, program("two")) +
                           entry("b", kFile, program("one")) + entry("b", kFile, "script") + kEnd;
  const auto initramfs = Initramfs::from_bytes(as_bytes(text));
  ASSERT_TRUE(initramfs) << initramfs.error().message;
  EXPECT_TRUE(is(initramfs->find("/a"), program("two")));
  EXPECT_TRUE(initramfs->find("/b").empty());
}

// do_name() and clean_path() of init/initramfs.c.
TEST(Initramfs, AFolderOfALinksNameTakesItsPlace) {
  const std::string text = entry("bin", kLink, "usr/bin") + entry("bin", kFolder, "") +
                           entry("bin/a", kFile, program("a")) + kEnd;
  const auto initramfs = Initramfs::from_bytes(as_bytes(text));
  ASSERT_TRUE(initramfs);
  EXPECT_TRUE(is(initramfs->find("/bin/a"), program("a")));
  EXPECT_TRUE(initramfs->find("/usr/bin/a").empty());
}

TEST(Initramfs, TheContentsOfHardLinksStandBehindAnyName) {
  for (const std::size_t with_contents : {0, 1, 2}) {
    std::string text;
    for (std::size_t i = 0; i < 3; ++i)
      text += entry(std::string(1, static_cast<char>('a' + i)), kFile,
                    i == with_contents ? program("p") : "", 3);
    text += kEnd + entry("d", kFile, "", 2) + kEnd;  // of another archive, with the same inode
    const auto initramfs = Initramfs::from_bytes(as_bytes(text));
    ASSERT_TRUE(initramfs);
    for (const char* name : {"a", "b", "c"})
      EXPECT_TRUE(is(initramfs->find(name), program("p"))) << with_contents << name;
    EXPECT_TRUE(initramfs->find("d").empty());
  }
}

TEST(Initramfs, NamesLeadThroughLinks) {
  const std::string text = entry("usr/lib64", kFolder, "") + entry("lib", kLink, "/usr/./lib64/") +
                           entry("usr/lib", kLink, "lib64") + entry("lib/a", kFile, program("a")) +
                           entry("//usr/lib//b", kFile, program("b")) +
                           entry("../etc/../lib/../bin/c", kFile, program("c")) + kEnd;
  const auto initramfs = Initramfs::from_bytes(as_bytes(text));
  ASSERT_TRUE(initramfs) << initramfs.error().message;
  EXPECT_TRUE(is(initramfs->find("/usr/lib64/a"), program("a")));
  EXPECT_TRUE(is(initramfs->find("/usr/lib64/b"), program("b")));
  EXPECT_TRUE(is(initramfs->find("/usr/bin/c"), program("c")));
}

TEST(Initramfs, LinksInACircleEnd) {
  const std::string text = entry("a", kLink, "b") + entry("b", kLink, "a/b") +
                           entry("a/x", kFile, program("x")) + entry("ok", kFile, program("x")) +
                           kEnd;
  const auto initramfs = Initramfs::from_bytes(as_bytes(text));
  ASSERT_TRUE(initramfs);
  EXPECT_TRUE(is(initramfs->find("ok"), program("x")));
}

TEST(Initramfs, ErrorsSayWhatAndWhere) {
  const auto message = [](const std::string& text) {
    const auto initramfs = Initramfs::from_bytes(as_bytes(text));
    return initramfs ? std::string("none") : initramfs.error().message;
  };
  EXPECT_EQ(message(""), "none");
  EXPECT_EQ(message(kEnd + std::string(512, '\0')), "none");
  EXPECT_EQ(message(kEnd + "junk"), "neither a cpio archive nor a packed one at 0x7c");
  EXPECT_EQ(message("070707" + std::string(200, '0')),
            "a cpio archive of an old format (cpio -H newc is wanted)");
  EXPECT_EQ(message(entry("a", kFile, "x") + "0" + std::string(120, 'x')),
            "no entry of a cpio archive at 0x74");
  EXPECT_EQ(message(kEnd + "0" + std::string(120, 'x')), "no entry of a cpio archive at 0x7c");
  std::string bad = kEnd;
  bad[6 + 8] = 'g';
  EXPECT_EQ(message(bad), "an entry of a cpio archive without its numbers at 0x0");
  std::string huge = entry("a", kFile, "");
  huge.replace(6 + 6 * 8, 8, "FFFFFFFF");  // its size
  EXPECT_NE(message(huge), "none");
  std::string name = entry("a", kFile, "");
  name.replace(6 + 11 * 8, 8, "00001001");
  EXPECT_EQ(message(name), "an entry with a name of 4097 bytes at 0x0");
  EXPECT_TRUE(message("\x1f\x8b nothing").starts_with("gzip at 0x0: ")) << message("\x1f\x8b no");
}

TEST(Initramfs, OpenNamesTheFile) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.path / "initrd", as_bytes("junk"));
  const auto initramfs = Initramfs::open(folder.path / "initrd");
  ASSERT_FALSE(initramfs);
  EXPECT_TRUE(initramfs.error().message.starts_with((folder.path / "initrd").string() + ": "));
  EXPECT_FALSE(Initramfs::open(folder.path / "none"));
}

}  // namespace
}  // namespace ringside::guestos
