#include "importers/json_lines/images.h"

#include "arch/arch_info.h"

namespace ringside::importers::json_lines {
namespace {

constexpr std::size_t kMostImages = 1 << 16;
constexpr std::size_t kLongestPath = 4096;

}  // namespace

Result<bool> Images::add(const Item& line) {
  if (count_ >= kMostImages) return false;
  recording::ImageInfo image;
  image.name = line.text_of("image").substr(0, kLongestPath);
  image.path = line.text_of("path").substr(0, kLongestPath);
  RINGSIDE_ASSIGN(image.build_id, bytes_in(line.text_of("build_id").substr(0, 128)));
  image.arch = arch::arch_named(line.text_of("arch"));
  image.load_bias = line.address("load_bias").value_or(0);
  image.size = line.number("size").value_or(0);
  image.code_hash = line.address("code_hash").value_or(0);
  const bool is_proven = image.path.empty() || !image.build_id.empty() || image.code_hash != 0;
  RINGSIDE_ASSIGN(const std::uint32_t id, writer_.add_image(image));
  ++count_;
  const Known own{id, is_proven, !image.path.empty()};
  if (const auto number = line.number("id")) numbered_.try_emplace(*number, own);
  const auto [first, added] = images_.try_emplace(image.name, Named{own, false});
  if (added || (!first->second.known.has_file && image.path.empty())) return true;
  first->second.known.has_names = false;
  first->second.is_doubtful = first->second.known.has_file;
  return true;
}

Result<const Images::Known*> Images::find(const Item& frame) {
  if (const auto number = frame.number("image_id")) {
    const auto known = numbered_.find(*number);
    return known == numbered_.end() ? nullptr : &known->second;
  }
  const Item* const name = frame.find("image");
  const auto named = name == nullptr ? images_.end() : images_.find(name->text);
  if (named == images_.end()) return nullptr;
  Named& first = named->second;
  if (first.is_doubtful) {
    recording::ImageInfo without_file;
    without_file.name = named->first;
    RINGSIDE_ASSIGN(first.known.id, writer_.add_image(without_file));
    first.is_doubtful = false;
  }
  return &first.known;
}

}  // namespace ringside::importers::json_lines
