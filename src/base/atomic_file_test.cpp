#include "base/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/kept_access.h"
#include "base/signals_held.h"
#include "base/unnamed_file.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AtomicFileTest : public ::testing::Test {
 protected:
  AtomicFileTest() : mask_(::umask(022)) {
    std::string name = fs::temp_directory_path() / "ringside-file-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "out";
  }
  ~AtomicFileTest() override {
    ::umask(mask_);
    fs::remove_all(folder_);
  }

  static std::vector<std::string> write(const fs::path& path, const char* text) {
    auto file = AtomicFile::create(path);
    EXPECT_TRUE(file);
    EXPECT_TRUE(file->write(text));
    EXPECT_TRUE(file->commit());
    return file->notes();
  }
  static std::string content(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static struct stat info(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0);
    return info;
  }
  static mode_t mode(const fs::path& path) { return info(path).st_mode & 07777; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  mode_t mask_;
  fs::path folder_;
  fs::path path_;
};

TEST_F(AtomicFileTest, ANewFileHasWhatTheUmaskLeaves) {
  EXPECT_TRUE(write(path_, "new").empty());
  EXPECT_EQ(mode(path_), 0644u);
  EXPECT_EQ(content(path_), "new");
  auto file = AtomicFile::create(path_, AtomicFile::Access::kPrivate);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(mode(path_), 0600u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, KeepsThePermissionsOfTheFileThatItReplaces) {
  for (const mode_t kept : {0600u, 0640u, 0444u, 0666u, 0755u}) {
    std::ofstream(path_) << "old";
    ::chmod(path_.c_str(), kept);
    EXPECT_TRUE(write(path_, "new").empty());
    EXPECT_EQ(mode(path_), kept);
    EXPECT_EQ(content(path_), "new");
    fs::remove(path_);
  }
  std::ofstream(path_) << "old";
  ::chmod(path_.c_str(), 06755);
  write(path_, "no program any more");
  EXPECT_EQ(mode(path_), 0755u);
}

TEST_F(AtomicFileTest, KeepsOwnerAndGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  std::ofstream(path_) << "old";
  ASSERT_EQ(::chown(path_.c_str(), 1234, 2345), 0);
  ::chmod(path_.c_str(), 0640);
  EXPECT_TRUE(write(path_, "new").empty());
  EXPECT_EQ(info(path_).st_uid, 1234u);
  EXPECT_EQ(info(path_).st_gid, 2345u);
  EXPECT_EQ(mode(path_), 0640u);
}

// As another user who may write into the folder.
TEST_F(AtomicFileTest, NobodyGetsMoreThanBeforeWhereOwnerAndGroupCannotBeKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  std::ofstream(path_) << "old";
  ASSERT_EQ(::chown(path_.c_str(), 1234, 2345), 0);
  ::chmod(path_.c_str(), 0664);
  ::chmod(folder_.c_str(), 0777);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::setgid(4321) != 0 || ::setuid(4321) != 0) ::_exit(2);
    const auto notes = write(path_, "new");
    const bool says = notes.size() == 2 &&
                      notes[0].find("was a file of user 1234") != std::string::npos &&
                      notes[1].find("was a file of group 2345") != std::string::npos;
    ::_exit(says ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(mode(path_), 0644u);
  EXPECT_EQ(info(path_).st_uid, 4321u);
}

TEST_F(AtomicFileTest, KeepsAnAccessControlList) {
  // Version 2: user::rw-, user:1234:r--, group::---, mask::r--, other::---.
  constexpr const char* kList = "system.posix_acl_access";
  const std::string list(
      "\2\0\0\0\1\0\6\0\377\377\377\377\2\0\4\0\322\4\0\0\4\0\0\0\377\377\377\377"
      "\20\0\4\0\377\377\377\377\40\0\0\0\377\377\377\377",
      44);
  std::ofstream(path_) << "old";
  if (::setxattr(path_.c_str(), kList, list.data(), list.size(), 0) != 0)
    GTEST_SKIP() << "no such lists in " << folder_;
  ASSERT_EQ(mode(path_), 0640u);
  EXPECT_TRUE(write(path_, "new").empty());
  std::string found(256, '\0');
  found.resize(static_cast<std::size_t>(
      std::max<ssize_t>(0, ::getxattr(path_.c_str(), kList, found.data(), found.size()))));
  EXPECT_EQ(found, list);
}

TEST_F(AtomicFileTest, SaysThatOtherNamesKeepWhatTheyHave) {
  std::ofstream(path_) << "old";
  fs::create_hard_link(path_, folder_ / "second");
  EXPECT_THAT(write(path_, "new"), ElementsAre(HasSubstr("had another name (hard link)")));
  EXPECT_EQ(content(folder_ / "second"), "old");
  EXPECT_EQ(content(path_), "new");
}

TEST_F(AtomicFileTest, ReplacesTheFileThatALinkLeadsTo) {
  fs::create_directory(folder_ / "in");
  std::ofstream(folder_ / "in" / "file") << "old";
  ::chmod((folder_ / "in" / "file").c_str(), 0600);
  fs::create_symlink("in/file", folder_ / "second");
  fs::create_symlink(folder_ / "second", path_);
  EXPECT_TRUE(write(path_, "new").empty());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(fs::is_symlink(folder_ / "second"));
  EXPECT_EQ(content(folder_ / "in" / "file"), "new");
  EXPECT_EQ(mode(folder_ / "in" / "file"), 0600u);
  // To a file that is not there yet, and to itself.
  fs::remove(folder_ / "in" / "file");
  write(path_, "made");
  EXPECT_EQ(content(folder_ / "in" / "file"), "made");
  fs::create_symlink("loop", folder_ / "loop");
  const auto file = AtomicFile::create(folder_ / "loop");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("loop"));
}

