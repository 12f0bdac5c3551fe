#pragma once

#include <memory>

#include "disk_image/file_system.h"

namespace ringside::disk_image {

// FAT of 12, 16 and 32 bits with long names, by mtools.
[[nodiscard]] Result<std::unique_ptr<FileSystem>> open_fat(const ImageFile& image,
                                                           const Partition& partition,
                                                           const std::string& name);

}  // namespace ringside::disk_image
