#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ringside::project {

// One line such as `interval = 2`. Numbers are kept as text, for they are options' values.
struct Setting {
  std::string key;
  std::variant<bool, std::string, std::vector<std::string>> value;
  unsigned line = 0;
};

// Settings for all verbs, and those in a table with a verb's name.
struct Scope {
  std::vector<Setting> settings;
  struct Table {
    std::vector<Setting> settings;
    unsigned line = 0;
  };
  std::map<std::string, Table> verbs;
};

// A ringside.toml: what its options are set to where the command line does not say, and named sets
// of the same, [profile.NAME]. Which keys there are is not known here. [profile] itself is the
// table of the verb of that name.
struct ProjectFile {
  std::string name;  // for messages
  Scope defaults;
  std::map<std::string, Scope> profiles;
};

// Reads the text of a file. Errors kFormat: "NAME:LINE: …", for what is not TOML 1.0, and for
// values that no option has (dates, tables in arrays, empty keys).
[[nodiscard]] Result<ProjectFile> parse_project(std::string_view text, const std::string& name);

// ringside.toml in `folder` or the nearest folder above it that has one.
[[nodiscard]] std::optional<std::filesystem::path> find_project(
    const std::filesystem::path& folder);

}  // namespace ringside::project
