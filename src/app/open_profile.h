#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/input_format.h"
#include "app/settings/import_settings.h"
#include "app/settings/symbol_settings.h"
#include "base/result.h"
#include "naming/image_symbols.h"
#include "profile/detailed_profile.h"
#include "profile/profile.h"
#include "recording/reader.h"

namespace ringside::app {

// Which recording is read, which of its samples, and how they are named.
struct ReaderSettings {
  // One file, or several of one profile, such as a ring of each CPU. "-" is standard input.
  std::vector<std::string> inputs = {"ringside.data"};
  std::string format = kAutoFormat;  // of input_formats()
  ImportSettings import;
  std::string kernel;
  std::string kernel_symbols;
  std::string load_bias;
  SymbolSettings symbols;
  std::string cpus;
  std::string cpu_mask;  // as parse_cpu_mask() reads it; not with `cpus`
  bool kernel_only = false;
  bool user_only = false;
  std::vector<std::string> comms;
  std::vector<std::uint32_t> pids;
  std::vector<std::uint32_t> tids;
  std::vector<std::string> sources;
  std::string value;          // of the samples
  std::string time;           // as parse_time_range() reads it
  std::uint64_t span_ns = 0;  // as BuildOptions has it
  bool source_lines = false;  // as BuildOptions has them
  bool no_irq_join = false;
  bool show_addresses = false;
  bool show_lines = false;
  bool may_be_empty = false;  // a profile without a sample is no error

  [[nodiscard]] const std::string& input() const { return inputs.front(); }  // the first
  // Any option that leaves samples out.
  [[nodiscard]] bool filters() const;
};

// The same with a format that is not kAutoFormat: the one that the contents show. An input that
// does not exist is a recording. Errors as those of format_of_inputs().
[[nodiscard]] Result<ReaderSettings> resolved(const ReaderSettings& settings);

// The vCPUs that they leave; none where all are left. Error kUsage.
[[nodiscard]] Result<std::vector<VcpuId>> chosen_vcpus(const ReaderSettings& settings);

// A recording and what names its frames. All other inputs but folded text are imported for that.
struct OpenRecording {
  recording::Reader reader;
  naming::ImageSymbols symbols;
  bool was_imported = false;  // now: the import has printed the warnings that it recorded
};
[[nodiscard]] Result<OpenRecording> open_recording(const ReaderSettings& settings);

// Says on standard error what of the recording is missing or damaged, if anything is.
void say_damage(const recording::Reader& recording);

// A recording whose samples are handed on one by one.
struct OpenDetails {
  OpenRecording recording;
  std::unique_ptr<profile::DetailedProfile> profile;
};
// Which samples a recording's details are of, where no option names sources. With kFirst, samples
// of other sources are reported on standard error.
enum class DetailSources { kEvery, kFirst };
// Says on standard error what is damaged. Names are found, and what is missing there is known, when
// frames are asked for. Errors as those of open_profile().
[[nodiscard]] Result<std::unique_ptr<OpenDetails>> open_details(
    const ReaderSettings& settings, DetailSources sources = DetailSources::kEvery);

// Reads and names a recording, or reads folded text. Says on standard error what is missing. Error
// kNotFound where there is no sample.
[[nodiscard]] Result<profile::Profile> open_profile(const ReaderSettings& settings);

}  // namespace ringside::app
