#include "importers/json_lines/images.h"

#include "arch/arch_info.h"
#include "base/whole_number.h"

namespace ringside::importers::json_lines {
namespace {

constexpr std::size_t kMostImages = 1 << 16;
constexpr std::size_t kLongestPath = 4096;

std::vector<std::byte> bytes_of(std::string_view digits) {
  std::vector<std::byte> bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    const auto byte = whole_number<std::uint8_t>(digits.substr(0, 2), 16);
    if (!byte) return {};
    bytes.push_back(std::byte{*byte});
  }
  return bytes;
}

}  // namespace

Result<bool> Images::add(const Item& line) {
  if (images_.size() == kMostImages) return false;
  recording::ImageInfo image;
  image.name = line.text_of("image").substr(0, kLongestPath);
  image.path = line.text_of("path").substr(0, kLongestPath);
  image.build_id = bytes_of(line.text_of("build_id").substr(0, 128));
  image.arch = arch::arch_named(line.text_of("arch"));
  image.load_bias = line.address("load_bias").value_or(0);
  image.size = line.number("size").value_or(0);
  image.code_hash = line.address("code_hash").value_or(0);
  const bool is_proven = image.path.empty() || !image.build_id.empty() || image.code_hash != 0;
  RINGSIDE_ASSIGN(const std::uint32_t id, writer_.add_image(image));
  const auto [known, added] =
      images_.try_emplace(image.name, Known{id, is_proven, !image.path.empty()});
  if (!added) known->second.has_names &= !known->second.has_file && image.path.empty();
  return true;
}

const Images::Known* Images::find(std::string_view name) const {
  const auto known = images_.find(name);
  return known == images_.end() ? nullptr : &known->second;
}

}  // namespace ringside::importers::json_lines
