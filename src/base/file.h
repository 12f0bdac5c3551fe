#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_reader.h"
#include "base/result.h"

namespace ringside {

// A whole file mapped read-only. Its bytes stay valid as long as the object lives.
class MappedFile {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const MappedFile>> open(
      const std::filesystem::path& path);
  // The file that is open there; `name` is for messages.
  [[nodiscard]] static Result<std::shared_ptr<const MappedFile>> map(int fd,
                                                                     const std::string& name);
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

}  // namespace ringside
