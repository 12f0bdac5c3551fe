#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/profile.h"

namespace ringside::exporters::firefox {

// A frame's category is an index of kCategories. The viewer wants one that is grey, for what has
// none.
enum class Category : std::uint8_t { kOther, kKernel, kUser, kInterrupt, kIdle, kFirmware, kGuest };

struct CategoryStyle {
  const char* name;
  const char* colour;  // of those that the viewer knows
};
inline constexpr std::array<CategoryStyle, 7> kCategories = {{{"Other", "grey"},
                                                              {"Kernel", "orange"},
                                                              {"User", "blue"},
                                                              {"Interrupt", "red"},
                                                              {"Idle", "transparent"},
                                                              {"Firmware", "purple"},
                                                              {"Guest", "green"}}};

[[nodiscard]] constexpr Category category_of(profile::Kind kind) {
  constexpr std::array<Category, profile::kKindCount> kOfKind = {
      Category::kKernel, Category::kUser,  Category::kInterrupt, Category::kFirmware,
      Category::kGuest,  Category::kOther, Category::kOther};
  return kOfKind[static_cast<std::size_t>(kind)];
}

}  // namespace ringside::exporters::firefox
