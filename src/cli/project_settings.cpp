#include "cli/project_settings.h"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "app/messages.h"
#include "app/settings/guest_system.h"
#include "base/contained_file.h"
#include "base/file.h"
#include "cli/options.h"

namespace ringside::cli {
namespace {

constexpr const char* kCommand = "qemu";
constexpr const char* kOutput = "output";
constexpr const char* kSource = "source";
constexpr const char* kViewersPage = "speedscope-page";
constexpr std::size_t kLargest = 1u << 20;

using project::Setting;

// Not to be set in a file: they ask for something else than the verb's work, or name the file.
bool is_setting(const std::string& key) {
  constexpr std::array<std::string_view, 5> kNone = {"help", "version", "completion", "profile",
                                                     "project"};
  return std::find(kNone.begin(), kNone.end(), key) == kNone.end();
}

bool is_attachment(const std::string& key) {
  return key == "gdb" || key == "qmp" || key == "ring" || key == kCommand;
}

Result<std::string> read_text(const std::filesystem::path& path) {
  RINGSIDE_ASSIGN(const auto file, MappedFile::open(path));
  const Bytes bytes = file->bytes();
  if (bytes.size() > kLargest)
    return fail(ErrorCode::kFormat, "{}: larger than {} bytes", path.string(), kLargest);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// A link, too: paths in the file are relative to where that is.
bool belongs_to_us(const std::filesystem::path& path) {
  struct stat file {
  }, link{};
  const auto is_ours = [](const struct stat& one) {
    return one.st_uid == ::geteuid() || one.st_uid == 0;
  };
  return ::stat(path.c_str(), &file) == 0 && ::lstat(path.c_str(), &link) == 0 && is_ours(file) &&
         is_ours(link);
}

bool is_path(const Option& option, const std::string& value) {
  const std::string type = option.type_name();
  if (type == "FILE" || type == "DIR") return value != "-";
  // "PATH" or "unix:PATH", and neither HOST:PORT nor PORT.
  return type == "ADDR" && !value.starts_with("unix:") &&
         value.find_first_not_of("0123456789") != value.npos &&
         (value.find('/') != value.npos || value.find(':') == value.npos);
}

// A file that comes with somebody's sources says what is written and what is shown among them, and
// nowhere else. Links count as what they lead to.
bool stays_inside(const Option& option, const std::string& key) {
  return key == kOutput || (key == kSource && option.type_name() == "DIR");
}

bool has_link(const std::filesystem::path& path) {
  std::filesystem::path part;
  std::error_code ignored;
  return std::any_of(path.begin(), path.end(), [&](const std::filesystem::path& name) {
    return std::filesystem::is_symlink(part /= name, ignored);
  });
}

// The path without links, where it is inside of the folder; nothing else is used of it then, as
// ".." behind a link leads elsewhere than the text says. One that leads to nothing may lead outside
// and be followed by who writes there, so it is refused.
std::optional<std::string> path_inside(const std::filesystem::path& folder,
                                       const std::string& value) {
  if (value == "-") return value;
  std::error_code error;
  const auto root = std::filesystem::canonical(folder, error);
  if (error) return std::nullopt;
  const auto path = std::filesystem::weakly_canonical(folder / value, error);
  if (error || !(is_below(path, root) || path == root) || has_link(path)) return std::nullopt;
  return path.string();
}

// A path is relative to the project file's folder.
std::string in_folder(const std::filesystem::path& folder, const Option& option,
                      const std::string& value) {
  const auto resolve = [&](const std::string& path) {
    return (folder / path).lexically_normal().string();
  };
  if (is_path(option, value)) return resolve(value);
  const std::size_t colon = value.find(':');
  if (option.type_name() != app::kProcessForm || colon == value.npos) return value;
  return value.substr(0, colon + 1) + resolve(value.substr(colon + 1));
}

}  // namespace

void ProjectFlags::add_to(App& verb, const std::string& names) {
  App& advanced = verb.section(kAdvancedSection);
  advanced.add_option(names, profile, "Take the settings of [profile.NAME] in ringside.toml")
      ->type_name("NAME");
  advanced
      .add_option(
          "--project", file,
          "The project file (default: ringside.toml here or in a folder above); 'none' reads none")
      ->type_name("FILE");
}

Result<ProjectSettings> ProjectSettings::load(const ProjectFlags& flags, const App& app,
                                              const std::vector<std::unique_ptr<Verb>>& verbs) {
  ProjectSettings settings;
  settings.profile_ = flags.profile;
  std::optional<std::filesystem::path> path;
  std::error_code ignored;
  if (flags.file.empty())
    path = project::find_project(std::filesystem::current_path(ignored));
  else if (flags.file != "none")
    path = std::filesystem::absolute(flags.file, ignored);
  if (path && flags.file.empty() && !belongs_to_us(*path)) {
    app::say(fmt::format("ringside: {} belongs to another user and is not read; --project names it",
                         path->string()));
    path.reset();
  }
  if (path) {
    RINGSIDE_ASSIGN(const std::string text, read_text(*path));
    auto parsed = project::parse_project(text, path->string());
    if (!parsed) return fail(ErrorCode::kUsage, "{}", parsed.error().message);
    settings.file_ = std::move(*parsed);
    settings.folder_ = path->parent_path();
    RINGSIDE_TRY(settings.check(app, verbs));
  }
  if (flags.profile.empty() || settings.file_.profiles.count(flags.profile) != 0) return settings;
  std::string known;
  for (const auto& [name, scope] : settings.file_.profiles)
    known += (known.empty() ? "" : ", ") + name;
  return fail(ErrorCode::kUsage, "--profile {}: {}", flags.profile,
              !path           ? "there is no ringside.toml here or above"
              : known.empty() ? settings.file_.name + " has no profiles"
                              : settings.file_.name + " has " + known);
}

Result<void> ProjectSettings::check(const App& app,
                                    const std::vector<std::unique_ptr<Verb>>& verbs) const {
  RINGSIDE_TRY(check_scope(file_.defaults, app, verbs));
  for (const auto& [name, scope] : file_.profiles) RINGSIDE_TRY(check_scope(scope, app, verbs));
  return {};
}

Result<void> ProjectSettings::check_scope(const project::Scope& scope, const App& app,
                                          const std::vector<std::unique_ptr<Verb>>& verbs) const {
  const auto knows = [&](const Verb& verb, const std::string& key) {
    if (key == kCommand) return verb.takes_command();
    return is_setting(key) && app.find_subcommand(verb.name())->find_option("--" + key) != nullptr;
  };
  for (const Setting& setting : scope.settings) {
    const bool known = std::any_of(verbs.begin(), verbs.end(),
                                   [&](const auto& verb) { return knows(*verb, setting.key); });
    if (!known)
      return fail(ErrorCode::kUsage, "{}:{}: no command has an option '{}'", file_.name,
                  setting.line, setting.key);
    if (setting.key == kOutput)
      return fail(ErrorCode::kUsage,
                  "{}:{}: each command writes something else; put 'output' into its table, as in "
                  "[record]",
                  file_.name, setting.line);
  }
  for (const auto& [name, table] : scope.verbs) {
    const auto verb = std::find_if(verbs.begin(), verbs.end(), [&wanted = name](const auto& one) {
      return one->name() == wanted;
    });
    if (verb == verbs.end())
      return fail(ErrorCode::kUsage, "{}:{}: [{}] is no command, and a profile is [profile.{}]",
                  file_.name, table.line, name, name);
    for (const Setting& setting : table.settings)
      if (!knows(**verb, setting.key))
        return fail(ErrorCode::kUsage, "{}:{}: '{}' has no option '{}'", file_.name, setting.line,
                    name, setting.key);
  }
  return {};
}

// Settings that override others come first.
std::vector<const Setting*> ProjectSettings::settings_of(const std::string& verb) const {
  std::vector<const Setting*> all;
  const auto add = [&](const project::Scope& scope) {
    if (const auto table = scope.verbs.find(verb); table != scope.verbs.end())
      for (const Setting& setting : table->second.settings) all.push_back(&setting);
    for (const Setting& setting : scope.settings) all.push_back(&setting);
  };
  if (const auto profile = file_.profiles.find(profile_); profile != file_.profiles.end())
    add(profile->second);
  add(file_.defaults);
  return all;
}

Result<void> ProjectSettings::apply(App& verb, bool takes_command,
                                    std::vector<std::string>& command) {
  if (file_.name.empty()) return {};
  std::vector<std::string> done;
  bool has_attachment = !command.empty();
  for (const char* key : {"gdb", "qmp", "ring"})
    if (const Option* option = verb.find_option(std::string("--") + key))
      has_attachment |= option->is_given();
  for (const Setting* setting : settings_of(verb.name())) {
    if (std::find(done.begin(), done.end(), setting->key) != done.end()) continue;
    if (is_attachment(setting->key) && has_attachment) continue;
    done.push_back(setting->key);
    if (setting->key == kCommand) {
      if (!takes_command) continue;
      const auto* words = std::get_if<std::vector<std::string>>(&setting->value);
      if (words == nullptr || words->empty())
        return fail(ErrorCode::kUsage,
                    "{}:{}: 'qemu' is a list: [\"qemu-system-x86_64\", \"-kernel\", …]", file_.name,
                    setting->line);
      command = *words;
      command_folder_ = folder_;
    } else {
      RINGSIDE_TRY(give(verb, *setting));
    }
  }
  app::say(fmt::format("ringside: settings are from {}{}", file_.name,
                       command_folder_.empty() ? std::string()
                                               : fmt::format("; its QEMU command line is {}",
                                                             fmt::join(command, " "))));
  return {};
}

// One option's value, unless the command line or a setting before has it, or one that excludes it.
Result<void> ProjectSettings::give(App& verb, const Setting& setting) const {
  Option* const option = verb.find_option("--" + setting.key);
  if (option == nullptr) return {};  // another verb's
  if (option->is_given() || option->is_excluded()) return {};
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::kUsage, "{}:{}: '{}': {}", file_.name, setting.line, setting.key, why);
  };
  if (setting.key == kViewersPage)
    return wrong("a page that runs in the browser is named on the command line alone");
  const bool is_flag = option->most_values() == 0;
  const bool* const flag = std::get_if<bool>(&setting.value);
  if (is_flag != (flag != nullptr))
    return wrong(is_flag ? "give true or false" : "true and false are no values of it");
  const auto* const list = std::get_if<std::vector<std::string>>(&setting.value);
  const bool takes_many = option->most_values() > 1;
  if (list != nullptr && !takes_many) return wrong("it takes one value");
  if (flag != nullptr && !*flag) return {};
  std::vector<std::string> values = {"true"};
  if (const auto* text = std::get_if<std::string>(&setting.value)) values = {*text};
  if (list != nullptr) values = *list;
  const bool stays = stays_inside(*option, setting.key);
  for (std::string& value : values) {
    const auto path =
        stays ? path_inside(folder_, value) : std::optional(in_folder(folder_, *option, value));
    if (!path)
      return wrong(
          fmt::format("{} is outside of the file's folder; give it on the command line: {}", value,
                      setting.key == kOutput ? "-o" : "--source"));
    value = *path;
  }
  if (const auto given = option->give(values); !given) return wrong(given.error().message);
  return {};
}

}  // namespace ringside::cli
