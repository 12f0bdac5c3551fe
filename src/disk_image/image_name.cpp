#include "disk_image/image_name.h"

#include "base/whole_number.h"

namespace ringside::disk_image {

Result<ImageName> parse_image_name(const std::string& text,
                                   const std::function<bool(const std::string&)>& is_there) {
  if (text.empty()) return fail(ErrorCode::kUsage, "--disk: the name of the image is empty");
  if (is_there(text)) return ImageName{text, std::nullopt};
  const std::size_t colon = text.rfind(':');
  const std::string image = text.substr(0, colon);
  if (colon == std::string::npos || !is_there(image))
    return fail(ErrorCode::kNotFound, "{}: there is no such disk image", image);
  const auto partition = whole_number<unsigned>(std::string_view(text).substr(colon + 1));
  if (!partition || *partition == 0)
    return fail(ErrorCode::kUsage,
                "--disk {}: behind the colon stands the number of a partition, from 1 (as in sda1)",
                text);
  return ImageName{image, partition};
}

}  // namespace ringside::disk_image
