#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace ringside::app {

// speedscope's own page, opened.
struct SpeedscopePage {
  std::filesystem::path folder;                                    // without symbolic links
  std::map<std::string, std::shared_ptr<const MappedFile>> files;  // by name; has index.html
  std::vector<std::string> refused;  // a sentence on each file that is not opened
};

// The page in the folder `given` where that is not empty, else in RINGSIDE_SPEEDSCOPE, else where
// npm installs it globally, else in /usr/share/ringside/speedscope, else in the cache of
// script/fetch-viewers. It never comes from the working folder, whose owner may be anybody. Files
// that a symbolic link has outside of the page's folder are refused. kNotFound: how to get it.
[[nodiscard]] Result<SpeedscopePage> open_speedscope_page(const std::filesystem::path& given);

}  // namespace ringside::app
