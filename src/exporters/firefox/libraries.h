#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exporters/parts/json_text.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters::firefox {

// The images that frames are in.
class Libraries {
 public:
  explicit Libraries(const profile::DetailedProfile& profile);

  // -1: none.
  [[nodiscard]] std::int32_t index_of(const recording::ImageInfo* image);
  // Bytes from the image's start, or its address as linked where that is not known; -1: it is more
  // than a JavaScript number holds exactly.
  [[nodiscard]] std::int64_t address_in(const recording::ImageInfo& image, GuestVirt address) const;

  [[nodiscard]] std::size_t size() const { return images_.size(); }
  [[nodiscard]] const recording::ImageInfo& operator[](std::size_t index) const {
    return *images_[index];
  }
  // The member "libs".
  void write(JsonText& json) const;

 private:
  struct Range {
    std::uint64_t start = ~std::uint64_t{0};
    std::uint64_t end = 0;
  };

  std::unordered_map<std::uint32_t, Range> ranges_;  // by image: where its mappings lie
  std::unordered_map<std::uint32_t, std::int32_t> ids_;
  std::vector<const recording::ImageInfo*> images_;
};

}  // namespace ringside::exporters::firefox
