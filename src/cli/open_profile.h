#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/symbol_options.h"
#include "naming/image_symbols.h"
#include "profile/profile.h"
#include "recording/reader.h"

namespace ringside::cli {

class App;

// The options of every verb that reads a recording.
struct ReaderFlags {
  std::string input = "ringside.data";
  std::string kernel;
  std::string kernel_symbols;
  std::string load_bias;  // of a plugin's own file
  SymbolFlags symbols;
  std::string cpus;
  bool kernel_only = false;
  bool user_only = false;
  std::vector<std::string> comms;
  std::vector<std::uint32_t> pids;
  std::vector<std::uint32_t> tids;
  bool no_irq_join = false;
  bool show_addresses = false;
  bool show_lines = false;

  // Any option that leaves samples out.
  [[nodiscard]] bool filters() const;
  void add_to(App& app);
  // Those about whose time it was; add_to() has them too.
  void add_owners_to(App& app);
};

// A recording and what names its frames.
struct OpenRecording {
  recording::Reader reader;
  naming::ImageSymbols symbols;
};
[[nodiscard]] Result<OpenRecording> open_recording(const ReaderFlags& flags);

// Reads and names a recording. Says on standard error what is missing.
[[nodiscard]] Result<profile::Profile> open_profile(const ReaderFlags& flags);

}  // namespace ringside::cli
