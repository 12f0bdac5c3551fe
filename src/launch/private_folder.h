#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace ringside::launch {

// A folder that only this user can enter, removed with all that is in it at the end.
class PrivateFolder {
 public:
  // In $XDG_RUNTIME_DIR where that is, else in the folder for temporary files. The path is short
  // enough for a Unix socket inside it.
  [[nodiscard]] static Result<PrivateFolder> create();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~PrivateFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace ringside::launch