TEST_F(AtomicFileTest, FollowsAsManyLinksAsTheSystem) {
  constexpr int kMostLinks = 40;
  std::ofstream(folder_ / "link-0") << "old";
  for (int i = 1; i <= kMostLinks + 1; ++i)
    fs::create_symlink(fmt::format("link-{}", i - 1), folder_ / fmt::format("link-{}", i));
  write(folder_ / "link-40", "new");
  EXPECT_EQ(content(folder_ / "link-0"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link-1"));
  EXPECT_EQ(content(folder_ / "link-40"), "new");
  EXPECT_FALSE(AtomicFile::create(folder_ / "link-41"));
}

// In a folder of somebody else that all may write, as /tmp is, with what a third user has there.
class SharedFolderTest : public AtomicFileTest {
 protected:
  static constexpr uid_t kOwner = 12345;
  static constexpr uid_t kStranger = 65534;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    shared_ = folder_ / "shared";
    path_ = shared_ / "out";
    own_ = folder_ / "own";
    fs::create_directory(shared_);
    ASSERT_EQ(::chown(shared_.c_str(), kOwner, kOwner), 0);
    ::chmod(shared_.c_str(), 01777);
    std::ofstream(own_) << "precious";
  }
  static void give(const fs::path& path, uid_t to) { ASSERT_EQ(::lchown(path.c_str(), to, to), 0); }

  fs::path shared_;
  fs::path own_;
};

TEST_F(SharedFolderTest, AStrangersLinkIsNotFollowed) {
  fs::create_symlink(own_, path_);
  fs::create_symlink(path_, folder_ / "to-it");
  give(path_, kStranger);
  for (const fs::path& path : {path_, folder_ / "to-it"}) {
    const auto file = AtomicFile::create(path);
    ASSERT_FALSE(file) << path;
    EXPECT_THAT(file.error().message,
                HasSubstr(path_.string() + " is a link of user 65534 in a folder that all"));
  }
  fs::remove(path_);
  fs::create_symlink(folder_ / "nothing", path_);
  give(path_, kStranger);
  EXPECT_FALSE(AtomicFile::create(path_));
  EXPECT_FALSE(fs::exists(folder_ / "nothing"));
  EXPECT_EQ(content(own_), "precious");
}

TEST_F(SharedFolderTest, LinksOfOneselfAndOfTheFoldersOwnerAreFollowed) {
  for (const uid_t owner : {uid_t{0}, kOwner}) {
    fs::create_symlink(own_, path_);
    give(path_, owner);
    EXPECT_TRUE(write(path_, "new").empty());
    EXPECT_EQ(content(own_), "new");
    fs::remove(path_);
  }
  fs::create_symlink(own_, path_);
  give(path_, kStranger);
  ::chmod(shared_.c_str(), 0755);  // who may write it may put any file there
  write(path_, "newer");
  EXPECT_EQ(content(own_), "newer");
}

TEST_F(SharedFolderTest, NothingIsKeptOfAStrangersFile) {
  std::ofstream(path_) << "old";
  give(path_, kStranger);
  ::chmod(path_.c_str(), 0666);
  EXPECT_THAT(write(path_, "new"),
              ElementsAre(HasSubstr("was a file of user 65534 in a folder that all may write")));
  EXPECT_EQ(content(path_), "new");
  EXPECT_EQ(info(path_).st_uid, 0u);
  EXPECT_EQ(info(path_).st_gid, 0u);
  EXPECT_EQ(mode(path_), 0644u);
  for (const uid_t owner : {uid_t{0}, kOwner}) {
    give(path_, owner);
    ::chmod(path_.c_str(), 0640);
    EXPECT_TRUE(write(path_, "newer").empty());
    EXPECT_EQ(info(path_).st_uid, owner);
    EXPECT_EQ(mode(path_), 0640u);
  }
  give(path_, kStranger);
  ::chmod(shared_.c_str(), 0777);  // without the bit that keeps others' files from being renamed
  EXPECT_TRUE(write(path_, "newest").empty());
  EXPECT_EQ(info(path_).st_uid, kStranger);
}

TEST_F(SharedFolderTest, WhoOwnsWhatDecidesWhatMayBePlanted) {
  EXPECT_TRUE(may_be_planted(path_, kStranger));
  EXPECT_FALSE(may_be_planted(path_, kOwner));
  EXPECT_FALSE(may_be_planted(path_, ::geteuid()));
  give(shared_, 0);
  EXPECT_TRUE(may_be_planted(path_, kOwner));
  ::chmod(shared_.c_str(), 01775);
  EXPECT_FALSE(may_be_planted(path_, kStranger));
  EXPECT_TRUE(may_be_planted(shared_ / "missing" / "out", kStranger));
}

TEST_F(AtomicFileTest, HasNoNameBeforeItIsWhole) {
  auto file = AtomicFile::create(path_);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("half"));
  ASSERT_TRUE(file->write(std::string(1 << 20, 'x')));
  EXPECT_EQ(files(), 0u);
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(content(path_), "half" + std::string(1 << 20, 'x'));
}

