#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/settings/symbol_settings.h"
#include "base/result.h"
#include "naming/image_symbols.h"
#include "profile/detailed_profile.h"
#include "profile/profile.h"
#include "recording/reader.h"

namespace ringside::app {

// The kind of an input; kAuto: its contents show it.
enum class InputFormat { kAuto, kRecording, kFolded };

// Which recording is read, which of its samples, and how they are named.
struct ReaderSettings {
  std::string input = "ringside.data";
  InputFormat format = InputFormat::kAuto;
  std::string kernel;
  std::string kernel_symbols;
  std::string load_bias;  // of a plugin's own file
  SymbolSettings symbols;
  std::string cpus;
  bool kernel_only = false;
  bool user_only = false;
  std::vector<std::string> comms;
  std::vector<std::uint32_t> pids;
  std::vector<std::uint32_t> tids;
  std::vector<std::string> sources;
  std::string value;  // of the samples
  std::string time;   // as parse_time_range() reads it
  bool no_irq_join = false;
  bool show_addresses = false;
  bool show_lines = false;

  // Any option that leaves samples out.
  [[nodiscard]] bool filters() const;
};

// A recording and what names its frames.
struct OpenRecording {
  recording::Reader reader;
  naming::ImageSymbols symbols;
};
[[nodiscard]] Result<OpenRecording> open_recording(const ReaderSettings& settings);

// A recording whose samples are handed on one by one.
struct OpenDetails {
  OpenRecording recording;
  std::unique_ptr<profile::DetailedProfile> profile;
};
// Says on standard error what is damaged. Names are found, and what is missing there is known, when
// frames are asked for.
[[nodiscard]] Result<std::unique_ptr<OpenDetails>> open_details(const ReaderSettings& settings);

// Reads and names a recording, or reads folded text. Says on standard error what is missing.
[[nodiscard]] Result<profile::Profile> open_profile(const ReaderSettings& settings);

}  // namespace ringside::app
