#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace ringside::cli {

class App;

// The manual page of a command in the macros of man(7), made of what --help is made of.
[[nodiscard]] std::string man_page(const App& command);

// Writes the page of `app` and those of all its commands, such as ringside.1, ringside-record.1 and
// ringside-case-list.1. Makes the folder. Errors: kIo.
[[nodiscard]] Result<void> write_man_pages(const App& app, const std::filesystem::path& folder);

}  // namespace ringside::cli
