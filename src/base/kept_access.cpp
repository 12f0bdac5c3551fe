#include "base/kept_access.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <optional>

#include "base/creation_mode.h"

namespace ringside {
namespace {

constexpr const char* kAccessList = "system.posix_acl_access";
constexpr mode_t kPermissions = S_IRWXU | S_IRWXG | S_IRWXO;
constexpr std::size_t kLargestList = 1 << 16;  // XATTR_SIZE_MAX

template <class Get>
std::string access_list(const Get& get) {
  std::string list(kLargestList, '\0');
  const ssize_t size = get(list.data(), list.size());
  list.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return list;
}

struct Missing {
  bool owner = false;
  bool group = false;
  bool list = false;
};

// `list`: empty where the older one has none but its permissions.
Missing take_access(int made, const struct stat& older, const std::string& list) {
  Missing missing;
  struct stat info {};
  constexpr auto kSame = static_cast<uid_t>(-1);
  if (::fstat(made, &info) != 0) return {true, true, !list.empty()};
  // The group first: who gives a file away cannot change it any more.
  if (info.st_gid != older.st_gid) missing.group = ::fchown(made, kSame, older.st_gid) != 0;
  if (info.st_uid != older.st_uid) missing.owner = ::fchown(made, older.st_uid, kSame) != 0;
  mode_t mode = older.st_mode & kPermissions;
  // The bits of the group limit a list, so they are not those of the group itself.
  missing.list =
      !list.empty() && (missing.group || missing.owner ||
                        ::fsetxattr(made, kAccessList, list.data(), list.size(), 0) != 0);
  if (!list.empty() && !missing.list) return missing;
  // One that the folder gives to its new files.
  ::fremovexattr(made, kAccessList);
  if (missing.group || missing.list) mode &= ~S_IRWXG | ((mode & S_IRWXO) << 3);
  ::fchmod(made, mode);
  return missing;
}

}  // namespace

bool may_be_planted(const std::filesystem::path& path, uid_t owner) {
  if (owner == ::geteuid()) return false;
  struct stat folder {};
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  if (::stat(parent.c_str(), &folder) != 0) return true;
  const bool is_shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return is_shared && owner != folder.st_uid;
}

std::vector<std::string> keep_access(int made, const std::filesystem::path& older, mode_t otherwise,
                                     const std::string& name) {
  struct stat before {};
  struct stat info {};
  if (::lstat(older.c_str(), &before) != 0 || ::fstat(made, &info) != 0 ||
      (before.st_mode & S_IFMT) != (info.st_mode & S_IFMT)) {
    ::fchmod(made, creation_mode(otherwise));
    return {};
  }
  if (may_be_planted(older, before.st_uid)) {
    ::fchmod(made, creation_mode(otherwise));
    return {
        fmt::format("{} was a file of user {} in a folder that all may write: its owner and "
                    "its permissions are not kept",
                    name, before.st_uid)};
  }
  const std::string list = access_list([&](char* text, std::size_t size) {
    return ::lgetxattr(older.c_str(), kAccessList, text, size);
  });
  const Missing missing = take_access(made, before, list);
  std::vector<std::string> notes;
  if (missing.owner)
    notes.push_back(fmt::format("{} was a file of user {} and is now one of user {}", name,
                                before.st_uid, ::geteuid()));
  if (missing.group)
    notes.push_back(
        fmt::format("{} was a file of group {}, which cannot be kept: the group that it "
                    "has now may do only what everybody may",
                    name, before.st_gid));
  if (missing.list)
    notes.push_back(fmt::format("{} had an access control list, which cannot be kept", name));
  if (S_ISREG(before.st_mode) && before.st_nlink > 1)
    notes.push_back(
        before.st_nlink == 2
            ? fmt::format("{} had another name (hard link), which keeps the contents of before",
                          name)
            : fmt::format("{} had {} other names (hard links), which keep the contents of before",
                          name, before.st_nlink - 1));
  return notes;
}

void copy_access(int from, int copy) {
  struct stat info {};
  if (::fstat(from, &info) != 0) return;
  const std::string list = access_list(
      [&](char* text, std::size_t size) { return ::fgetxattr(from, kAccessList, text, size); });
  static_cast<void>(take_access(copy, info, list));
}

}  // namespace ringside
