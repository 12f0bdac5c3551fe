#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace ringside::app {

// A file that another program, or the TCG plugin by itself, has written, and how it becomes a
// recording.
struct ImportRequest {
  std::filesystem::path input;
  std::filesystem::path output;
  std::string kernel;     // its file; empty: frames are addresses
  std::string symbols;    // a text of the kernel's symbols; may be empty
  std::string load_bias;  // hexadecimal; empty: found out
  std::string os = "auto";
  bool keep_captures = false;
  bool maestro_cut = false;
};

// True if that file was written by the TCG plugin without ringside.
[[nodiscard]] bool is_plugin_file(const std::filesystem::path& path);

// Unwinds what the plugin has sampled. Says on standard error what is missing.
[[nodiscard]] Result<void> import_plugin_file(const ImportRequest& request);
// The raw data of Maestro's CPU profiler.
[[nodiscard]] Result<void> import_maestro(const ImportRequest& request);

}  // namespace ringside::app
