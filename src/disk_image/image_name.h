#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace ringside::disk_image {

// A disk image, and which of its partitions.
struct ImageName {
  std::filesystem::path image;
  std::optional<unsigned> partition;  // from 1, as in sda1

  [[nodiscard]] bool operator==(const ImageName&) const = default;
};

// Parts "IMAGE[:PARTITION]". A text that is the name of a file as a whole is an image, colons or
// not. Errors: kUsage for a partition that is no number from 1; kNotFound for an image that is not
// there.
[[nodiscard]] Result<ImageName> parse_image_name(
    const std::string& text, const std::function<bool(const std::string&)>& is_there);

}  // namespace ringside::disk_image
