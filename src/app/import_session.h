#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/input_files.h"
#include "app/input_format.h"
#include "app/settings/import_settings.h"
#include "base/result.h"

namespace ringside::app {

// Files that another program, or the TCG plugin by itself, has written, and how they become a
// recording.
struct ImportRequest {
  std::vector<std::string> inputs;  // at least one; "-" is standard input
  std::vector<InputFile> files;     // where these are, if not at these names; may be empty
  std::filesystem::path output;
  bool is_temporary = false;         // the output is removed afterwards
  std::string format = kAutoFormat;  // of input_formats()
  std::string kernel;                // its file; empty: addresses have no names
  std::string symbols;               // a text of the kernel's symbols; may be empty
  std::string load_bias;             // hexadecimal; empty: detected, or 0
  ImportSettings settings;
  std::string os = "auto";     // of the TCG plugin's guest
  bool keep_captures = false;  // of the TCG plugin
};

// `format`, or the one that the contents show. Errors as those of format_of_inputs().
[[nodiscard]] Result<std::string> resolved_format(const ImportRequest& request);

// Makes the recording. Says on standard error what is missing.
[[nodiscard]] Result<void> import_files(const ImportRequest& request);

}  // namespace ringside::app
