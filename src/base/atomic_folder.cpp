#include "base/atomic_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/file.h"
#include "base/kept_access.h"
#include "base/signals_held.h"
#include "base/split.h"
#include "base/unnamed_file.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

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

Result<AtomicFolder> AtomicFolder::create(const fs::path& path) {
  RINGSIDE_TRY(check_replaceable(path));
  UniqueFd bytes = open_unnamed(path.parent_path());
  if (!bytes.valid()) return fail_errno("cannot write " + path.string());
  return AtomicFolder(path, std::move(bytes));
}

Result<void> AtomicFolder::write(const std::string& name, Bytes content) {
  RINGSIDE_TRY(write_all(bytes_.get(), content, (path_ / name).string()));
  parts_.push_back({.name = name, .target = {}, .offset = size_, .size = content.size()});
  size_ += content.size();
  return {};
}

Result<void> AtomicFolder::link(const std::string& name, const std::string& target) {
  std::string up;
  for (const char c : name) up += c == '/' ? "../" : "";
  parts_.push_back({.name = name, .target = up + target, .offset = 0, .size = 0});
  return {};
}

Result<void> AtomicFolder::make(const fs::path& folder, const Part& part) {
  const std::string shown = (path_ / part.name).string();
  const fs::path path = folder / part.name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return fail(ErrorCode::kIo, "cannot write {}: {}", shown, error.message());
  if (!part.target.empty()) {
    if (::symlink(part.target.c_str(), path.c_str()) == 0) return {};
    return fail_errno("cannot write " + shown);
  }
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return fail_errno("cannot write " + shown);
  RINGSIDE_TRY(copy_bytes(bytes_.get(), part.offset, part.size, file.get(), shown));
  for (auto& note : keep_access(file.get(), path_ / part.name, 0666, shown))
    notes_.push_back(std::move(note));
  return {};
}

Result<void> AtomicFolder::make(const fs::path& folder) {
  std::string list;
  for (const Part& part : parts_) {
    RINGSIDE_TRY(make(folder, part));
    list += part.name + "\n";
  }
  RINGSIDE_TRY(write(kList, as_bytes(list)));
  RINGSIDE_TRY(make(folder, parts_.back()));
  const UniqueFd made(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!made.valid()) return fail_errno("cannot write " + path_.string());
  for (auto& note : keep_access(made.get(), path_, 0777, path_.string()))
    notes_.push_back(std::move(note));
  return {};
}

Result<void> AtomicFolder::replace_by(const fs::path& folder) {
  RINGSIDE_TRY(check_replaceable(path_));
  std::error_code ignored;
  fs::path old;
  if (fs::exists(path_, ignored)) {
    std::string name = temporary_name(path_.parent_path());
    if (::mkdtemp(name.data()) == nullptr) return fail_errno("cannot replace " + path_.string());
    old = name;
    if (::rename(path_.c_str(), old.c_str()) != 0) {
      auto failed = fail_errno("cannot replace " + path_.string());
      ::rmdir(old.c_str());
      return failed;
    }
  }
  if (::rename(folder.c_str(), path_.c_str()) != 0) {
    auto failed = fail_errno("cannot write " + path_.string());
    if (!old.empty()) ::rename(old.c_str(), path_.c_str());
    return failed;
  }
  if (!old.empty()) remove_own(old);
  return {};
}

Result<void> AtomicFolder::commit() {
  const SignalsHeld held;
  std::string folder = temporary_name(path_.parent_path());
  if (::mkdtemp(folder.data()) == nullptr) return fail_errno("cannot write " + path_.string());
  auto made = make(folder);
  if (made) made = replace_by(folder);
  std::error_code ignored;
  if (!made) fs::remove_all(folder, ignored);
  return made;
}

}  // namespace ringside
