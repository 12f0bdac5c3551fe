#include "disk_image/file_system.h"

#include "disk_image/ext_file_system.h"
#include "disk_image/fat_file_system.h"

namespace ringside::disk_image {
namespace {

bool is_ext(const Partition& partition) {
  return partition.file_system == "ext2" || partition.file_system == "ext3" ||
         partition.file_system == "ext4";
}

bool is_fat(const Partition& partition) { return partition.file_system == "vfat"; }

}  // namespace

bool has_reader(const Partition& partition) { return is_ext(partition) || is_fat(partition); }

Result<std::unique_ptr<FileSystem>> open_file_system(const ImageFile& image,
                                                     const Partition& partition,
                                                     const std::string& name,
                                                     const Listener& listener) {
  if (is_ext(partition)) return open_ext(image, partition, name, listener);
  return open_fat(image, partition, name);
}

}  // namespace ringside::disk_image
