#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verbs/verb.h"
#include "project/project_file.h"

namespace ringside::cli {

// Where the settings come from: the options that each verb has for it.
struct ProjectFlags {
  std::string file;     // --project; empty: the nearest ringside.toml, "none": none
  std::string profile;  // --profile
  // `names` of the option for a profile: "--profile".
  void add_to(App& verb, const std::string& names = "--profile");
};

// A ringside.toml beside the verbs' options.
class ProjectSettings {
 public:
  // Reads the file, if there is one. One that belongs to another user than this and root is not
  // read, which is said: it names programs to be started. Errors kUsage: a key, table or profile
  // that there is not, with file and line.
  [[nodiscard]] static Result<ProjectSettings> load(
      const ProjectFlags& flags, const App& app, const std::vector<std::unique_ptr<Verb>>& verbs);

  // Gives `verb` what the command line does not say: first [profile.NAME.VERB], then
  // [profile.NAME], [VERB], and the top of the file. Paths are relative to the file's folder.
  // `command` (what stood behind "--") is filled from `qemu` where the command line names no way
  // into a guest. Error kUsage: a value that the option refuses, with file and line.
  [[nodiscard]] Result<void> apply(App& verb, bool takes_command,
                                   std::vector<std::string>& command);

  // Where a command that came from the file is to be started; empty: where we are.
  [[nodiscard]] const std::filesystem::path& command_folder() const { return command_folder_; }

 private:
  [[nodiscard]] Result<void> check(const App& app,
                                   const std::vector<std::unique_ptr<Verb>>& verbs) const;
  [[nodiscard]] Result<void> check_scope(const project::Scope& scope, const App& app,
                                         const std::vector<std::unique_ptr<Verb>>& verbs) const;
  [[nodiscard]] std::vector<const project::Setting*> settings_of(const std::string& verb) const;
  [[nodiscard]] Result<void> give(App& verb, const project::Setting& setting) const;

  project::ProjectFile file_;
  std::filesystem::path folder_;
  std::string profile_;
  std::filesystem::path command_folder_;
};

}  // namespace ringside::cli
