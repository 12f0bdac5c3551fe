#pragma once

#include <string>
#include <vector>

#include "app/import_session.h"
#include "base/result.h"

namespace ringside::app {

// Files in a guest's disk image.
struct DiskRequest {
  std::string image;               // IMAGE[:PARTITION]
  std::vector<std::string> paths;  // in it; empty: the bytes of a disk without a file system
};

// Makes the recording of files in an image, as import_files() does of `request`, which names no
// inputs. A recording in the image is copied. Shows how far a long copy is on a terminal.
[[nodiscard]] Result<void> import_from_disk(ImportRequest request, const DiskRequest& disk);

}  // namespace ringside::app
