#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "base/testing/time_limits.h"
#include "launch/child_process.h"
#include "launch/launch_info.h"
#include "launch/launch_request.h"
#include "launch/private_folder.h"
#include "launch/qemu/qemu_shim.h"
#include "launch/text_watch.h"

namespace ringside::launch {
namespace {

ExitStatus wait(ChildProcess& child) {
  std::optional<ExitStatus> status;
  testing::wait_until([&] { return (status = child.poll()).has_value(); });
  return status.value_or(ExitStatus{-1, 0});
}

TEST(PrivateFolder, OnlyItsUserCanEnter) {
  std::filesystem::path path;
  {
    auto folder = PrivateFolder::create();
    ASSERT_TRUE(folder);
    path = folder->path();
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// Neither PATH nor QEMU's options take such names.
TEST(PrivateFolder, IsElsewhereWhereTheNameOfTheFolderSeparates) {
  char base[] = "/tmp/ringside-folders-XXXXXX";
  ASSERT_NE(::mkdtemp(base), nullptr);
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string kept_runtime = runtime != nullptr ? runtime : "";
  for (const std::string name : {"plain", "a,b", "c:d", "e=f", "g h", "i\nj", "k\tl"}) {
    const std::filesystem::path parent = std::filesystem::path(base) / name;
    std::filesystem::create_directory(parent);
    ::setenv("TMPDIR", parent.c_str(), 1);
    for (const char* const where : {"", parent.c_str()}) {
      ::setenv("XDG_RUNTIME_DIR", where, 1);
      const auto folder = PrivateFolder::create();
      ASSERT_TRUE(folder);
      EXPECT_EQ(folder->path().parent_path(), name == "plain" ? parent : "/tmp");
    }
    const auto large = PrivateFolder::create_for_large_files();
    ASSERT_TRUE(large);
    EXPECT_EQ(large->path().parent_path(), parent) << "no option names it";
  }
  ::setenv("TMPDIR", kept.c_str(), 1);
  if (before == nullptr) ::unsetenv("TMPDIR");
  ::setenv("XDG_RUNTIME_DIR", kept_runtime.c_str(), 1);
  if (runtime == nullptr) ::unsetenv("XDG_RUNTIME_DIR");
  std::filesystem::remove_all(base);
}

TEST(PrivateFolder, WhatAKilledRunHasLeftIsCleared) {
  char base[] = "/tmp/ringside-folders-XXXXXX";
  ASSERT_NE(::mkdtemp(base), nullptr);
  ::setenv("XDG_RUNTIME_DIR", base, 1);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t killed = ::fork();
  if (killed == 0) {
    const auto folder = PrivateFolder::create();
    const std::string path = folder->path().string();
    std::ofstream(folder->path() / "recording") << "half";
    (void)!::write(ends[1], path.c_str(), path.size());
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(killed, nullptr, 0), killed);
  std::string path(200, '\0');
  path.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], path.data(), 200), 0)));
  ASSERT_TRUE(std::filesystem::exists(std::filesystem::path(path) / "recording"));
  const std::filesystem::path other = std::filesystem::path(base) / "ringside-notes";
  std::filesystem::create_directory(other);
  std::filesystem::permissions(other, std::filesystem::perms::owner_all);
  {
    const auto first = PrivateFolder::create();
    EXPECT_FALSE(std::filesystem::exists(path));
    const auto second = PrivateFolder::create();
    EXPECT_TRUE(std::filesystem::exists(first->path()));  // that run lives
    EXPECT_TRUE(std::filesystem::exists(second->path()));
  }
  EXPECT_TRUE(std::filesystem::exists(other));
  ::unsetenv("XDG_RUNTIME_DIR");
  std::filesystem::remove_all(base);
  ::close(ends[0]);
  ::close(ends[1]);
}

// One of a user begins alike, and what stands where users keep files is left to them.
TEST(PrivateFolder, WhatIsAUsersOwnStays) {
  namespace fs = std::filesystem;
  char base[] = "/tmp/ringside-folders-XXXXXX";
  ASSERT_NE(::mkdtemp(base), nullptr);
  const auto put = [&](const char* name) {
    const fs::path folder = fs::path(base) / name;
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    std::ofstream(folder / "recording") << "whole";
    return folder / "recording";
  };
  ::setenv("XDG_RUNTIME_DIR", base, 1);
  const std::vector<fs::path> own = {put("ringside-run-2026-11"),  put("ringside-run-a.b-cd"),
                                     put("ringside-run-12345"),    put("ringside-run-"),
                                     put("a-ringside-run-aB3dE6"), put(".ringside-run-aB3dE6")};
  const fs::path killed = put("ringside-run-aB3dE6");
  {
    const auto folder = PrivateFolder::make_in(base);
    ASSERT_TRUE(folder);
    EXPECT_EQ(folder->path().parent_path(), base);
    EXPECT_TRUE(fs::exists(killed));
  }
  ASSERT_TRUE(PrivateFolder::create());
  EXPECT_FALSE(fs::exists(killed.parent_path()));
  for (const fs::path& path : own) EXPECT_TRUE(fs::exists(path)) << path;
  ::unsetenv("XDG_RUNTIME_DIR");
  fs::remove_all(base);
}

