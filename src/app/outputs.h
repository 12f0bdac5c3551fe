#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/open_profile.h"
#include "base/result.h"
#include "exporters/format.h"
#include "exporters/sink.h"
#include "profile/profile.h"

namespace ringside::app {

// Error if `output` cannot be written as far as one can see now: better to fail before a guest is
// started than after it ran for an hour.
[[nodiscard]] Result<void> check_output(const std::filesystem::path& output);

// Error kUsage if `output` is one of the files that are read.
[[nodiscard]] Result<void> check_no_input(const std::filesystem::path& output,
                                          const std::vector<std::string>& inputs,
                                          const std::string& option = "-o");

// Writes to `path` ("-": standard output) what `write` produces; the file appears only when it is
// whole.
[[nodiscard]] Result<void> write_to(const std::string& path,
                                    const std::function<Result<void>(exporters::Sink&)>& write,
                                    bool is_binary = false);

// The format of an output: what its extension says (.svg, .folded, .pb.gz), else the one of the
// name `otherwise`. `asked`: an option that has chosen `otherwise`, or empty. `possible`: names of
// formats; empty: all. Error kUsage where the two disagree, where the extension is of a format that
// ringside does not write (.png), and for one that is not in `possible`.
[[nodiscard]] Result<const exporters::Format*> format_of(const std::string& path,
                                                         const std::string& otherwise,
                                                         const std::string& asked,
                                                         const std::vector<std::string>& possible);

// Error kUsage where `path` is a recording, which cannot be made again.
[[nodiscard]] Result<void> check_no_recording(const std::string& path);

// Error kUsage where no format has the extension of `path`.
[[nodiscard]] Result<void> check_extension(const std::string& path);

// Writes a profile in a format of sums, such as a flame graph or folded stacks.
[[nodiscard]] Result<void> write_profile(const profile::Profile& profile, const std::string& path,
                                         const exporters::Format& format,
                                         const exporters::ExportOptions& options);

// Reads the input that `settings` name and writes it in any format. Says on standard error what is
// missing. Errors: kUsage for settings that the format has no use for.
[[nodiscard]] Result<void> write_export(const ReaderSettings& settings, const std::string& path,
                                        const exporters::Format& format,
                                        const exporters::ExportOptions& options);

}  // namespace ringside::app
