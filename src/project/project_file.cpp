#include "project/project_file.h"

// toml++ 3.3 and 3.4 assert that a table's name begins as a name does ("[[[" does not); without
// assertions they let the compiler rely on that. Behind it stands a check with an error, as it
// should. Debian's toml11 (3.7.1, 4.4) would be no better: its parser recurses without a bound, and
// a list nested deep enough overflows the stack.
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

namespace ringside::project {
namespace {

constexpr const char* kFileName = "ringside.toml";
constexpr const char* kProfile = "profile";

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// Where a string that begins at `begin` ends, its quotes included; the end of the line where it has
// none.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const std::string three(3, quote);
  const bool is_long = text.substr(begin, 3) == three;
  for (std::size_t at = begin + (is_long ? 3 : 1); at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      if (++at < text.size() && is_beyond_ascii(text[at])) return at;  // no escape: seen as stray
    } else if (is_long && text.substr(at, 3) == three) {
      return at + 3;
    } else if (!is_long && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    }
  }
  return text.size();
}

// The line of the first character beyond ASCII that is neither in a string nor in a comment, where
// TOML 1.0 allows none; 0: there is none. toml++ takes it for granted that many of them are not
// there (is_non_ascii_horizontal_whitespace).
std::size_t line_of_stray_character(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '"' || text[at] == '\'') {
      at = end_of_string(text, at);
    } else if (is_beyond_ascii(text[at++])) {
      const std::string_view before = text.substr(0, at);
      return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    }
  }
  return 0;
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Result<ProjectFile> read(const toml::table& root) const {
    ProjectFile file;
    file.name = name_;
    for (const auto& [key, node] : root) {
      if (key.str() != kProfile || !node.is_table()) {
        RINGSIDE_TRY(add(key, node, file.defaults));
        continue;
      }
      for (const auto& [inner, value] : *node.as_table()) {
        Scope::Table& verb = file.defaults.verbs[kProfile];
        verb.line = key.source().begin.line;
        if (value.is_table()) {
          RINGSIDE_TRY(read_scope(*value.as_table(), file.profiles[std::string(inner.str())]));
        } else {
          RINGSIDE_ASSIGN(auto setting, read_setting(inner, value));
          verb.settings.push_back(std::move(setting));
        }
      }
    }
    return file;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> at(const toml::source_region& place,
                                         const std::string& what) const {
    return fail(ErrorCode::kFormat, "{}:{}: {}", name_, place.begin.line, what);
  }

  Result<void> read_scope(const toml::table& table, Scope& scope) const {
    for (const auto& [key, node] : table) RINGSIDE_TRY(add(key, node, scope));
    return {};
  }

  // A setting, or a table of them for a verb.
  Result<void> add(const toml::key& key, const toml::node& node, Scope& scope) const {
    if (!node.is_table()) {
      RINGSIDE_ASSIGN(auto setting, read_setting(key, node));
      scope.settings.push_back(std::move(setting));
      return {};
    }
    Scope::Table& verb = scope.verbs[std::string(key.str())];
    verb.line = key.source().begin.line;
    for (const auto& [inner, value] : *node.as_table()) {
      RINGSIDE_ASSIGN(auto setting, read_setting(inner, value));
      verb.settings.push_back(std::move(setting));
    }
    return {};
  }

  Result<Setting> read_setting(const toml::key& key, const toml::node& node) const {
    Setting setting{std::string(key.str()), {}, key.source().begin.line};
    if (const auto* flag = node.as_boolean()) {
      setting.value = flag->get();
    } else if (const auto* array = node.as_array()) {
      std::vector<std::string> words;
      for (const toml::node& element : *array) {
        auto word = text_of(element);
        if (!word)
          return at(element.source(),
                    fmt::format("'{}' is a list of texts and numbers", setting.key));
        words.push_back(std::move(*word));
      }
      setting.value = std::move(words);
    } else if (auto text = text_of(node)) {
      setting.value = std::move(*text);
    } else {
      return at(node.source(), fmt::format("'{}' is neither text, number, true or false, nor a "
                                           "list of those",
                                           setting.key));
    }
    return setting;
  }

  static std::optional<std::string> text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    if (const auto* number = node.as_floating_point(); number && std::isfinite(number->get()))
      return fmt::format("{}", number->get());
    return std::nullopt;
  }

  const std::string& name_;
};

}  // namespace

Result<ProjectFile> parse_project(std::string_view text, const std::string& name) {
  if (const std::size_t line = line_of_stray_character(text); line != 0)
    return fail(ErrorCode::kFormat,
                "{}:{}: only texts in quotes and comments may be other than ASCII", name, line);
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return fail(ErrorCode::kFormat, "{}:{}: {}", name, parsed.error().source().begin.line,
                parsed.error().description());
  return Reader(name).read(parsed.table());
}

std::optional<std::filesystem::path> find_project(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (std::filesystem::path at = std::filesystem::absolute(folder, ignored); !at.empty();
       at = at.parent_path()) {
    if (std::filesystem::is_regular_file(at / kFileName, ignored)) return at / kFileName;
    if (at == at.parent_path()) break;
  }
  return std::nullopt;
}

}  // namespace ringside::project
