#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/result.h"

namespace ringside::launch {

// The notes that ringside and its shim leave for each other in the private folder.

// A class converts to JSON by what NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE defines.
[[nodiscard]] Result<void> write_json(const std::filesystem::path& path,
                                      const nlohmann::json& note);

// Nothing where there is no such file. It is a discarded value where the file holds no JSON.
[[nodiscard]] Result<std::optional<nlohmann::json>> parse_json(const std::filesystem::path& path);

// Nothing where there is no such file. Error kFormat: the file does not hold a Note.
template <class Note>
[[nodiscard]] Result<std::optional<Note>> read_json(const std::filesystem::path& path) {
  RINGSIDE_ASSIGN(const auto json, parse_json(path));
  if (!json) return std::nullopt;
  try {
    return std::optional<Note>(json->template get<Note>());
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kFormat, "{}: {}", path.string(), error.what());
  }
}

}  // namespace ringside::launch
