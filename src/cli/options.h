#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The options of the command line, over CLI11, which only options.cpp includes: to read CLI11 takes
// a compiler longer than the rest of a verb. Calls have CLI11's names and are chained as there.
namespace ringside::cli {

// Sections of --help that several commands have.
inline constexpr const char* kSamplesSection = "Which samples";
inline constexpr const char* kNamesSection = "Names and symbols";
inline constexpr const char* kOutputSection = "Output";
inline constexpr const char* kAdvancedSection = "Advanced";

// Where an option's value is stored: a variable of one of these types, which lives as long as the
// App.
using OptionValue =
    std::variant<std::reference_wrapper<std::string>, std::reference_wrapper<double>,
                 std::reference_wrapper<std::uint32_t>, std::reference_wrapper<std::uint64_t>,
                 std::reference_wrapper<std::optional<double>>,
                 std::reference_wrapper<std::optional<std::uint32_t>>,
                 std::reference_wrapper<std::optional<std::uint64_t>>,
                 std::reference_wrapper<std::vector<std::string>>,
                 std::reference_wrapper<std::vector<std::uint32_t>>,
                 std::reference_wrapper<std::vector<std::uint64_t>>>;

// One option of an App, which owns it.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  Option* type_name(const std::string& name);  // of the value, in --help
  Option* default_str(const std::string& text);
  Option* capture_default_str();  // the value of its variable now
  Option* required();
  Option* expected(int least, int most);  // values
  Option* allow_extra_args(bool allow);   // several values behind one name
  Option* delimiter(char delimiter);      // between several values in one word
  Option* excludes(Option* other);
  Option* trigger_on_parse();

  // Checks of a value.
  Option* one_of(const std::vector<std::string>& values);
  // Refuses values that begin so, in words of its own; to be called before other checks.
  Option* refuse(const std::string& beginning, const std::string& why);
  Option* range(double least, double most);
  Option* range(std::uint32_t least, std::uint32_t most);
  // A number of seconds, or one with the unit us, ms, s, m or h.
  Option* seconds(double least, double most);
  Option* positive_number();
  Option* existing_directory();

  // With their dashes, short ones first; empty for an argument by its place.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::string argument_name() const;  // of an argument by its place, else empty
  [[nodiscard]] bool has_name(const std::string& name) const;  // with its dashes
  [[nodiscard]] std::string description() const;
  [[nodiscard]] std::string default_text() const;  // as --help says it; empty: none
  [[nodiscard]] const std::string& type_name() const { return type_name_; }  // as it was set
  [[nodiscard]] const std::vector<std::string>& choices() const { return choices_; }  // of one_of
  [[nodiscard]] int most_values() const;                                              // 0: a flag
  [[nodiscard]] int least_values() const;
  [[nodiscard]] bool is_required() const;
  [[nodiscard]] bool is_given() const;     // by the command line or give()
  [[nodiscard]] bool is_excluded() const;  // by another one that is given
  [[nodiscard]] bool is_typed() const { return is_given() && !is_from_file_; }

  // As if the command line had these values, which a file has. Error kUsage: a value that the
  // option refuses.
  [[nodiscard]] Result<void> give(const std::vector<std::string>& values);

 private:
  CLI::Option& option_;
  std::string type_name_;
  std::vector<std::string> choices_;
  bool is_from_file_ = false;
};

// Why a command line is not to be run: it asked for help or the version, or it is wrong.
struct ParseEnd {
  bool wrong_usage = false;
  std::string out;  // for standard output
  std::string err;  // for standard error
};

// A holder of options: the program, a subcommand, or a section of --help under a heading.
class App {
 public:
  App(const std::string& description, const std::string& name);
  App(std::shared_ptr<CLI::App> app, std::string path);
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  // `names` are separated by commas; one without a dash is that of an argument by its place.
  Option* add_option(const std::string& names, OptionValue value, const std::string& description);
  Option* add_option_function(const std::string& names,
                              const std::function<void(const std::string&)>& function,
                              const std::string& description);
  Option* add_flag(const std::string& names, bool& flag, const std::string& description);
  // `function` gets how often the flag was given.
  Option* add_flag_function(const std::string& names,
                            const std::function<void(std::int64_t)>& function,
                            const std::string& description);
  Option* set_version_flag(const std::string& names, const std::string& version);
  // The section of that heading; sections stand in --help in the order in which they were first
  // asked for.
  App& section(const std::string& heading);
  App* add_subcommand(const std::string& name, const std::string& description);
  void require_subcommand(int count);
  void examples(const std::string& lines);                        // of --help, without "ringside"
  void footer(const std::string& text);                           // of --help
  void takes_words(const std::string& words) { words_ = words; }  // behind the options, for --help

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string description() const;
  // "ringside case list"; a section's is its heading.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& examples() const { return examples_; }
  [[nodiscard]] const std::string& footer() const { return footer_; }
  [[nodiscard]] const std::string& words() const { return words_; }
  // Those of its sections come last.
  [[nodiscard]] std::vector<Option*> options() const;
  [[nodiscard]] std::vector<Option*> own_options() const;  // without those of its sections
  [[nodiscard]] std::vector<App*> sections() const;
  [[nodiscard]] std::vector<App*> subcommands() const;
  // nullptr if there is none. An option's name has its dashes.
  [[nodiscard]] Option* find_option(const std::string& name) const;
  [[nodiscard]] App* find_subcommand(const std::string& name) const;

  // Stores what `words` say, which are without the program's name; nothing: there is more to do.
  [[nodiscard]] std::optional<ParseEnd> parse(std::vector<std::string> words);
  [[nodiscard]] bool parsed() const;  // the words have this subcommand

 private:
  Option* own(CLI::Option* option);
  // The subcommand of the words that were parsed, and of that.
  [[nodiscard]] const App& innermost() const;

  std::shared_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<App>> sections_;
  std::vector<std::unique_ptr<App>> subcommands_;
  std::string path_;
  std::string examples_;
  std::string footer_;
  std::string words_;
};

}  // namespace ringside::cli
