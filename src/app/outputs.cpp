#include "app/outputs.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "exporters/emerald.h"
#include "exporters/flamegraph/svg_flamegraph.h"
#include "exporters/folded.h"

namespace ringside::app {

Result<void> check_output(const std::filesystem::path& output) {
  const std::filesystem::path folder = output.has_parent_path() ? output.parent_path() : ".";
  std::error_code ignored;
  const bool is_special = std::filesystem::exists(output, ignored) &&
                          !std::filesystem::is_regular_file(output, ignored);
  if (output == "-" || is_special) return {};
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail_errno("cannot write " + output.string());
  return {};
}

Result<void> write_to(const std::string& path,
                      const std::function<Result<void>(exporters::Sink&)>& write) {
  RINGSIDE_ASSIGN(auto sink, exporters::FileSink::create(path));
  RINGSIDE_TRY(write(sink));
  return sink.commit();
}

namespace {

struct KnownFormat {
  const char* extension;
  OutputFormat format;
};
constexpr KnownFormat kFormats[] = {{".svg", OutputFormat::kSvg},
                                    {".folded", OutputFormat::kFolded},
                                    {".txt", OutputFormat::kFolded},
                                    {".jsonl", OutputFormat::kJsonLines}};

// Extensions of formats that other profilers write.
constexpr const char* kForeign[] = {".png", ".jpg",  ".jpeg", ".gif", ".webp", ".pdf", ".html",
                                    ".htm", ".json", ".pb",   ".gz",  ".csv",  ".data"};

}  // namespace

Result<OutputFormat> format_of(const std::string& path, OutputFormat otherwise,
                               const std::string& asked,
                               const std::vector<OutputFormat>& possible) {
  const std::string extension = std::filesystem::path(path).extension();
  std::string choice;
  std::optional<OutputFormat> named;
  for (const KnownFormat& known : kFormats) {
    if (std::find(possible.begin(), possible.end(), known.format) == possible.end()) continue;
    choice += (choice.empty() ? "" : " or ") + std::string(known.extension);
    if (extension == known.extension) named = known.format;
  }
  const auto is_extension = [&](const char* text) { return extension == text; };
  const bool is_foreign =
      !named && asked.empty() &&
      (std::any_of(std::begin(kForeign), std::end(kForeign), is_extension) ||
       std::any_of(std::begin(kFormats), std::end(kFormats),
                   [&](const KnownFormat& known) { return is_extension(known.extension); }));
  if (is_foreign)
    return fail(ErrorCode::kUsage,
                "-o {}: this command does not write that format; end the name in {}", path, choice);
  if (named && *named != otherwise && !asked.empty())
    return fail(ErrorCode::kUsage, "-o {} and {} disagree on the format: leave out one of them",
                path, asked);
  return named.value_or(otherwise);
}

Result<void> write_stacks(const profile::Profile& profile, const std::string& path,
                          OutputFormat format, const StackStyle& style) {
  return write_to(path, [&](exporters::Sink& sink) {
    if (format == OutputFormat::kSvg) {
      exporters::FlamegraphOptions options;
      options.by = style.by;
      return exporters::write_flamegraph(profile, options, sink);
    }
    if (style.emerald) return exporters::write_emerald_folded(profile, sink);
    exporters::FoldedOptions options;
    options.by = style.by;
    return exporters::write_folded(profile, options, sink);
  });
}

}  // namespace ringside::app