TEST(ChildProcess, ReportsHowItEnded) {
  auto seven = ChildProcess::start({"sh", "-c", "exit 7"}, std::getenv("PATH"));
  ASSERT_TRUE(seven);
  EXPECT_EQ(wait(*seven).code, 7);
  auto killed = ChildProcess::start({"sh", "-c", "kill -9 $$"}, std::getenv("PATH"));
  ASSERT_TRUE(killed);
  EXPECT_EQ(wait(*killed).signal, SIGKILL);
  const auto elsewhere =
      ChildProcess::start({"true"}, std::getenv("PATH"), "/there/is/no/such/folder");
  EXPECT_FALSE(elsewhere);
  auto root = ChildProcess::start({"sh", "-c", "test $(pwd) = /"}, std::getenv("PATH"), "/");
  ASSERT_TRUE(root);
  EXPECT_EQ(wait(*root).code, 0);
  const auto missing = ChildProcess::start({"no-such-program"}, std::getenv("PATH"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

// As an ordinary user has it after `su`: a folder that may not be read is no answer.
TEST(ChildProcess, AFolderOfPathThatMayNotBeReadHasNoProgram) {
  constexpr uid_t kNobody = 65534;
  auto folder = PrivateFolder::create();
  ASSERT_EQ(::chmod(folder->path().c_str(), 0), 0);
  const uid_t user = ::geteuid();
  ASSERT_EQ(::seteuid(user == 0 ? kNobody : user), 0);  // root may read every folder
  const auto missing = ChildProcess::start({"no-such-program"}, folder->path().string() + ":/bin");
  ASSERT_EQ(::seteuid(user), 0);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  ::chmod(folder->path().c_str(), 0700);
}

TEST(TextWatch, FindsATextCutByTwoReads) {
  auto folder = PrivateFolder::create();
  const auto path = folder->path() / "serial";
  TextWatch watch(path, "ready now");
  EXPECT_FALSE(watch.seen());
  std::ofstream stream(path);
  stream << "booting\nrea" << std::flush;
  EXPECT_FALSE(watch.seen());
  stream << "dy now\n" << std::flush;
  EXPECT_TRUE(watch.seen());
}

TEST(TextWatch, TheLastLineThatIsNotEmpty) {
  auto folder = PrivateFolder::create();
  const auto path = folder->path() / "serial";
  TextWatch watch(path, "ready now");
  EXPECT_FALSE(watch.seen());
  EXPECT_EQ(watch.last_line(), "");
  std::ofstream stream(path);
  stream << "booting\r\npanic: no init\r\n\r\n" << std::flush;
  EXPECT_FALSE(watch.seen());
  EXPECT_EQ(watch.last_line(), "panic: no init");
  stream << std::string(9000, 'x') << "y" << std::flush;
  EXPECT_FALSE(watch.seen());
  EXPECT_EQ(watch.last_line(), std::string(199, 'x') + "y");
}

TEST(LaunchInfo, AFileThatHoldsNoneIsAnError) {
  const auto folder = PrivateFolder::create();
  ASSERT_TRUE(folder);
  const auto nothing = LaunchInfo::read(folder->path());
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(*nothing);
  LaunchInfo info;
  info.pid = 7;
  info.program = "qemu-\xff";  // not UTF-8
  ASSERT_TRUE(info.write(folder->path()));
  const auto read = LaunchInfo::read(folder->path());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->pid, 7);
  for (const char* text : {"", "{", "[]", "{\"pid\": \"seven\"}"}) {
    std::ofstream(folder->path() / "qemu.json") << text;
    EXPECT_EQ(LaunchInfo::read(folder->path()).error().code, ErrorCode::kFormat) << text;
  }
}

// A "make qemu" that finds QEMU in PATH gets a shim, whose QEMU has the added options.
TEST(QemuShim, AddsOptionsUnderAWrapper) {
  auto folder = PrivateFolder::create();
  const auto tools = folder->path() / "tools";
  std::filesystem::create_directory(tools);
  const auto qemu = tools / "qemu-system-test";
  std::ofstream(qemu) << "#!/bin/sh\nprintf '%s\\n' \"$@\" > " << (folder->path() / "got").string()
                      << "\nexit 3\n";
  ::chmod(qemu.c_str(), 0755);
  const std::string path = tools.string() + ":" + std::getenv("PATH");
  ASSERT_TRUE(write_shims(folder->path(), "/proc/self/exe", path));
  EXPECT_TRUE(std::filesystem::exists(folder->path() / "bin" / "qemu-system-test"));
  EXPECT_EQ(path_without_shims(folder->path(), path_with_shims(folder->path(), path)), path);
  const std::string kernel = (folder->path() / "k.elf").string();
  std::ofstream{kernel};

  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)run_qemu_shim(folder->path(), qemu.string(),
                        {"-m", "1G", "-kernel", kernel, "-initrd", "i.gz"});
    ::_exit(9);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  const auto info = LaunchInfo::read(folder->path());
  ASSERT_TRUE(info && *info);
  EXPECT_EQ((*info)->pid, pid);
  EXPECT_EQ((*info)->kernel, kernel);
  EXPECT_TRUE((*info)->initrd.ends_with("/i.gz"));
  EXPECT_FALSE((*info)->gdb_is_the_users);
  std::ifstream got(folder->path() / "got");
  const std::string text{std::istreambuf_iterator<char>(got), {}};
  EXPECT_NE(text.find("-gdb\nunix:" + folder->path().string()), std::string::npos);
}

// A signal may end ringside, which removes its folder, while QEMU is asked for its version.
TEST(QemuShim, StartsNoQemuOnceRingsideHasEnded) {
  auto folder = PrivateFolder::create();
  auto tools = PrivateFolder::create();
  const auto qemu = tools->path() / "qemu-system-test";
  std::ofstream(qemu) << "#!/bin/sh\nrm -rf " << folder->path().string()
                      << "\necho QEMU emulator version 10.0.2\n";
  ::chmod(qemu.c_str(), 0755);
  ASSERT_TRUE(LaunchRequest().write(folder->path()));
  const auto ran = run_qemu_shim(folder->path(), qemu.string(), {"-m", "1G"});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "ringside has ended, so " + qemu.string() + " is not started");
}

}  // namespace
}  // namespace ringside::launch
