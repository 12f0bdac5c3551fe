#pragma once

#include <string_view>

namespace ringside {

// Whether `text` is `pattern`, in which * stands for any characters.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

}  // namespace ringside
