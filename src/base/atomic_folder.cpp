#include "base/atomic_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/creation_mode.h"
#include "base/file.h"
#include "base/split.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::string temporary_name(const fs::path& path) {
  return (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
}

// The names in a folder's list, and the list's own. Empty: it has none.
std::set<std::string> listed(const fs::path& folder) {
  const auto list = MappedFile::open(folder / AtomicFolder::kList);
  if (!list) return {};
  const Bytes bytes = (*list)->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::set<std::string> names = {AtomicFolder::kList};
  for (const std::string& name : split(text, '\n'))
    if (!name.empty()) names.insert(name);
  return names;
}

// The files in a folder that are not in its list; those that are stand in `own`, and all folders
// in `folders`. Links are not followed.
std::vector<std::string> foreign_files(const fs::path& folder, std::vector<fs::path>& own,
                                       std::vector<fs::path>& folders) {
  const std::set<std::string> names = listed(folder);
  std::vector<std::string> foreign;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().lexically_relative(folder).string();
    std::error_code ignored;
    const fs::file_status status = entry->symlink_status(ignored);
    if (fs::is_directory(status))
      folders.push_back(entry->path());
    else if (names.count(name) != 0 && (fs::is_regular_file(status) || fs::is_symlink(status)))
      own.push_back(entry->path());
    else
      foreign.push_back(name);
  }
  if (error) foreign.emplace_back("what cannot be read");
  return foreign;
}

// Removes a folder's own files, and folders that have no other.
void remove_own(const fs::path& folder) {
  std::vector<fs::path> own;
  std::vector<fs::path> folders = {folder};
  static_cast<void>(foreign_files(folder, own, folders));
  for (const fs::path& file : own) ::unlink(file.c_str());
  // Outer ones come before those in them.
  for (auto inner = folders.rbegin(); inner != folders.rend(); ++inner) ::rmdir(inner->c_str());
}

Result<void> check_replaceable(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status))
    return fail(ErrorCode::kUsage, "{} is in the way of a folder: move it away", path.string());
  std::vector<fs::path> own;
  std::vector<fs::path> folders;
  const std::vector<std::string> foreign = foreign_files(path, own, folders);
  if (foreign.empty()) return {};
  return fail(ErrorCode::kUsage,
              "{} would be replaced, and it has a file that is not ringside's ({}): move it away",
              path.string(), foreign.front());
}

}  // namespace

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      names_(std::move(other.names_)) {
  other.temporary_.clear();
}

Result<AtomicFolder> AtomicFolder::create(const fs::path& path) {
  RINGSIDE_TRY(check_replaceable(path));
  std::string name = temporary_name(path);
  if (::mkdtemp(name.data()) == nullptr) return fail_errno("cannot write " + path.string());
  ::chmod(name.c_str(), creation_mode(0777));
  return AtomicFolder(path, name);
}

AtomicFolder::~AtomicFolder() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

Result<void> AtomicFolder::make_parent(const std::string& name) {
  std::error_code error;
  fs::create_directories((temporary_ / name).parent_path(), error);
  if (error)
    return fail(ErrorCode::kIo, "cannot write {}: {}", (path_ / name).string(), error.message());
  names_.push_back(name);
  return {};
}

Result<void> AtomicFolder::write(const std::string& name, Bytes content) {
  RINGSIDE_TRY(make_parent(name));
  return write_output(temporary_ / name,
                      {reinterpret_cast<const char*>(content.data()), content.size()});
}

Result<void> AtomicFolder::link(const std::string& name, const std::string& target) {
  RINGSIDE_TRY(make_parent(name));
  std::string up;
  for (const char c : name) up += c == '/' ? "../" : "";
  if (::symlink((up + target).c_str(), (temporary_ / name).c_str()) != 0)
    return fail_errno("cannot write " + (path_ / name).string());
  return {};
}

Result<void> AtomicFolder::commit() {
  std::string list;
  for (const std::string& name : names_) list += name + "\n";
  RINGSIDE_TRY(write_output(temporary_ / kList, list));
  RINGSIDE_TRY(check_replaceable(path_));
  std::error_code ignored;
  fs::path old;
  if (fs::exists(path_, ignored)) {
    std::string name = temporary_name(path_);
    if (::mkdtemp(name.data()) == nullptr || ::rename(path_.c_str(), name.c_str()) != 0)
      return fail_errno("cannot replace " + path_.string());
    old = name;
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    auto failed = fail_errno("cannot write " + path_.string());
    if (!old.empty()) ::rename(old.c_str(), path_.c_str());
    return failed;
  }
  temporary_.clear();
  if (!old.empty()) remove_own(old);
  return {};
}

}  // namespace ringside
