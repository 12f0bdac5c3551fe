#include "disk_image/fat_file_system.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/split.h"
#include "base/whole_number.h"
#include "disk_image/temporary_file.h"
#include "disk_image/tool.h"

namespace ringside::disk_image {
namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{4} << 30;

// mtools takes [ for the beginning of a pattern.
std::string as_pattern(std::string_view path) {
  std::string pattern = "::";
  for (const char c : path) pattern += c == '[' ? std::string("[[]") : std::string(1, c);
  return pattern;
}

// The sum below mdir's list of one file, "1 file     1 028 bytes"; 0 where there is none.
std::uint64_t size_in(std::string_view text) {
  constexpr std::string_view kCount = "1 file ";
  constexpr std::string_view kUnit = " bytes";
  while (!text.empty()) {
    std::string_view line = take_line(text);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.starts_with(kCount) || !line.ends_with(kUnit)) continue;
    line.remove_prefix(kCount.size());
    line.remove_suffix(kUnit.size());
    std::string digits(line);
    std::erase(digits, ' ');
    if (const auto size = whole_number<std::uint64_t>(digits)) return *size;
  }
  return 0;
}

class FatFileSystem final : public FileSystem {
 public:
  FatFileSystem(int fd, std::uint64_t offset, std::string name)
      : fd_(fd), offset_(offset), name_(std::move(name)) {}

  Result<Entry> find(const std::string& path) override {
    // No name has these; mtools takes some of them for patterns.
    if (path.find_first_of("*?\\:<>|\"") != std::string::npos) return Entry{};
    RINGSIDE_ASSIGN(
        const ToolOutput output,
        run_tool(kMattrib, {.arguments = {"-X", "-i", drive(), as_pattern(path)}, .files = {fd_}}));
    if (!output.succeeded) {
      if (output.err.find(" not found") != std::string::npos) return Entry{};
      return damage(output);
    }
    // The letters of the attributes, among which D is a folder's.
    std::string_view line = output.out;
    const bool is_folder = take_word(line, " \n").find('D') != std::string_view::npos;
    if (is_folder) return Entry{.kind = Entry::Kind::kFolder};
    RINGSIDE_ASSIGN(
        const ToolOutput listed,
        run_tool(kMdir, {.arguments = {"-i", drive(), as_pattern(path)}, .files = {fd_}}));
    return Entry{.kind = Entry::Kind::kFile, .size = size_in(listed.out)};
  }

  Result<void> copy(const std::string& path, const Entry& entry, int fd) override {
    RINGSIDE_ASSIGN(const ToolOutput output,
                    run_tool(kMcopy, {.arguments = {"-n", "-i", drive(), as_pattern(path),
                                                    name_of_descriptor(fd)},
                                      .files = {fd_, fd},
                                      .limit = copy_limit(kMostFileBytes)}));
    if (!output.succeeded) return damage(output);
    // mcopy ends at a damaged chain of clusters, and calls that a success.
    struct stat info {};
    if (::fstat(fd, &info) != 0) return fail_errno(name_);
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (entry.size != 0 && size != entry.size)
      return fail(ErrorCode::kFormat,
                  "{}:{}: only {} of the {} bytes of this file can be read: the file system is "
                  "damaged",
                  name_, path, size, entry.size);
    return {};
  }

 private:
  [[nodiscard]] std::string drive() const {
    return fmt::format("{}@@{}", name_of_descriptor(fd_), offset_);
  }
  [[nodiscard]] tl::unexpected<Error> damage(const ToolOutput& output) const {
    if (has_no_room(output)) return no_room(name_);
    std::string_view text = output.err;
    const std::string_view line = take_line(text);
    return fail(ErrorCode::kFormat, "{}: mtools cannot read this file system: {}", name_,
                line.empty() ? "it gives no reason" : line);
  }

  int fd_;
  std::uint64_t offset_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<FileSystem>> open_fat(const ImageFile& image, const Partition& partition,
                                             const std::string& name) {
  return std::make_unique<FatFileSystem>(image.fd.get(), partition.offset, name);
}

}  // namespace ringside::disk_image
