#include "launch/plugin/plugin_api.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "launch/captured_output.h"
#include "launch/qemu/qemu_command.h"
#include "wire/plugin_question.h"

namespace ringside::launch {
namespace {

constexpr std::string_view kRefusal = "Could not load plugin";  // QEMU's plugins/loader.c

// The number behind `words`, and what follows it.
struct Number {
  unsigned value = 0;
  std::string_view rest;
};
std::optional<Number> number_behind(std::string_view text, std::string_view words) {
  const std::size_t found = text.find(words);
  if (found == text.npos) return std::nullopt;
  text.remove_prefix(found + words.size());
  Number number;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number.value);
  if (parsed.ec != std::errc{}) return std::nullopt;
  number.rest = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

std::string line_with(std::string_view text, std::string_view words) {
  const std::size_t found = text.find(words);
  if (found == text.npos) return {};
  return std::string(text.substr(found, std::min(text.find('\n', found), text.size()) - found));
}

}  // namespace

Result<PluginApi> parse_plugin_answer(std::string_view printed, unsigned api) {
  if (const auto oldest = number_behind(printed, wire::kPluginAnswer))
    if (const auto newest = number_behind(oldest->rest, " "))
      return PluginApi{oldest->value, newest->value};
  if (const auto oldest = number_behind(printed, "supports only a minimum version of "))
    return PluginApi{.oldest = oldest->value};
  if (const auto newest = number_behind(printed, "supports only up to version "))
    return PluginApi{.newest = newest->value};
  // An older QEMU lacks functions of that version.
  if (printed.find("undefined symbol: qemu_plugin_") != printed.npos)
    return PluginApi{.newest = api - 1};
  if (printed.find("-plugin: invalid option") != printed.npos) return PluginApi{.newest = 0};
  if (const std::string line = line_with(printed, kRefusal); !line.empty())
    return fail(ErrorCode::kUnsupported, "{}", line);
  return fail(ErrorCode::kFormat, "QEMU does not say which plugins it loads");
}

Result<PluginApi> ask_plugin_api(const std::filesystem::path& qemu,
                                 const std::vector<PluginFile>& family,
                                 std::chrono::milliseconds timeout) {
  PluginApi known;
  std::optional<Error> error;
  for (const PluginFile& plugin : family) {
    if (!known.accepts(plugin.api)) continue;
    RINGSIDE_ASSIGN(
        const std::string printed,
        capture_output(
            qemu.string(),
            {"-machine", "none", "-nodefaults", "-no-user-config", "-display", "none", "-plugin",
             "file=" + escape_value(plugin.path.string()) + "," + wire::kPluginQuestion},
            timeout));
    const auto answer = parse_plugin_answer(printed, plugin.api);
    if (!answer) {
      if (answer.error().code != ErrorCode::kUnsupported)
        return tl::unexpected<Error>(answer.error());
      if (!error) error = answer.error();
      continue;  // that file may be damaged
    }
    if (answer->accepts(plugin.api)) return answer;
    known.oldest = std::max(known.oldest, answer->oldest);
    known.newest = std::min(known.newest, answer->newest);
  }
  if (error) return tl::unexpected<Error>(*error);
  return known;
}

}  // namespace ringside::launch
