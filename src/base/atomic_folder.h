#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/fd.h"
#include "base/result.h"

namespace ringside {

// A folder of files that appears under its name only when it is whole. Its files have no name
// until commit(): nothing is left without it, however ringside ends. It has a list of its files,
// kList, by which it is known again: it replaces an earlier folder that has those files and no
// other, and nothing else. It has the access that this folder and its files have
// (base/kept_access.h).
class AtomicFolder {
 public:
  static constexpr const char* kList = "written-by-ringside.txt";

  // Error kUsage where something else has that name.
  [[nodiscard]] static Result<AtomicFolder> create(const std::filesystem::path& path);

  // A file; `name` is relative to the folder, has no "..", and no line end.
  [[nodiscard]] Result<void> write(const std::string& name, Bytes content);
  // A symbolic link to another of its files.
  [[nodiscard]] Result<void> link(const std::string& name, const std::string& target);
  [[nodiscard]] Result<void> commit();
  // After commit(): sentences on what the folder could not keep of the one that it has replaced.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Part {
    std::string name;
    std::string target;        // of a link; empty: a file
    std::uint64_t offset = 0;  // of a file's bytes in `bytes_`
    std::uint64_t size = 0;
  };

  AtomicFolder(std::filesystem::path path, UniqueFd bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)) {}
  [[nodiscard]] Result<void> make(const std::filesystem::path& folder);
  [[nodiscard]] Result<void> make(const std::filesystem::path& folder, const Part& part);
  [[nodiscard]] Result<void> replace_by(const std::filesystem::path& folder);

  std::filesystem::path path_;
  UniqueFd bytes_;  // of all files
  std::uint64_t size_ = 0;
  std::vector<Part> parts_;
  std::vector<std::string> notes_;
};

}  // namespace ringside
