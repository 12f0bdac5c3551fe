#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_reader.h"
#include "base/fd.h"
#include "base/result.h"

namespace ringside {

// A whole file mapped read-only. Its bytes stay valid as long as the object lives.
class MappedFile {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const MappedFile>> open(
      const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] Bytes bytes() const { return {data_, size_}; }
  // The pages that were read are not counted as this process's memory any more. They stay in the
  // system's cache, where they are read again.
  void release_pages() const;

 private:
  MappedFile(const std::byte* data, std::size_t size, bool is_mapped)
      : data_(data), size_(size), is_mapped_(is_mapped) {}
  const std::byte* data_;
  std::size_t size_;
  bool is_mapped_;  // else a copy
};

// Writes all of `bytes` to `fd`, going on after short writes and EINTR. `what` names it in
// errors. Error kClosed: the reader of a pipe is gone (and SIGPIPE is ignored).
[[nodiscard]] Result<void> write_all(int fd, Bytes bytes, const std::string& what);

// An output file that appears under its name only when it is whole: written to a temporary name in
// the same folder, renamed by commit(), removed when it is destroyed without commit().
class AtomicFile {
 public:
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&&) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  [[nodiscard]] Result<void> write(std::string_view text);
  // Replaces bytes that were written, from that offset on.
  [[nodiscard]] Result<void> rewrite(std::uint64_t offset, std::string_view text);
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFile(UniqueFd fd, std::filesystem::path path, std::filesystem::path temporary)
      : fd_(std::move(fd)), path_(std::move(path)), temporary_(std::move(temporary)) {}
  [[nodiscard]] Result<void> flush();

  UniqueFd fd_;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::string buffer_;
};

// Writes `text` to `path` through an AtomicFile.
[[nodiscard]] Result<void> write_output(const std::filesystem::path& path, std::string_view text);

}  // namespace ringside
