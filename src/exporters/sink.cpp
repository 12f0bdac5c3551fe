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

std::optional<int> number_of(const std::string& name) {
  int number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int> descriptor_of(const std::string& output) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as Linux has it
  if (output == "-") return STDOUT_FILENO;
  const fs::path descriptors = fmt::format("/proc/{}/fd", ::getpid());
  std::error_code error;
  fs::path path = output;
  for (int links = 0; links <= kMostLinks && !error; ++links) {
    const fs::path folder =
        fs::canonical(path.has_parent_path() ? path.parent_path() : fs::path("."), error);
    if (!error && folder == descriptors) return number_of(path.filename().string());
    path = folder / fs::read_symlink(path, error);
  }
  return std::nullopt;
}

FileSink::FileSink(std::optional<AtomicFile> file, UniqueFd stream, std::string name)
    : file_(std::move(file)), stream_(std::move(stream)), name_(std::move(name)) {}

Result<FileSink> FileSink::create(const std::string& path) {
  if (const auto descriptor = descriptor_of(path)) {
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
