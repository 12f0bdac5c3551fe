#pragma once

#include <filesystem>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace ringside::launch {

// A folder that only this user can enter, removed with all that is in it at the end. It is locked
// as long as ringside, or a QEMU that it has started, lives: one that is not locked is what a
// killed run has left, and goes when the next one is made.
class PrivateFolder {
 public:
  // In $XDG_RUNTIME_DIR where that is, else in the folder for temporary files, else in /tmp. The
  // path is short enough for a Unix socket inside it, and has no character that separates something
  // in PATH or in QEMU's options: a comma, a colon, an equals sign or white space.
  [[nodiscard]] static Result<PrivateFolder> create();
  // In the folder for temporary files: $XDG_RUNTIME_DIR is small.
  [[nodiscard]] static Result<PrivateFolder> create_for_large_files();
  // In a folder where users keep files: what a killed run has left there stays.
  [[nodiscard]] static Result<PrivateFolder> make_in(const std::filesystem::path& parent);
  PrivateFolder(PrivateFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~PrivateFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  PrivateFolder(std::filesystem::path path, UniqueFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  UniqueFd lock_;  // on the folder; QEMU inherits it
};

// Whether something directly in such a folder, of this ringside or another one, has this path.
[[nodiscard]] bool is_in_private_folder(const std::filesystem::path& path);

}  // namespace ringside::launch
