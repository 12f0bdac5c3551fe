#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace ringside::annotation {

// The text of source lines, from the files that debug information names. Debug information may be
// anybody's and name any file of this machine, so the folders below decide what is read. Symbolic
// links count as what they lead to.
class SourceFiles {
 public:
  struct Folders {
    // Where the sources are now, in the order in which they are searched: of a path the longest end
    // that leads to a file there counts.
    std::vector<std::filesystem::path> given = {};
    // Below these a file is read at the path itself, if no part of it behind the folder is hidden.
    // The root folder does not count.
    std::vector<std::filesystem::path> own = {};
  };
  explicit SourceFiles(const Folders& folders);

  // A line, printable (base/text.h), without its indentation; empty where the file has no such
  // line. Nothing where the file is not read. Files beyond 16 MB are not read, and lines end after
  // 1000 bytes.
  [[nodiscard]] std::optional<std::string> line(const std::string& file, std::uint32_t line);

 private:
  using FilePointer = std::shared_ptr<const MappedFile>;
  struct Text {
    bool is_read = false;
    std::string text;
    std::vector<std::uint32_t> starts;  // of its lines
  };
  [[nodiscard]] FilePointer find(const std::filesystem::path& file) const;
  [[nodiscard]] Text read(const std::filesystem::path& file);

  std::vector<std::filesystem::path> given_;  // without symbolic links, as own_
  std::vector<std::filesystem::path> own_;
  std::map<std::string, Text> files_;  // by the path in the debug information
  std::size_t held_ = 0;               // bytes in files_
};

}  // namespace ringside::annotation
