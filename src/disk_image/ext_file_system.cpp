#include "disk_image/ext_file_system.h"

#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/split.h"
#include "base/whole_number.h"
#include "disk_image/temporary_file.h"
#include "disk_image/tool.h"

namespace ringside::disk_image {
namespace {

// An argument of a request to debugfs: a quote inside of quotes is written twice.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

// The word behind `key` in what debugfs prints; empty where there is none.
std::string_view word_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  std::string_view line = take_line(text);
  return take_word(line);
}

Entry::Kind kind_of(std::string_view word) {
  if (word == "regular") return Entry::Kind::kFile;
  if (word == "directory") return Entry::Kind::kFolder;
  if (word == "symlink") return Entry::Kind::kLink;
  return Entry::Kind::kOther;
}

// The target of a short link stands in its inode.
std::string target_of(std::string_view text) {
  constexpr std::string_view kKey = "Fast link dest: \"";
  const std::size_t at = text.find(kKey);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + kKey.size());
  std::string_view line = take_line(text);
  if (line.ends_with('"')) line.remove_suffix(1);
  return std::string(line);
}

class ExtFileSystem final : public FileSystem {
 public:
  ExtFileSystem(int fd, std::uint64_t offset, std::string name)
      : fd_(fd), offset_(offset), name_(std::move(name)) {}

  Result<Entry> find(const std::string& path) override;
  Result<void> copy(const std::string& path, const Entry& entry, int fd) override;
  [[nodiscard]] Result<bool> needs_recovery();
  // Reads this copy from now on, whose journal it applies first.
  [[nodiscard]] Result<void> recover(UniqueFd copy);

 private:
  [[nodiscard]] std::string device() const {
    return offset_ == 0 ? name_of_descriptor(fd_)
                        : fmt::format("{}?offset={}", name_of_descriptor(fd_), offset_);
  }
  [[nodiscard]] Result<ToolOutput> run(ToolRun run);
  [[nodiscard]] tl::unexpected<Error> damage(const ToolOutput& output) const;

  int fd_;
  std::uint64_t offset_;
  std::string name_;
  UniqueFd copy_;
};

Result<ToolOutput> ExtFileSystem::run(ToolRun run) {
  run.files.push_back(fd_);
  run.arguments.push_back(device());
  return run_tool(kDebugfs, run);
}

// The message of debugfs follows the line of its version.
tl::unexpected<Error> ExtFileSystem::damage(const ToolOutput& output) const {
  std::string_view text = output.err;
  std::string reason;
  for (std::string_view line; !text.empty() && reason.empty();)
    if (line = take_line(text); !line.starts_with("debugfs ")) reason = line;
  const std::string start = device() + ": ";
  if (reason.starts_with(start)) reason.erase(0, start.size());
  if (const std::size_t at = reason.find(device()); at != std::string::npos)
    reason.replace(at, device().size(), name_);
  return fail(ErrorCode::kFormat, "{}: debugfs cannot read this file system: {}", name_,
              reason.empty() ? "it gives no reason" : reason);
}

Result<Entry> ExtFileSystem::find(const std::string& path) {
  // Without the maps of free blocks (-c): they are not needed, and may be damaged.
  RINGSIDE_ASSIGN(const ToolOutput output,
                  run({.arguments = {"-c", "-R", "stat " + in_quotes(path)}}));
  const std::string_view type = word_behind(output.out, "Type:");
  if (type.empty()) {
    const bool is_below_root = path.find('/', 1) != std::string::npos;
    if (output.err.find("File not found") != std::string::npos ||
        (is_below_root && output.err.find("not a directory") != std::string::npos))
      return Entry{};
    return damage(output);
  }
  Entry entry{.kind = kind_of(type), .target = target_of(output.out)};
  const auto size = whole_number<std::uint64_t>(word_behind(output.out, "Size:"));
  if (entry.kind != Entry::Kind::kFile) return entry;
  if (!size) return damage(output);
  entry.size = *size;
  return entry;
}

Result<void> ExtFileSystem::copy(const std::string& path, const Entry& entry, int fd) {
  RINGSIDE_ASSIGN(
      const ToolOutput output,
      run({.arguments = {"-c", "-R",
                         fmt::format("dump {} {}", in_quotes(path), name_of_descriptor(fd))},
           .files = {fd},
           .limit = copy_limit(entry.size)}));
  struct stat info {};
  if (::fstat(fd, &info) != 0 || static_cast<std::uint64_t>(info.st_size) != entry.size)
    return damage(output);
  return {};
}

Result<bool> ExtFileSystem::needs_recovery() {
  RINGSIDE_ASSIGN(const ToolOutput output, run({.arguments = {"-c", "-R", "features"}}));
  if (output.out.find("features:") == std::string::npos) return damage(output);
  return output.out.find("needs_recovery") != std::string::npos;
}

Result<void> ExtFileSystem::recover(UniqueFd copy) {
  copy_ = std::move(copy);
  fd_ = copy_.get();
  offset_ = 0;
  RINGSIDE_ASSIGN(const ToolOutput output, run({.arguments = {"-w", "-R", "journal_run"}}));
  RINGSIDE_ASSIGN(const bool is_in_vain, needs_recovery());
  if (is_in_vain) return damage(output);
  return {};
}

}  // namespace

Result<std::unique_ptr<FileSystem>> open_ext(const ImageFile& image, const Partition& partition,
                                             const std::string& name, const Listener& listener) {
  auto system = std::make_unique<ExtFileSystem>(image.fd.get(), partition.offset, name);
  RINGSIDE_ASSIGN(const bool was_mounted, system->needs_recovery());
  if (was_mounted) {
    if (listener.note)
      listener.note(
          name +
          " was not unmounted: its journal is applied to a copy, and files that the guest had not "
          "written to the disk yet are not whole");
    RINGSIDE_ASSIGN(UniqueFd copy,
                    copy_part(image, partition.offset, partition.size, name, listener));
    RINGSIDE_TRY(system->recover(std::move(copy)));
  }
  return system;
}

}  // namespace ringside::disk_image
