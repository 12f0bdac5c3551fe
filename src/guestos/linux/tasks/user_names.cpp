#include "guestos/linux/tasks/user_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace ringside::guestos {
namespace {

// Up to `delimiter`, which must be there; what is behind that stays in `rest`.
std::optional<std::string_view> take_until(std::string_view& rest, char delimiter) {
  const std::size_t end = rest.find(delimiter);
  if (end == rest.npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return taken;
}

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

// "+" and "-" are of the network information service, "#" begins a comment (nss_files).
bool is_name(std::string_view text) {
  constexpr std::string_view kNoNames = "+-#";
  const auto is_printed = [](char c) { return c > ' ' && c < 0x7f; };
  return !text.empty() && kNoNames.find(text.front()) == kNoNames.npos &&
         std::all_of(text.begin(), text.end(), is_printed);
}

void add_line(std::string_view line, UserNames& names) {
  std::array<std::string_view, 4> fields;
  for (std::string_view& field : fields) {
    const auto taken = take_until(line, ':');
    if (!taken) return;
    field = *taken;
  }
  const auto user = number(fields[2]);
  if (is_name(fields[0]) && user && number(fields[3])) names.emplace(*user, fields[0]);
}

}  // namespace

UserNames parse_passwd(Bytes file) {
  UserNames names;
  std::string_view rest(reinterpret_cast<const char*>(file.data()), file.size());
  while (const auto line = take_until(rest, '\n')) add_line(*line, names);
  add_line(rest, names);
  return names;
}

}  // namespace ringside::guestos
