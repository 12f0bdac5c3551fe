#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace ringside {

// A folder of files that appears under its name only when it is whole: written under a temporary
// name beside it, renamed by commit(), removed when it is destroyed without commit(). It has a list
// of its files, kList, by which it is known again: it replaces an earlier folder that has those
// files and no other, and nothing else.
class AtomicFolder {
 public:
  static constexpr const char* kList = "written-by-ringside.txt";

  // Error kUsage where something else has that name.
  [[nodiscard]] static Result<AtomicFolder> create(const std::filesystem::path& path);
  AtomicFolder(AtomicFolder&& other) noexcept;
  AtomicFolder& operator=(AtomicFolder&&) = delete;
  ~AtomicFolder();

  // A file; `name` is relative to the folder, has no "..", and no line end.
  [[nodiscard]] Result<void> write(const std::string& name, Bytes content);
  // A symbolic link to another of its files.
  [[nodiscard]] Result<void> link(const std::string& name, const std::string& target);
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFolder(std::filesystem::path path, std::filesystem::path temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  [[nodiscard]] Result<void> make_parent(const std::string& name);

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: there is none
  std::vector<std::string> names_;
};

}  // namespace ringside
