#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/owner.h"

namespace ringside::app {

// Error if `output` cannot be written as far as one can see now: better to fail before a guest is
// started than after it ran for an hour.
[[nodiscard]] Result<void> check_output(const std::filesystem::path& output);

// Writes to `path` ("-": standard output) what `write` produces; the file appears only when it is
// whole.
[[nodiscard]] Result<void> write_to(const std::string& path,
                                    const std::function<Result<void>(exporters::Sink&)>& write);

enum class OutputFormat { kSvg, kFolded, kJsonLines };

// The format of an output: what its extension says (.svg, .folded, .jsonl), else `otherwise`.
// `asked`: an option that has chosen `otherwise`, or empty. Error kUsage where the two disagree,
// where the extension is of a format that ringside does not write (.png), and for one that is not
// in `possible`.
[[nodiscard]] Result<OutputFormat> format_of(const std::string& path, OutputFormat otherwise,
                                             const std::string& asked,
                                             const std::vector<OutputFormat>& possible);

// How stacks are written, whatever the file.
struct StackStyle {
  views::OwnerLevel by = views::OwnerLevel::kComm;
  bool emerald = false;  // folded stacks as Emerald's profiler writes them
  std::string asked;     // --folded-style, if that was given
};

// A flame graph, or folded stacks.
[[nodiscard]] Result<void> write_stacks(const profile::Profile& profile, const std::string& path,
                                        OutputFormat format, const StackStyle& style);

}  // namespace ringside::app