TEST_F(AtomicFileTest, SaysWhereItCannotWrite) {
  const auto result = write_output(folder_ / "missing" / "out", "x");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("missing/out"));
}

// As on a file system where a file cannot get its name later.
TEST_F(AtomicFileTest, AFileThatCannotGetANameIsCopied) {
  std::ofstream(path_) << "old";
  const UniqueFd memory(::memfd_create("x", MFD_CLOEXEC));
  ASSERT_TRUE(memory.valid());
  const std::string text(200'000, 'x');
  ASSERT_TRUE(write_all(memory.get(), as_bytes(text), "x"));
  ::fchmod(memory.get(), 0640);
  ASSERT_TRUE(give_name(memory, path_, "x"));
  EXPECT_EQ(content(path_), text);
  EXPECT_EQ(mode(path_), 0640u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, ASignalInACopyLeavesNothing) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const UniqueFd memory(::memfd_create("x", MFD_CLOEXEC));
    ::signal(SIGTERM, SIG_DFL);
    const SignalsHeld held;
    ::raise(SIGTERM);
    const bool failed = ::ftruncate(memory.get(), 1 << 20) == 0 && !give_name(memory, path_, "x");
    if (!failed) ::_exit(1);
    // It ends here.
  }
  if (child == 0) ::_exit(2);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(files(), 0u);
}

TEST_F(AtomicFileTest, SignalsThatAreHandledStaySo) {
  static volatile std::sig_atomic_t came = 0;
  const auto before = ::signal(SIGTERM, [](int) { came = 1; });
  {
    const SignalsHeld held;
    ::raise(SIGTERM);
    EXPECT_EQ(came, 1);
    EXPECT_FALSE(SignalsHeld::is_one_waiting());
  }
  ::signal(SIGTERM, before);
}

}  // namespace
}  // namespace ringside
