#include "launch/json_file.h"

#include <string_view>

#include "base/atomic_file.h"
#include "base/file.h"

namespace ringside::launch {

Result<void> write_json(const std::filesystem::path& path, const nlohmann::json& note) {
  // QEMU's arguments need not be UTF-8.
  return write_output(path, note.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Result<std::optional<nlohmann::json>> parse_json(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  if (!file) {
    if (file.error().code == ErrorCode::kNotFound) return std::nullopt;
    return tl::unexpected<Error>(file.error());
  }
  const Bytes bytes = (*file)->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::optional<nlohmann::json>(nlohmann::json::parse(text, nullptr, false));
}

}  // namespace ringside::launch
