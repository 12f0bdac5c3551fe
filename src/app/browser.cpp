#include "app/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/private_file.h"

namespace ringside::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = R"(<!doctype html>
<meta charset="utf-8">
<title>ringside</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={0}">
<p><a href="{0}">The profile</a>
)";

// The home folder of a user who has snaps; empty: none.
fs::path home_with_snaps() {
  const char* const home = std::getenv("HOME");
  struct stat info {};
  std::error_code ignored;
  const bool is_ours =
      home != nullptr && *home == '/' && ::stat(home, &info) == 0 && info.st_uid == ::geteuid();
  return is_ours && fs::is_directory(fs::path(home) / "snap", ignored) ? home : fs::path();
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

Result<LinkFile> LinkFile::create(const std::string& link, const fs::path& private_folder) {
  LinkFile made;
  if (const fs::path home = home_with_snaps(); !home.empty())
    if (auto own = launch::PrivateFolder::make_in(home)) made.folder_ = std::move(*own);
  made.path_ = (made.folder_ ? made.folder_->path() : private_folder) / "open-the-profile.html";
  RINGSIDE_ASSIGN(const UniqueFd fd, create_private_file(made.path_));
  const std::string page = fmt::format(kPage, link);
  RINGSIDE_TRY(write_all(fd.get(), as_bytes(page), made.path_.string()));
  return made;
}

bool has_screen() { return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"); }

bool open_in_browser(const fs::path& page) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {0, 1, 2})
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  // The server's socket and the folder's lock are not for it.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string program = "xdg-open";
  std::string argument = page.string();
  char* const command[] = {program.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, program.c_str(), &actions, &attributes, command, environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0;
}

}  // namespace ringside::app
