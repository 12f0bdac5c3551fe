#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ringside::annotation {

// The text of source lines, from the files that debug information names.
class SourceFiles {
 public:
  // `folders` are where the sources are now, in the order in which they are searched: of a path the
  // longest end that leads to a file there counts. Then the path itself is tried.
  explicit SourceFiles(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  // A line, printable (base/text.h), without its indentation; empty where it cannot be found. Files
  // beyond 16 MB are not read, and lines end after 1000 bytes.
  [[nodiscard]] std::string line(const std::string& file, std::uint32_t line);

 private:
  struct Text {
    std::string text;
    std::vector<std::uint32_t> starts;  // of its lines
  };
  [[nodiscard]] std::filesystem::path find(const std::filesystem::path& file) const;
  [[nodiscard]] Text read(const std::filesystem::path& path);

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, Text> files_;  // by the path in the debug information
  std::size_t held_ = 0;               // bytes in files_
};

}  // namespace ringside::annotation
