#include "cli/options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <type_traits>
#include <utility>

#include "cli/help.h"
#include "cli/hints.h"

namespace ringside::cli {
namespace {

// strtoull(), which CLI11 uses, takes "-1" for the largest number.
std::string never_below_zero(const std::string& text) {
  return text.starts_with('-') ? fmt::format("'{}' is below 0", text) : std::string();
}

// For CLI11, "nan" is within every range.
std::string is_number(const std::string& text) {
  const bool is_nan = std::isnan(std::strtod(text.c_str(), nullptr));
  return is_nan ? text + " is not a number" : std::string();
}

std::string above_zero(const std::string& text) {
  double number = 0;
  const bool is_number = CLI::detail::lexical_cast(text, number);
  return is_number && number > 0 ? std::string()
                                 : fmt::format("'{}' is not a number above 0", text);
}

// Makes a number of seconds of a time with a unit.
std::string to_seconds(std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  for (const auto& [name, seconds] : {std::pair<std::string_view, double>{"", 1},
                                      {"us", 1e-6},
                                      {"ms", 1e-3},
                                      {"s", 1},
                                      {"m", 60},
                                      {"h", 3600}})
    if (parsed.ec == std::errc() && unit == name) {
      text = fmt::format("{}", number * seconds);
      return {};
    }
  return fmt::format("'{}' is no time: give seconds, or a number with us, ms, s, m or h", text);
}

// A word that is not expected may be meant as one that is.
std::string fault_of_word(const App& command, const std::string& word, bool lacks_command) {
  if (lacks_command && !word.starts_with('-')) {
    std::vector<std::string> names;
    for (const App* each : command.subcommands()) names.push_back(each->name());
    return fmt::format("'{}' has no command '{}'{}", command.path(), word,
                       hint_for_command(word, names, false));
  }
  const std::string hint = hint_for_option(word, command);
  const std::string fault = fmt::format("'{}' takes no {}", command.path(), word);
  return hint.empty() ? fmt::format("{}; see '{} --help'", fault, command.path())
                      : fmt::format("{}: {}", fault, hint);
}

// One line of ringside's own: what is wrong, and where the right words are.
std::string failure_text(const App& command, const std::vector<std::string>& unexpected,
                         const CLI::Error& error) {
  const bool lacks_command = error.get_name() == "RequiredError" &&
                             std::string(error.what()).find("subcommand") != std::string::npos;
  const bool has_extras = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (!unexpected.empty() && (lacks_command || has_extras))
    return fmt::format("ringside: {}\n", fault_of_word(command, unexpected.front(), lacks_command));
  return fmt::format("ringside: {}; see '{} --help'\n",
                     lacks_command ? "a command is missing" : error.what(), command.path());
}

}  // namespace

Option* Option::type_name(const std::string& name) {
  type_name_ = name;
  option_.type_name(name);
  return this;
}

Option* Option::default_str(const std::string& text) {
  option_.default_str(text);
  return this;
}

Option* Option::capture_default_str() {
  option_.capture_default_str();
  return this;
}

Option* Option::required() {
  option_.required();
  return this;
}

Option* Option::expected(int least, int most) {
  option_.expected(least, most);
  return this;
}

Option* Option::allow_extra_args(bool allow) {
  option_.allow_extra_args(allow);
  return this;
}

Option* Option::delimiter(char delimiter) {
  option_.delimiter(delimiter);
  return this;
}

Option* Option::excludes(Option* other) {
  option_.excludes(&other->option_);
  return this;
}

Option* Option::trigger_on_parse() {
  option_.trigger_on_parse();
  return this;
}

Option* Option::one_of(const std::vector<std::string>& values) {
  choices_ = values;
  option_.check(CLI::IsMember(values));
  return this;
}

Option* Option::refuse(const std::string& beginning, const std::string& why) {
  option_.check([=](const std::string& text) {
    return text.starts_with(beginning) ? fmt::format("{}: {}", text, why) : std::string();
  });
  return this;
}

Option* Option::range(double least, double most) {
  option_.check(CLI::Range(least, most));
  option_.check(is_number);
  return this;
}

Option* Option::seconds(double least, double most) {
  option_.transform(CLI::Validator(to_seconds, "TIME"));
  type_name("TIME");
  return range(least, most);
}

Option* Option::range(std::uint32_t least, std::uint32_t most) {
  option_.check(CLI::Range(least, most));
  return this;
}

Option* Option::positive_number() {
  option_.check(above_zero);
  return this;
}

Option* Option::existing_directory() {
  option_.check(CLI::ExistingDirectory);
  return this;
}

std::vector<std::string> Option::names() const {
  std::vector<std::string> names;
  for (const std::string& name : option_.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option_.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string Option::argument_name() const {
  return option_.get_positional() ? option_.get_name(true) : std::string();
}

bool Option::has_name(const std::string& name) const { return option_.check_name(name); }

std::string Option::description() const { return option_.get_description(); }

std::string Option::default_text() const { return option_.get_default_str(); }

int Option::most_values() const { return option_.get_items_expected_max(); }

int Option::least_values() const { return option_.get_items_expected_min(); }

bool Option::is_required() const { return option_.get_required(); }

bool Option::is_given() const { return option_.count() > 0; }

bool Option::is_excluded() const {
  const auto others = option_.get_excludes();
  return std::any_of(others.begin(), others.end(),
                     [](const CLI::Option* other) { return other->count() > 0; });
}

Result<void> Option::give(const std::vector<std::string>& values) {
  is_from_file_ = true;
  try {
    for (const std::string& value : values) option_.add_result(value);
    option_.run_callback();
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::kUsage, "{}", error.what());
  }
  return {};
}

App::App(const std::string& description, const std::string& name)
    : App(std::make_shared<CLI::App>(description, name), name) {}

App::App(std::shared_ptr<CLI::App> app, std::string path)
    : app_(std::move(app)), path_(std::move(path)) {
  for (CLI::Option* help : app_->get_options()) own(help);
  app_->failure_message([this](const CLI::App* whole, const CLI::Error& error) {
    const auto own = whole->remaining(false);
    return own.empty() ? failure_text(innermost(), whole->remaining(true), error)
                       : failure_text(*this, own, error);
  });
  app_->formatter_fn([this](const CLI::App*, const std::string&, CLI::AppFormatMode) {
    return help_text(*this, help_width());
  });
}

Option* App::own(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(*option)).get();
}

Option* App::add_option(const std::string& names, OptionValue value,
                        const std::string& description) {
  return std::visit(
      [&](auto variable) {
        CLI::Option* option = app_->add_option(names, variable.get(), description);
        using Value = typename decltype(variable)::type;
        if constexpr (std::is_same_v<Value, std::uint64_t> ||
                      std::is_same_v<Value, std::optional<std::uint64_t>> ||
                      std::is_same_v<Value, std::vector<std::uint64_t>>)
          option->check(never_below_zero);
        return own(option);
      },
      value);
}

Option* App::add_option_function(const std::string& names,
                                 const std::function<void(const std::string&)>& function,
                                 const std::string& description) {
  return own(app_->add_option_function<std::string>(names, function, description));
}

Option* App::add_flag(const std::string& names, bool& flag, const std::string& description) {
  return own(app_->add_flag(names, flag, description));
}

Option* App::add_flag_function(const std::string& names,
                               const std::function<void(std::int64_t)>& function,
                               const std::string& description) {
  return own(app_->add_flag_function(names, function, description));
}

Option* App::set_version_flag(const std::string& names, const std::string& version) {
  return own(app_->set_version_flag(names, version));
}

App& App::section(const std::string& heading) {
  for (const auto& section : sections_)
    if (section->path() == heading) return *section;
  CLI::App* const added = app_->add_option_group(heading);
  added->set_help_flag();  // the command has one
  auto group = app_->get_subcommand_ptr(added);
  return *sections_.emplace_back(std::make_unique<App>(std::move(group), heading));
}

App* App::add_subcommand(const std::string& name, const std::string& description) {
  auto subcommand = app_->get_subcommand_ptr(app_->add_subcommand(name, description));
  return subcommands_.emplace_back(std::make_unique<App>(std::move(subcommand), path_ + " " + name))
      .get();
}

void App::require_subcommand(int count) { app_->require_subcommand(count); }

void App::examples(const std::string& lines) { examples_ = lines; }

void App::footer(const std::string& text) { footer_ = text; }

std::string App::name() const { return app_->get_name(); }

std::string App::description() const { return app_->get_description(); }

std::vector<Option*> App::own_options() const {
  std::vector<Option*> all;
  for (const auto& option : options_) all.push_back(option.get());
  return all;
}

std::vector<Option*> App::options() const {
  std::vector<Option*> all = own_options();
  for (const auto& section : sections_)
    for (Option* option : section->options()) all.push_back(option);
  return all;
}

std::vector<App*> App::sections() const {
  std::vector<App*> all;
  for (const auto& section : sections_) all.push_back(section.get());
  return all;
}

std::vector<App*> App::subcommands() const {
  std::vector<App*> all;
  for (const auto& subcommand : subcommands_) all.push_back(subcommand.get());
  return all;
}

Option* App::find_option(const std::string& name) const {
  for (Option* option : options())
    if (option->has_name(name)) return option;
  return nullptr;
}

App* App::find_subcommand(const std::string& name) const {
  for (const auto& subcommand : subcommands_)
    if (subcommand->name() == name) return subcommand.get();
  return nullptr;
}

std::optional<ParseEnd> App::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them last first
  try {
    app_->parse(words);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = app_->exit(error, out, err);
    return ParseEnd{status != 0, out.str(), err.str()};
  }
  return std::nullopt;
}

const App& App::innermost() const {
  const auto inner = std::find_if(subcommands_.begin(), subcommands_.end(),
                                  [](const auto& each) { return each->parsed(); });
  return inner == subcommands_.end() ? *this : (*inner)->innermost();
}

bool App::parsed() const { return app_->parsed(); }

}  // namespace ringside::cli
