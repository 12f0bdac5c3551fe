#include "cli/manual/man_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/atomic_file.h"
#include "base/split.h"
#include "cli/help.h"
#include "cli/options.h"

namespace ringside::cli {
namespace {

// Text that man shows as it is: a dash stays one that can be copied.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else
      result += letter;
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string in_bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }
std::string in_italics(std::string_view text) { return fmt::format("\\fI{}\\fR", escaped(text)); }

// "ringside-case-list".
std::string page_name(const App& command) {
  std::string name = command.path();
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// As pages have it: without a capital.
std::string summary(std::string text) {
  const bool is_name = text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1])) != 0;
  if (!text.empty() && !is_name)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

class Page {
 public:
  explicit Page(const App& command) {
    std::string title = page_name(command);
    std::transform(title.begin(), title.end(), title.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    text_ = fmt::format(".TH {} 1 \"\" \"ringside {}\"\n.nh\n.ad l\n", escaped(title),
                        RINGSIDE_VERSION);
  }
  void section(std::string_view heading) { text_ += fmt::format(".SH {}\n", heading); }
  void part(std::string_view heading) { text_ += fmt::format(".SS {}\n", escaped(heading)); }
  void line(std::string_view roff) { text_ += fmt::format("{}\n", roff); }
  void entry(std::string_view roff, std::string_view description) {
    text_ += fmt::format(".TP\n{}\n{}\n", roff, escaped(description));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string names_in_bold(const Option& option) {
  std::string names;
  for (const std::string& name : option.names())
    names += (names.empty() ? "" : ", ") + in_bold(name);
  if (names.empty()) return in_italics(option.argument_name());
  const std::string value = value_in_words(option);
  return value.empty() ? names : names + " " + in_italics(value);
}

void add_options(const std::vector<Option*>& options, Page& page) {
  for (const Option* option : options)
    page.entry(names_in_bold(*option), option->description() + facts_in_words(*option));
}

void add_examples(const App& command, Page& page) {
  if (command.examples().empty()) return;
  page.section("EXAMPLES");
  page.line(".EX");
  for (std::string_view rest = command.examples(); !rest.empty();)
    page.line("ringside " + escaped(take_line(rest)));
  page.line(".EE");
}

void add_others(const App& command, Page& page) {
  std::vector<std::string> others;
  if (command.path() != "ringside") others.emplace_back("ringside");
  for (const App* each : command.subcommands()) others.push_back(page_name(*each));
  page.section("SEE ALSO");
  for (const std::string& name : others)
    page.line(fmt::format(".BR {} (1){}", escaped(name), &name == &others.back() ? "" : " ,"));
  page.line(".PP\nThe documents are in share/doc/ringside, beside the folder of the program.");
}

}  // namespace

std::string man_page(const App& command) {
  Page page(command);
  page.section("NAME");
  page.line(fmt::format("{} \\- {}", escaped(page_name(command)),
                        escaped(summary(command.description()))));
  page.section("SYNOPSIS");
  page.line(escaped(usage_in_words(command)));
  if (!command.subcommands().empty()) page.section("COMMANDS");
  for (const App* each : command.subcommands())
    page.entry(in_bold(each->name()), each->description());
  page.section("OPTIONS");
  add_options(command.own_options(), page);
  for (const App* section : command.sections()) {
    if (section->options().empty()) continue;
    page.part(section->path());
    add_options(section->options(), page);
  }
  add_examples(command, page);
  if (!command.footer().empty()) {
    page.section("EXIT STATUS");
    page.line(escaped(command.footer()));
  }
  add_others(command, page);
  return page.take();
}

Result<void> write_man_pages(const App& app, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorCode::kIo, "{}: {}", folder.string(), error.message());
  RINGSIDE_TRY(write_output(folder / (page_name(app) + ".1"), man_page(app)));
  for (const App* command : app.subcommands()) RINGSIDE_TRY(write_man_pages(*command, folder));
  return {};
}

}  // namespace ringside::cli
