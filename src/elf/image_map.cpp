#include "elf/image_map.h"

namespace ringside::elf {

const Image& ImageMap::add(Image image) {
  const Image& added = images_.emplace_back(std::move(image));
  std::vector<Range> ranges;
  for (const Segment& segment : added.file->segments())
    ranges.push_back(
        {added.to_guest(segment.address), segment.memory_size, &added, segment.executable});
  ranges_.insert(ranges_.begin(), ranges.begin(), ranges.end());
  ++generation_;
  return added;
}

void ImageMap::remove_all_but(const Image* kept) {
  std::erase_if(ranges_, [kept](const Range& range) { return range.image != kept; });
  std::erase_if(images_, [kept](const Image& image) { return &image != kept; });
  ++generation_;
}

const Image* ImageMap::find(GuestVirt address) const {
  for (const Range& range : ranges_)
    if (address - range.start < range.size) return range.image;
  return nullptr;
}

const Image* ImageMap::find_code(GuestVirt address) const {
  for (const Range& range : ranges_)
    if (range.executable && address - range.start < range.size) return range.image;
  return nullptr;
}

}  // namespace ringside::elf
