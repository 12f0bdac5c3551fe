#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "disk_image/file_system.h"
#include "disk_image/image_file.h"
#include "disk_image/image_name.h"
#include "disk_image/partitions.h"

namespace ringside::disk_image {

// A file that was taken out of an image, from the beginning of `fd`.
struct DiskFile {
  std::string name;  // IMAGE:PARTITION:PATH, for messages
  UniqueFd fd;
};

// A guest's disk. Nothing here runs the guest, needs root, or writes to the image.
class Disk {
 public:
  // Errors as those of open_image(), and kNotFound for a partition that is not there, with a list.
  [[nodiscard]] static Result<Disk> open(const ImageName& name, Listener listener);

  // A copy of the file at `path`, in the partition that was named, else in the only one that has
  // it. Errors: kUsage where several have it; kNotFound, with what the disk holds; kUnsupported for
  // a file system without a reader, or a path that leads to no file; kFormat for a damaged one, and
  // for a file that is larger than its file system.
  [[nodiscard]] Result<DiskFile> file(const std::string& path);
  // All bytes of the partition that was named, else of the disk. Error kUsage where these hold
  // partitions or a file system.
  [[nodiscard]] Result<DiskFile> bytes();

 private:
  // A file that was looked for in one of several partitions.
  struct Place {
    const Partition* partition = nullptr;
    FileSystem* system = nullptr;
    Entry entry;
  };

  Disk(ImageFile image, std::vector<Partition> partitions, Listener listener)
      : image_(std::move(image)),
        partitions_(std::move(partitions)),
        listener_(std::move(listener)) {}

  [[nodiscard]] std::string name_of(const Partition& partition) const;
  [[nodiscard]] std::string list() const;
  [[nodiscard]] Result<void> choose(std::optional<unsigned> number);
  [[nodiscard]] tl::unexpected<Error> no_reader(const Partition& partition) const;
  // Each is opened once: one that was not unmounted is copied then.
  [[nodiscard]] Result<FileSystem*> system_of(const Partition& partition);
  [[nodiscard]] Result<Place> look(const Partition& partition, const std::string& path);
  [[nodiscard]] Result<Place> look_everywhere(const std::string& path);

  ImageFile image_;
  std::vector<Partition> partitions_;
  const Partition* chosen_ = nullptr;  // the only one, or the one that was named
  std::map<unsigned, std::unique_ptr<FileSystem>> systems_;  // by the number of the partition
  Listener listener_;
};

}  // namespace ringside::disk_image
