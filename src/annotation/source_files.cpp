#include "annotation/source_files.h"

#include "base/file.h"
#include "base/split.h"
#include "base/text.h"

namespace ringside::annotation {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 16 << 20;
constexpr std::size_t kMostHeld = 128 << 20;  // bytes of all files

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

SourceFiles::Lines SourceFiles::read(const fs::path& path) {
  Lines lines;
  if (path.empty() || held_ > kMostHeld) return lines;
  const auto mapped = MappedFile::open(path);
  if (!mapped) return lines;
  const Bytes bytes = (*mapped)->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  held_ += text.size();
  while (!text.empty()) {
    const std::string line = printable_line(take_line(text));
    const std::size_t start = line.find_first_not_of(' ');
    lines.push_back(start == std::string::npos ? std::string() : line.substr(start));
  }
  return lines;
}

std::string_view SourceFiles::line(const std::string& file, std::uint32_t line) {
  const auto [entry, added] = files_.try_emplace(file);
  if (added) entry->second = read(find(file));
  const Lines& lines = entry->second;
  if (line == 0 || line > lines.size()) return {};
  return lines[line - 1];
}

}  // namespace ringside::annotation
