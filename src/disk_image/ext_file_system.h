#pragma once

#include <memory>

#include "disk_image/file_system.h"

namespace ringside::disk_image {

// ext2, ext3 and ext4, by debugfs. A file system that was not unmounted has its last changes in its
// journal: it is copied, the journal is applied to the copy, and the listener gets a note.
[[nodiscard]] Result<std::unique_ptr<FileSystem>> open_ext(const ImageFile& image,
                                                           const Partition& partition,
                                                           const std::string& name,
                                                           const Listener& listener);

}  // namespace ringside::disk_image
