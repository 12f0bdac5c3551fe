#include "annotation/source_files.h"

#include <string_view>

#include "base/file.h"
#include "base/split.h"
#include "base/text.h"

namespace ringside::annotation {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 16 << 20;
constexpr std::size_t kMostHeld = 64 << 20;  // bytes of all files, before another one is read
constexpr std::size_t kLongestLine = 1000;   // bytes

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) <= kLargestFile;
}

}  // namespace

fs::path SourceFiles::find(const fs::path& file) const {
  const fs::path path = file.lexically_normal();
  for (const fs::path& folder : folders_) {
    // Without its first parts, one more each time.
    for (auto part = path.begin(); part != path.end(); ++part) {
      if (*part == "/" || *part == "..") continue;
      fs::path end;
      for (auto rest = part; rest != path.end(); ++rest) end /= *rest;
      if (is_file(folder / end)) return folder / end;
    }
  }
  return path.is_absolute() && is_file(path) ? path : fs::path();
}

SourceFiles::Text SourceFiles::read(const fs::path& path) {
  Text read;
  if (path.empty() || held_ > kMostHeld) return read;
  const auto mapped = MappedFile::open(path);
  if (!mapped) return read;
  const Bytes bytes = (*mapped)->bytes();
  read.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string_view rest = read.text;
  while (!rest.empty()) {
    read.starts.push_back(static_cast<std::uint32_t>(read.text.size() - rest.size()));
    static_cast<void>(take_line(rest));
  }
  held_ += read.text.size() + read.starts.size() * sizeof(read.starts[0]);
  return read;
}

std::string SourceFiles::line(const std::string& file, std::uint32_t line) {
  const auto [entry, added] = files_.try_emplace(file);
  if (added) entry->second = read(find(file));
  const Text& known = entry->second;
  if (line == 0 || line > known.starts.size()) return {};
  std::string_view rest = std::string_view(known.text).substr(known.starts[line - 1]);
  const std::string text = printable_line(take_line(rest).substr(0, kLongestLine));
  const std::size_t start = text.find_first_not_of(' ');
  return start == std::string::npos ? std::string() : text.substr(start);
}

}  // namespace ringside::annotation
