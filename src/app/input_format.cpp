#include "app/input_format.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "importers/foreign_file.h"
#include "recording/block.h"
#include "wire/sample_file.h"

namespace ringside::app {
namespace {

using importers::Format;
using importers::ImportOptions;
using importers::Input;
using importers::Likeness;

bool begins_with(const Input& input, std::span<const char> magic) {
  return input.text().starts_with(std::string_view(magic.data(), magic.size()));
}

std::optional<std::string> own_format_of(const Input& input) {
  // The reader of recordings explains an empty file, and one that was cut early.
  const std::span<const char> magic(recording::kFileMagic);
  if (begins_with(input, magic.first(std::min(input.bytes.size(), magic.size()))))
    return kRecordingFormat;
  if (begins_with(input, wire::kSampleFileMagic)) return kPluginFormat;
  return std::nullopt;
}

// The formats that all inputs are alike. The ring of an idle CPU is empty. Binary data without a
// mark is taken for a format only by a kernel's addresses in it.
std::vector<const Format*> alike(std::span<const Input> inputs, const ImportOptions& options,
                                 Likeness least) {
  std::vector<const Format*> found;
  for (const Format& format : importers::formats())
    if ((format.has_mark || !options.kernel_code.empty()) &&
        std::all_of(inputs.begin(), inputs.end(), [&](const Input& input) {
          return input.bytes.empty() || format.likeness(input, options) >= least;
        }))
      found.push_back(&format);
  return found;
}

Result<std::string> one_of(const std::vector<const Format*>& formats, const Input& input) {
  if (formats.size() == 1) return std::string(formats.front()->name);
  if (formats.empty())
    return fail(ErrorCode::kFormat,
                "{} is not a recording, nor a file of another profiler that is recognized by its "
                "contents; name its format with --input-format (raw data needs --kernel, too)",
                input.name);
  std::vector<std::string> names;
  for (const Format* format : formats) names.emplace_back(format->name);
  return fail(ErrorCode::kUsage, "{} may be of several formats: choose --input-format {}",
              input.name, fmt::join(names, " or "));
}

// With --separate-threads, callgrind leaves the file that has the given name empty.
Result<void> check_threads_of_callgrind(const std::string& name) {
  const std::string first = name + "-01";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(first, ignored)) return {};
  return fail(
      ErrorCode::kFormat,
      "{} is empty: with --separate-threads, callgrind writes a file of each thread: give {} "
      "and the others, each with -i",
      name, first);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> input_formats() {
  std::vector<std::pair<std::string, std::string>> all = {
      {kRecordingFormat, "ringside's own"}, {kPluginFormat, "the TCG plugin's file (out=FILE)"}};
  for (const Format& format : importers::formats()) all.emplace_back(format.name, format.summary);
  return all;
}

Result<std::string> format_of_inputs(
    std::span<const Input> inputs,
    const std::function<Result<std::vector<importers::CodeRange>>()>& kernel_code) {
  const auto filled = std::find_if(inputs.begin(), inputs.end(),
                                   [](const Input& input) { return !input.bytes.empty(); });
  const Input& first = filled == inputs.end() ? inputs.front() : *filled;
  if (first.was_compressed && first.bytes.empty())
    return fail(ErrorCode::kFormat, "{} is compressed, and there is nothing in it", first.name);
  if (first.bytes.empty()) RINGSIDE_TRY(check_threads_of_callgrind(first.name));
  const auto own = own_format_of(first);
  if (own && first.was_compressed)
    return fail(ErrorCode::kFormat, "{} is a compressed file of ringside: unpack it first",
                first.name);
  if (own) return *own;
  ImportOptions options;
  const auto certain = alike(inputs, options, Likeness::kCertain);
  if (!certain.empty()) return one_of(certain, first);
  if (const std::string_view foreign = importers::foreign_file(first.bytes); !foreign.empty())
    return fail(ErrorCode::kFormat, "{} {}", first.name, foreign);
  RINGSIDE_ASSIGN(options.kernel_code, kernel_code());
  return one_of(alike(inputs, options, Likeness::kFits), first);
}

}  // namespace ringside::app
