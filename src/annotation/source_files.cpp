#include "annotation/source_files.h"

#include <algorithm>
#include <string_view>

#include "base/contained_file.h"
#include "base/split.h"
#include "base/text.h"

namespace ringside::annotation {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 16 << 20;
constexpr std::size_t kMostHeld = 64 << 20;  // bytes of all files, before another one is read
constexpr std::size_t kLongestLine = 1000;   // bytes

// Without links. A folder that is not there has no files.
std::vector<fs::path> real_paths(const std::vector<fs::path>& folders) {
  std::vector<fs::path> paths;
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::path path = fs::canonical(folder, error);
    if (!error) paths.push_back(std::move(path));
  }
  return paths;
}

bool is_hidden(const fs::path& path) {
  return std::any_of(path.begin(), path.end(),
                     [](const fs::path& part) { return part.string().starts_with('.'); });
}

std::shared_ptr<const MappedFile> open_source(const UniqueFd& fd, const fs::path& path) {
  auto file = MappedFile::map(fd.get(), path.string());
  return file && (*file)->bytes().size() <= kLargestFile ? *file : nullptr;
}

}  // namespace

SourceFiles::SourceFiles(const Folders& folders)
    : given_(real_paths(folders.given)), own_(real_paths(folders.own)) {
  std::erase(own_, fs::path("/"));
}

SourceFiles::FilePointer SourceFiles::find(const fs::path& file) const {
  const fs::path path = file.lexically_normal();
  for (const fs::path& folder : given_) {
    // Without its first parts, one more each time.
    for (auto part = path.begin(); part != path.end(); ++part) {
      if (*part == "/" || *part == "..") continue;
      fs::path there = folder;
      for (auto rest = part; rest != path.end(); ++rest) there /= *rest;
      if (const auto fd = open_below(folder, there))
        if (auto found = open_source(*fd, there)) return found;
    }
  }
  if (!path.is_absolute()) return nullptr;
  for (const fs::path& folder : own_)
    if (const auto fd = open_below(folder, path);
        fd && !is_hidden(path_of(fd->get()).lexically_relative(folder)))
      if (auto found = open_source(*fd, path)) return found;
  return nullptr;
}

SourceFiles::Text SourceFiles::read(const fs::path& file) {
  Text read;
  if (held_ > kMostHeld) {
    read.is_read = true;
    return read;
  }
  const FilePointer mapped = find(file);
  if (!mapped) return read;
  read.is_read = true;
  const Bytes bytes = mapped->bytes();
  read.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string_view rest = read.text;
  while (!rest.empty()) {
    read.starts.push_back(static_cast<std::uint32_t>(read.text.size() - rest.size()));
    static_cast<void>(take_line(rest));
  }
  held_ += read.text.size() + read.starts.size() * sizeof(read.starts[0]);
  return read;
}

std::optional<std::string> SourceFiles::line(const std::string& file, std::uint32_t line) {
  const auto [entry, added] = files_.try_emplace(file);
  if (added) entry->second = read(file);
  const Text& known = entry->second;
  if (!known.is_read) return std::nullopt;
  if (line == 0 || line > known.starts.size()) return std::string();
  std::string_view rest = std::string_view(known.text).substr(known.starts[line - 1]);
  const std::string text = printable_line(take_line(rest).substr(0, kLongestLine));
  const std::size_t start = text.find_first_not_of(' ');
  return start == std::string::npos ? std::string() : text.substr(start);
}

}  // namespace ringside::annotation
