#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "disk_image/image_file.h"
#include "disk_image/partitions.h"

namespace ringside::disk_image {

// A path in a file system leads to this.
struct Entry {
  enum class Kind { kNone, kFile, kFolder, kLink, kOther };
  Kind kind = Kind::kNone;
  std::uint64_t size = 0;   // of a file, in bytes; 0 where that is known only when it is copied
  std::string target = {};  // of a symbolic link
};

// A file system in an image. Paths begin with "/".
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  // Errors: kFormat for a damaged file system; run_tool()'s.
  [[nodiscard]] virtual Result<Entry> find(const std::string& path) = 0;
  // Copies a file into the file `fd`, which is empty. Errors: kFormat where not all of it can be
  // read; run_tool()'s.
  [[nodiscard]] virtual Result<void> copy(const std::string& path, const Entry& entry, int fd) = 0;
};

// Whether there is a reader for the file system of a partition.
[[nodiscard]] bool has_reader(const Partition& partition);

// The reader of a partition that has one. `image` outlives it; `name` is the partition's, for
// messages.
[[nodiscard]] Result<std::unique_ptr<FileSystem>> open_file_system(const ImageFile& image,
                                                                   const Partition& partition,
                                                                   const std::string& name,
                                                                   const Listener& listener);

}  // namespace ringside::disk_image
