#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace ringside::app {

// A file that the TCG plugin has written by itself, and how it becomes a recording.
struct PluginRequest {
  std::filesystem::path input;
  std::filesystem::path output;
  std::string kernel;     // its file; empty: frames are addresses
  std::string symbols;    // a text of the kernel's symbols; may be empty
  std::string load_bias;  // hexadecimal; empty: detected
  std::string os = "auto";
  bool keep_captures = false;
};

// Unwinds what the plugin has sampled. Says on standard error what is missing.
[[nodiscard]] Result<void> import_plugin_file(const PluginRequest& request);

}  // namespace ringside::app
