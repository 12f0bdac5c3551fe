#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/fd.h"
#include "base/result.h"

namespace ringside::disk_image {

// Gets what happens while an image is read, for people. Both may be empty.
struct Listener {
  std::function<void(double share)> progress = {};  // of a copy, from 0 to 1
  std::function<void(const std::string& sentence)> note = {};
};

// The bytes of a disk: those of a raw image itself, or a copy of what an image of another format
// holds.
struct ImageFile {
  std::filesystem::path path;
  UniqueFd fd;
  std::uint64_t size = 0;  // bytes
};

// Opens an image of a format that qemu-img knows. Errors: kUsage where a running QEMU has it open,
// with what to do, and for a name that is not of the format of an image that names other files;
// kFormat for a damaged one; kIo where there is no room for a copy; run_tool()'s.
[[nodiscard]] Result<ImageFile> open_image(const std::filesystem::path& path,
                                           const Listener& listener);

// A copy of a part of the disk, which begins the file. `name` is for messages.
[[nodiscard]] Result<UniqueFd> copy_part(const ImageFile& image, std::uint64_t offset,
                                         std::uint64_t size, const std::string& name,
                                         const Listener& listener);

}  // namespace ringside::disk_image
