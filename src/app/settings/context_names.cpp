#include "app/settings/context_names.h"

#include <charconv>
#include <fstream>

namespace ringside::app {

Result<std::map<std::uint32_t, std::string>> read_context_names(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail_errno(path);
  std::map<std::uint32_t, std::string> names;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    std::uint32_t id = 0;
    const char* const end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data(), end, id);
    if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != ' ')
      return fail(ErrorCode::kFormat,
                  "{}: line {} is no id and name of a context, such as '12 init'", path, number);
    names[id] = std::string(parsed.ptr + 1, end);
  }
  return names;
}

}  // namespace ringside::app
