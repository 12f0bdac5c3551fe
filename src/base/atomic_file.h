#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

// The file that `path` names: where that is a symbolic link, the one that it leads to, which need
// not exist. Error: the system does not follow this link.
[[nodiscard]] Result<std::filesystem::path> linked_file(const std::filesystem::path& path);

// An output file that appears under its name only when it is whole: written without a name, named
// by commit(), gone without commit(), however ringside ends. It replaces the file that a symbolic
// link leads to, and has the access that this file has (base/kept_access.h).
class AtomicFile {
 public:
  enum class Access {
    kKept,     // that of the file that it replaces, else what the umask leaves
    kPrivate,  // this user's alone
  };
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& path,
                                                 Access access = Access::kKept);

  [[nodiscard]] Result<void> write(std::string_view text);
  // Replaces bytes that were written, from that offset on.
  [[nodiscard]] Result<void> rewrite(std::uint64_t offset, std::string_view text);
  [[nodiscard]] Result<void> commit();
  // After commit(): sentences on what the file could not keep of the one that it has replaced.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  AtomicFile(UniqueFd fd, std::filesystem::path path, std::filesystem::path target, Access access)
      : fd_(std::move(fd)), path_(std::move(path)), target_(std::move(target)), access_(access) {}
  [[nodiscard]] Result<void> flush();

  UniqueFd fd_;
  std::filesystem::path path_;
  std::filesystem::path target_;  // where the links of `path_` lead to
  Access access_;
  std::string buffer_;
  std::vector<std::string> notes_;
};

// Writes `text` to `path` through an AtomicFile.
[[nodiscard]] Result<void> write_output(const std::filesystem::path& path, std::string_view text);

}  // namespace ringside
