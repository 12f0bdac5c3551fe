#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/atomic_folder.h"
#include "base/result.h"
#include "exporters/sink.h"
#include "profile/detailed_profile.h"
#include "profile/profile.h"
#include "recording/reader.h"
#include "views/owner.h"

namespace ringside::exporters {

// How a format is written; Format::takes lists the options that set each.
struct ExportOptions {
  bool per_vcpu = false;                          // --per-cpu
  bool show_idle = false;                         // --show-idle
  bool annotate_kernel = false;                   // --annotate-kernel
  views::RootFrame by = views::RootFrame::kComm;  // --by
  std::string folded_style = {};                  // --folded-style; empty: plain
  std::string redox_style = {};    // --redox-style: letters of its tool; empty: perf's own text
  std::vector<VcpuId> vcpus = {};  // of formats that take --cpu: those to write; empty: all
  AtomicFolder* beside = nullptr;  // of Format::folder; null: only the Sink
};

// A format that a recording can be written in: one row of formats().
struct Format {
  // Writes the sums over samples.
  using FromProfile = Result<void> (*)(const profile::Profile&, const ExportOptions&, Sink&);
  // Writes samples one by one, addresses, source lines or several values.
  using FromDetails = Result<void> (*)(profile::DetailedProfile&, const ExportOptions&, Sink&);
  // Writes all that is recorded. Returns sentences about what was left out.
  using FromRecording = Result<std::vector<std::string>> (*)(recording::Reader&,
                                                             profile::FrameNamer&, Sink&);

  const char* name;                     // of --format
  std::vector<const char*> extensions;  // of files that are written in it
  const char* summary;                  // for --help: what it is for
  // Options of export, besides those that choose samples. "--cpu": it gets the samples of all vCPUs
  // and chooses by itself.
  std::vector<std::string_view> takes;
  std::variant<FromProfile, FromDetails, FromRecording> write;
  bool is_binary = false;  // a terminal gets none of it
  // A folder of more files, beside an output that is a file: what its name has behind the output's.
  const char* folder = nullptr;
  const char* reader = nullptr;  // with it: the command that reads both, of {output} and {folder}
  bool shows_lost = false;       // it has the ticks without a sample

  [[nodiscard]] bool takes_option(std::string_view option) const {
    return std::find(takes.begin(), takes.end(), option) != takes.end();
  }
};

// All formats, in the order of --help.
[[nodiscard]] std::span<const Format> formats();
// Null if there is none of that name.
[[nodiscard]] const Format* format_named(std::string_view name);

}  // namespace ringside::exporters
