#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace ringside::launch {

// The notes that ringside and its shim leave for each other in the private folder.

template <class Note>
Result<void> write_json(const std::filesystem::path& path, const Note& note) {
  // QEMU's arguments need not be UTF-8.
  return write_output(
      path, nlohmann::json(note).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

// Nothing where there is no such file.
template <class Note>
Result<std::optional<Note>> read_json(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) {
    if (file.error().code == ErrorCode::kNotFound) return std::nullopt;
    return tl::unexpected<Error>(file.error());
  }
  const Bytes bytes = (*file)->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    return std::optional<Note>(json.get<Note>());
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kFormat, "{}: {}", path.string(), error.what());
  }
}

}  // namespace ringside::launch
