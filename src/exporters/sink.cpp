#include "exporters/sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "base/file.h"

namespace ringside::exporters {
namespace {

constexpr std::size_t kBufferSize = 1 << 16;

// The descriptor of this process that a name such as /dev/stdout or /dev/fd/3 stands for. The file
// behind it is not replaced: somebody has it open, and may have written to it.
std::optional<int> named_descriptor(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::canonical(std::filesystem::path(path).parent_path(), error);
  if (error) return std::nullopt;
  std::filesystem::path link = folder / std::filesystem::path(path).filename();
  if (folder == "/dev") link = std::filesystem::read_symlink(link, error);
  if (error || std::filesystem::canonical(link.parent_path(), error) !=
                   fmt::format("/proc/{}/fd", ::getpid()))
    return std::nullopt;
  const std::string name = link.filename().string();
  int fd = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), fd);
  if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) return std::nullopt;
  return fd;
}

}  // namespace

FileSink::FileSink(std::optional<AtomicFile> file, UniqueFd stream, std::string name)
    : file_(std::move(file)), stream_(std::move(stream)), name_(std::move(name)) {}

Result<FileSink> FileSink::create(const std::string& path) {
  const std::optional<int> descriptor = path == "-" ? STDOUT_FILENO : named_descriptor(path);
  if (descriptor) {
    const std::string name = *descriptor == STDOUT_FILENO ? "standard output" : path;
    UniqueFd fd(::fcntl(*descriptor, F_DUPFD_CLOEXEC, 3));
    if (!fd.valid()) return fail_errno("cannot write " + name);
    return FileSink(std::nullopt, std::move(fd), name);
  }
  struct stat info {};
  // A rename would replace a device or a pipe by a file.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) return fail_errno("cannot write " + path);
    return FileSink(std::nullopt, std::move(fd), path);
  }
  RINGSIDE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  return FileSink(std::move(file), UniqueFd(), path);
}

FileSink FileSink::to_stream(UniqueFd stream, std::string name) {
  return {std::nullopt, std::move(stream), std::move(name)};
}

Result<void> FileSink::paint(std::string_view text, Colour colour) {
  if (!has_colours_) return write(text);
  filter_.finish(buffer_);
  buffer_ += colour == Colour::kRed ? "\033[31m" : "\033[32m";
  filter_.add(text, buffer_);
  filter_.finish(buffer_);
  buffer_ += "\033[m";
  return {};
}

Result<void> FileSink::write(std::string_view text) {
  if (keeps_bytes_)
    buffer_ += text;
  else
    filter_.add(text, buffer_);
  return buffer_.size() < kBufferSize ? Result<void>{} : flush();
}

Result<void> FileSink::rewrite(std::uint64_t offset, std::string_view text) {
  if (!can_rewrite()) return Sink::rewrite(offset, text);
  RINGSIDE_TRY(flush());
  return file_->rewrite(offset, text);
}

Result<void> FileSink::flush() {
  auto result = file_ ? file_->write(buffer_) : write_all(stream_.get(), as_bytes(buffer_), name_);
  buffer_.clear();
  return result;
}

Result<void> FileSink::commit() {
  filter_.finish(buffer_);
  RINGSIDE_TRY(flush());
  return file_ ? file_->commit() : Result<void>{};
}

std::vector<std::string> FileSink::notes() const {
  return file_ ? file_->notes() : std::vector<std::string>();
}

}  // namespace ringside::exporters
