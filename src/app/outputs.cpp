#include "app/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/messages.h"
#include "base/atomic_file.h"
#include "base/shell_word.h"
#include "exporters/lost_in_words.h"

namespace ringside::app {

namespace {

bool is_plain_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

void say_all(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) say("ringside: " + sentence);
}

}  // namespace

Result<void> check_output(const std::filesystem::path& output) {
  if (exporters::descriptor_of(output)) return {};
  RINGSIDE_ASSIGN(const auto file, linked_file(output));
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  const bool is_special = std::filesystem::exists(output, ignored) &&
                          !std::filesystem::is_regular_file(output, ignored);
  if (is_special) return {};
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail_errno("cannot write " + output.string());
  return {};
}

Result<void> check_no_input(const std::filesystem::path& output,
                            const std::vector<std::string>& inputs, const std::string& option) {
  for (const std::string& input : inputs) {
    std::error_code is_not_there;
    if (is_plain_file(output) && std::filesystem::equivalent(output, input, is_not_there))
      return fail(ErrorCode::kUsage, "{} {}: this is the input; give the output another name",
                  option, output.string());
  }
  return {};
}

Result<void> write_to(const std::string& path,
                      const std::function<Result<void>(exporters::Sink&)>& write, bool is_binary) {
  RINGSIDE_ASSIGN(auto sink, exporters::FileSink::create(path));
  if (is_binary) sink.keep_bytes();
  RINGSIDE_TRY(write(sink));
  RINGSIDE_TRY(sink.commit());
  say_all(sink.notes());
  return {};
}

namespace {

// Extensions of formats that other profilers write.
constexpr const char* kForeign[] = {".png",  ".jpg", ".jpeg", ".gif", ".webp", ".pdf",
                                    ".html", ".htm", ".json", ".pb",  ".gz",   ".csv"};

bool has_extension(const std::string& path, std::string_view extension) {
  const std::string name = std::filesystem::path(path).filename();
  return name.size() > extension.size() && std::string_view(name).ends_with(extension);
}

bool has_extension(const std::string& path, const exporters::Format& format) {
  return std::any_of(format.extensions.begin(), format.extensions.end(),
                     [&](const char* extension) { return has_extension(path, extension); });
}

// Whether the extension may be of files in many formats: with --format it says nothing.
bool has_common_extension(const std::string& path) {
  return has_extension(path, ".txt") || has_extension(path, ".json");
}

}  // namespace

Result<const exporters::Format*> format_of(const std::string& path, const std::string& otherwise,
                                           const std::string& asked,
                                           const std::vector<std::string>& possible) {
  const exporters::Format* named = nullptr;
  bool is_of_another = false;
  std::string choice;
  for (const exporters::Format& format : exporters::formats()) {
    const bool is_possible = possible.empty() || std::find(possible.begin(), possible.end(),
                                                           format.name) != possible.end();
    const bool is_named = has_extension(path, format);
    if (is_named && is_possible) named = &format;
    is_of_another |= is_named && !is_possible;
    if (!is_possible) continue;
    for (const char* extension : format.extensions)
      choice += (choice.empty() ? "" : ", ") + std::string(extension);
  }
  is_of_another |= std::any_of(std::begin(kForeign), std::end(kForeign),
                               [&](const char* foreign) { return has_extension(path, foreign); });
  if (named == nullptr && asked.empty() && is_of_another)
    return fail(ErrorCode::kUsage,
                "-o {}: this command does not write that format; end the name in one of {}", path,
                choice);
  if (!asked.empty() && has_common_extension(path)) named = nullptr;
  if (named != nullptr && named->name != otherwise && !asked.empty())
    return fail(ErrorCode::kUsage, "-o {} and {} disagree on the format: leave out one of them",
                path, asked);
  return named != nullptr ? named : exporters::format_named(otherwise);
}

Result<void> check_extension(const std::string& path) {
  std::string known;
  for (const exporters::Format& format : exporters::formats()) {
    if (has_extension(path, format)) return {};
    for (const char* const extension : format.extensions)
      known += (known.empty() ? "" : ", ") + std::string(extension);
  }
  return fail(ErrorCode::kUsage,
              "-o {}: no format has that extension: end the name in one of {}, or name the format "
              "with --format",
              path, known);
}

Result<void> write_profile(const profile::Profile& profile, const std::string& path,
                           const exporters::Format& format,
                           const exporters::ExportOptions& options) {
  const auto write = std::get<exporters::Format::FromProfile>(format.write);
  return write_to(path, [&](exporters::Sink& sink) { return write(profile, options, sink); });
}

