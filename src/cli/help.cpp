#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/split.h"
#include "base/text_width.h"
#include "cli/options.h"
#include "cli/terminal.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kMostWidth = 100;  // longer lines are hard to read

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(take_line(text));
  return lines;
}

// "auto, tcg or gdb".
std::string choice(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + values[i];
  return text;
}

// "-F, --freq HZ"; of an argument by its place its name.
std::string names_of(const Option& option) {
  const auto names = option.names();
  if (names.empty()) return option.argument_name();
  const std::string value = value_in_words(option);
  return fmt::format("{}{}{}", fmt::join(names, ", "), value.empty() ? "" : " ", value);
}

// As wrap() has it, but a word in quotes is not broken at its spaces.
std::vector<std::string> wrap_words(const std::string& command, std::size_t cells) {
  constexpr char kHeld = '`';  // stands in no example
  std::string held = command;
  bool is_quoted = false;
  for (char& c : held) {
    is_quoted ^= c == '\'';
    if (is_quoted && c == ' ') c = kHeld;
  }
  std::vector<std::string> lines = wrap(held, cells);
  for (std::string& line : lines) std::replace(line.begin(), line.end(), kHeld, ' ');
  return lines;
}

class Text {
 public:
  explicit Text(std::size_t width)
      : width_(width), column_(std::clamp<std::size_t>(width / 3, 20, 28)) {}

  void paragraph(const std::string& words) {
    for (const std::string& line : wrap(words, width_)) text_ += line + "\n";
  }
  void heading(const std::string& words) { text_ += "\n" + words + ":\n"; }

  // Two columns; what is too wide for the first has a line of its own.
  void entry(const std::string& name, const std::string& description) {
    std::vector<std::string> left = wrap("  " + name, width_ - 4);
    for (std::size_t i = 1; i < left.size(); ++i) left[i] = "    " + left[i];
    const bool fits = left.size() == 1 && cells_of(left[0]) + 2 <= column_;
    for (std::size_t i = 0; i + (fits ? 1 : 0) < left.size(); ++i) text_ += left[i] + "\n";
    std::string start = fits ? left[0] : "";
    for (const std::string& line : wrap(description, width_ - column_)) {
      start.append(column_ - cells_of(start), ' ');
      text_ += start + line + "\n";
      start.clear();
    }
  }

  // A command line that can be copied, of however many lines.
  void command(const std::string& words) {
    const auto lines = wrap_words("  ringside " + words, width_ - 8);
    if (lines.size() == 1 || cells_of("  ringside " + words) <= width_) {
      text_ += "  ringside " + words + "\n";
      return;
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
      text_ += (i == 0 ? "" : "      ") + lines[i] + (i + 1 < lines.size() ? " \\\n" : "\n");
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::size_t width_;
  std::size_t column_;  // where descriptions begin
  std::string text_;
};

void add_options(const std::vector<Option*>& options, Text& text) {
  for (const Option* option : options)
    text.entry(names_of(*option), option->description() + facts_in_words(*option));
}

}  // namespace

std::string value_in_words(const Option& option) {
  if (option.most_values() == 0) return {};
  const std::string& name = option.type_name();
  return option.least_values() == 0 ? "[" + name + "]" : name;
}

std::string facts_in_words(const Option& option) {
  std::vector<std::string> facts;
  if (!option.choices().empty()) facts.push_back(choice(option.choices()));
  const auto names = option.names();
  if (!names.empty() && !option.argument_name().empty())
    facts.push_back("without " + names[0] + ", too");
  if (option.is_required()) facts.emplace_back("required");
  const std::string value = option.most_values() == 0 ? std::string() : option.default_text();
  if (!value.empty() && value != "\"\"") facts.push_back("default: " + value);
  return facts.empty() ? std::string() : fmt::format(" ({})", fmt::join(facts, "; "));
}

std::string usage_in_words(const App& app) {
  std::string text = app.path() + " [OPTIONS]";
  for (const Option* option : app.options()) {
    const std::string name = option->argument_name();
    if (name.empty()) continue;
    const std::string many = option->most_values() > 1 ? " …" : "";
    text += option->is_required() ? " " + name + many : " [" + name + many + "]";
  }
  if (!app.subcommands().empty()) text += " COMMAND";
  return app.words().empty() ? text : text + " " + app.words();
}

std::size_t help_width() { return std::min(line_width(), kMostWidth); }

std::string help_text(const App& app, std::size_t width) {
  Text text(width);
  text.paragraph("Usage: " + usage_in_words(app));
  text.paragraph("");
  text.paragraph(app.description());
  if (!app.subcommands().empty()) {
    text.heading("Commands");
    for (const App* command : app.subcommands())
      text.entry(command->name(), command->description());
  }
  std::vector<App*> sections = app.sections();
  std::erase_if(sections, [](const App* section) { return section->options().empty(); });
  std::vector<Option*> own = app.own_options();
  // --help comes last; it is the first that CLI11 makes.
  const auto is_help = [](const Option* option) { return option->has_name("--help"); };
  std::stable_partition(own.begin(), own.end(), [&](auto* option) { return !is_help(option); });
  std::vector<Option*> help;
  if (!sections.empty() && !own.empty() && is_help(own.back())) {
    help.push_back(own.back());
    own.pop_back();
  }
  if (!own.empty()) {
    text.heading("Options");
    add_options(own, text);
  }
  for (const App* section : sections) {
    text.heading(section->path());
    add_options(section->options(), text);
    if (section == sections.back()) add_options(help, text);
  }
  if (!app.examples().empty()) text.heading("Examples");
  for (const std::string& example : lines_of(app.examples())) text.command(example);
  if (!app.footer().empty()) {
    text.paragraph("");
    text.paragraph(app.footer());
  }
  return text.take();
}

}  // namespace ringside::cli