Result<void> check_no_recording(const std::string& path) {
  if (path == "-" || !is_plain_file(path) || !recording::Reader::open(path)) return {};
  return fail(ErrorCode::kUsage, "-o {}: this is a recording, which ringside does not replace",
              path);
}

namespace {

// The folder that a format has beside an output that is a file.
Result<std::optional<AtomicFolder>> folder_beside(const std::string& path,
                                                  const exporters::Format& format) {
  std::error_code ignored;
  const bool is_file = !exporters::descriptor_of(path) &&
                       (is_plain_file(path) || !std::filesystem::exists(path, ignored));
  if (format.folder == nullptr || !is_file) return std::optional<AtomicFolder>();
  RINGSIDE_ASSIGN(AtomicFolder folder, AtomicFolder::create(path + format.folder));
  return std::optional<AtomicFolder>(std::move(folder));
}

// Reports lost ticks where the format has no place for them.
void say_lost(const profile::Profile& profile, const exporters::Format& format) {
  const std::string lost = exporters::any_loss_in_words(profile);
  if (lost.empty() || (format.shows_lost && profile.is_whole())) return;
  say(profile.is_whole()
          ? fmt::format("ringside: {}; {} has no place for that", lost, format.name)
          : fmt::format("ringside: of the whole recording, {}; {} has nothing of that", lost,
                        format.name));
}

void say_reader(const std::string& path, const exporters::Format& format) {
  say("ringside: to read it: " + fmt::format(fmt::runtime(format.reader),
                                             fmt::arg("output", shell_word(path)),
                                             fmt::arg("folder", shell_word(path + format.folder))));
}

Result<void> write_details(ReaderSettings settings, const std::string& path,
                           const exporters::Format& format, exporters::ExportOptions options) {
  if (format.takes_option("--cpu")) {
    RINGSIDE_ASSIGN(options.vcpus, chosen_vcpus(settings));
    settings.cpus.clear();
    settings.cpu_mask.clear();
  }
  RINGSIDE_ASSIGN(auto opened, open_details(settings));
  RINGSIDE_ASSIGN(auto folder, folder_beside(path, format));
  if (folder) options.beside = &*folder;
  const auto write = std::get<exporters::Format::FromDetails>(format.write);
  const auto write_both = [&](exporters::Sink& sink) -> Result<void> {
    RINGSIDE_TRY(write(*opened->profile, options, sink));
    return folder ? folder->commit() : Result<void>{};
  };
  RINGSIDE_TRY(write_to(path, write_both, format.is_binary));
  if (folder) say_all(folder->notes());
  if (folder) say_reader(path, format);
  say_lost(opened->profile->profile(), format);
  say_all(opened->profile->profile().left_out);
  const bool is_filtered = !opened->profile->profile().is_whole();
  say_all(opened->recording.symbols.warnings(is_filtered));
  return {};
}

Result<void> write_recording(const ReaderSettings& settings, const std::string& path,
                             const exporters::Format& format) {
  if (settings.filters() || settings.no_irq_join)
    return fail(ErrorCode::kUsage,
                "--format {} writes every sample as it is: -k, -u, -C, --cpu-mask, --comm, --pid, "
                "--tid, --source, "
                "--value, --time and --no-irq-join do not go with it",
                format.name);
  RINGSIDE_ASSIGN(auto opened, open_recording(settings));
  say_damage(opened.reader);
  const auto write = std::get<exporters::Format::FromRecording>(format.write);
  RINGSIDE_TRY(write_to(path, [&](exporters::Sink& sink) -> Result<void> {
    RINGSIDE_ASSIGN(const auto left_out, write(opened.reader, opened.symbols, sink));
    say_all(left_out);
    return {};
  }));
  say_all(opened.symbols.warnings());
  return {};
}

}  // namespace

Result<void> write_export(const ReaderSettings& asked, const std::string& path,
                          const exporters::Format& format,
                          const exporters::ExportOptions& options) {
  RINGSIDE_TRY(check_no_recording(path));
  RINGSIDE_TRY(check_no_input(path, asked.inputs));
  RINGSIDE_ASSIGN(const ReaderSettings settings, resolved(asked));
  if (std::holds_alternative<exporters::Format::FromProfile>(format.write)) {
    RINGSIDE_ASSIGN(const auto profile, open_profile(settings));
    RINGSIDE_TRY(write_profile(profile, path, format, options));
    say_lost(profile, format);
    return {};
  }
  if (std::holds_alternative<exporters::Format::FromRecording>(format.write))
    return write_recording(settings, path, format);
  return write_details(settings, path, format, options);
}

}  // namespace ringside::app
