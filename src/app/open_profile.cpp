#include "app/open_profile.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "app/folded_input.h"
#include "app/import_session.h"
#include "app/input_files.h"
#include "app/messages.h"
#include "app/settings/cpu_list.h"
#include "app/settings/load_bias.h"
#include "app/settings/time_range.h"
#include "exporters/empty_in_words.h"
#include "launch/private_folder.h"
#include "naming/image_symbols.h"
#include "profile/builder.h"
#include "recording/reader.h"
#include "symbols/nm/kernel_symbols.h"

namespace ringside::app {

bool ReaderSettings::filters() const {
  return kernel_only || user_only || !cpus.empty() || !cpu_mask.empty() || !comms.empty() ||
         !pids.empty() || !tids.empty() || !sources.empty() || !value.empty() || !time.empty();
}

namespace {

std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t kMostListed = 20;
  std::vector<std::string_view> first;
  for (const std::string& name : names)
    if (first.size() < kMostListed) first.emplace_back(name);
  const std::size_t left = names.size() - first.size();
  return fmt::format("{}{}", fmt::join(first, ", "),
                     left == 0 ? std::string() : fmt::format(" and {} more", left));
}

// The filters would leave nothing over.
Result<void> check_owners(const ReaderSettings& settings, const profile::Profile& profile) {
  const auto has_name = [&](const std::string& comm) {
    return profile.process_names.count(comm) != 0;
  };
  if (profile.knows_processes && !settings.comms.empty() &&
      std::none_of(settings.comms.begin(), settings.comms.end(), has_name))
    return fail(ErrorCode::kNotFound, "{}: no sample is of {}; there are {}", settings.input(),
                fmt::join(settings.comms, " or "), listed(profile.process_names));
  if (profile.knows_processes ||
      (settings.comms.empty() && settings.pids.empty() && settings.tids.empty()))
    return {};
  return fail(ErrorCode::kNotFound,
              "{}: no sample says which process it belongs to, so --comm, --pid and --tid find "
              "nothing",
              settings.input());
}

// An input without a sample is no success. The warnings of its writer may be the reason.
Result<void> check_samples(const ReaderSettings& settings, const profile::Profile& profile) {
  const std::string why = exporters::empty_in_words(profile);
  if (why.empty() || settings.may_be_empty) return {};
  for (const std::string& warning : profile.warnings) say("ringside: " + warning);
  return fail(ErrorCode::kNotFound, "{}: there is no sample: {}", settings.input(), why);
}

// `option` chooses sources.
void say_other_sources(const profile::Profile& profile, const char* option) {
  std::vector<std::string> texts;
  for (const profile::OtherSource& other : profile.other_sources)
    texts.push_back(fmt::format("{} samples of {} ({})", other.samples, other.name,
                                fmt::join(other.values, ", ")));
  if (!texts.empty())
    say(fmt::format("ringside: not shown are {}; {} shows them by name", fmt::join(texts, ", "),
                    option));
}

Result<recording::Reader> open_recorded(const std::string& path) {
  auto reader = recording::Reader::open(path);
  std::error_code ignored;
  if (reader || std::filesystem::exists(path, ignored)) return reader;
  return fail(reader.error().code, "{}: make a recording with 'ringside record', or name its file",
              reader.error().message);
}

ImportRequest import_request(const ReaderSettings& settings) {
  ImportRequest request;
  request.inputs = settings.inputs;
  request.format = settings.format;
  request.kernel = settings.kernel;
  request.symbols = settings.kernel_symbols;
  request.load_bias = settings.load_bias;
  request.settings = settings.import;
  return request;
}

// The file of another program becomes a recording that is gone again when it is closed.
Result<recording::Reader> open_imported(const ReaderSettings& settings) {
  RINGSIDE_ASSIGN(const auto folder, launch::PrivateFolder::create_for_large_files());
  ImportRequest request = import_request(settings);
  request.output = folder.path() / "ringside.data";
  request.is_temporary = true;
  RINGSIDE_TRY(import_files(request));
  return recording::Reader::open(request.output);
}

Result<recording::Reader> open_reader(const ReaderSettings& settings) {
  if (settings.format != kRecordingFormat) return open_imported(settings);
  if (settings.inputs.size() > 1)
    return fail(ErrorCode::kUsage, "{} is one of several inputs: give one recording",
                settings.inputs[1]);
  RINGSIDE_ASSIGN(const std::string path, path_of_input(settings.input()));
  std::error_code ignored;
  if (path != settings.input() && std::filesystem::file_size(path, ignored) == 0)
    return fail(ErrorCode::kFormat, "standard input is empty: pipe a file of a profiler into it");
  return open_recorded(path);
}

}  // namespace

Result<ReaderSettings> resolved(const ReaderSettings& settings) {
  ReaderSettings known = settings;
  std::error_code ignored;
  if (known.format == kAutoFormat && known.input() != "-" &&
      !std::filesystem::exists(known.input(), ignored))
    known.format = kRecordingFormat;
  RINGSIDE_ASSIGN(known.format, resolved_format(import_request(known)));
  return known;
}

Result<OpenRecording> open_recording(const ReaderSettings& asked) {
  RINGSIDE_ASSIGN(const ReaderSettings settings, resolved(asked));
  RINGSIDE_ASSIGN(const auto load_bias, parse_load_bias(settings.load_bias));
  if (load_bias && settings.kernel.empty() && settings.format == kRecordingFormat)
    return fail(ErrorCode::kUsage, "--load-bias is where the file of --kernel ran: give both");
  if (settings.import.is_given() && settings.format == kRecordingFormat)
    return fail(ErrorCode::kUsage,
                "{} is a recording: --cpu-freq, --context-names and --maestro-cut are for files of "
                "other profilers",
                settings.input());
  RINGSIDE_ASSIGN(auto reader, open_reader(settings));
  naming::ImageSymbols::Options options{.style = settings.symbols.style(),
                                        .inlines = settings.symbols.inlines(),
                                        .beyond_sizes = settings.symbols.beyond_sizes,
                                        .files = settings.symbols.files(),
                                        .kernel = {.file = settings.kernel,
                                                   .load_bias = load_bias,
                                                   .symbols = std::nullopt,
                                                   .symbols_name = settings.kernel_symbols}};
  if (!settings.kernel_symbols.empty()) {
    RINGSIDE_ASSIGN(options.kernel.symbols, symbols::read_kernel_symbols(settings.kernel_symbols));
  }
  return OpenRecording{std::move(reader), naming::ImageSymbols(std::move(options)),
                       settings.format != kRecordingFormat};
}

Result<std::vector<VcpuId>> chosen_vcpus(const ReaderSettings& settings) {
  if (!settings.cpu_mask.empty()) return parse_cpu_mask(settings.cpu_mask);
  return settings.cpus.empty() ? std::vector<VcpuId>() : parse_cpu_list(settings.cpus);
}

namespace {

Result<profile::BuildOptions> build_options(const ReaderSettings& settings) {
  profile::BuildOptions options;
  options.show_addresses = settings.show_addresses;
  options.show_lines = settings.show_lines;
  options.filter.kernel_only = settings.kernel_only;
  options.filter.user_only = settings.user_only;
  options.filter.comms = settings.comms;
  options.filter.pids = settings.pids;
  options.filter.tids = settings.tids;
  options.join_interrupts = !settings.no_irq_join;
  options.span_ns = settings.span_ns;
  options.source_lines = settings.source_lines;
  options.sources = settings.sources;
  options.value = settings.value;
  RINGSIDE_ASSIGN(const TimeRange times, parse_time_range(settings.time));
  options.filter.from_ns = times.from_ns;
  options.filter.to_ns = times.to_ns;
  RINGSIDE_ASSIGN(options.filter.vcpus, chosen_vcpus(settings));
  return options;
}

}  // namespace

void say_damage(const recording::Reader& recording) {
  if (const std::string damage = recording.damage(); !damage.empty())
    say(fmt::format("ringside: {}: {}", recording.name(), damage));
}

Result<profile::Profile> open_profile(const ReaderSettings& asked) {
  RINGSIDE_ASSIGN(const ReaderSettings settings, resolved(asked));
  RINGSIDE_ASSIGN(auto folded, open_folded(settings));
  if (folded) return std::move(*folded);
  RINGSIDE_ASSIGN(const auto options, build_options(settings));
  RINGSIDE_ASSIGN(auto opened, open_recording(settings));
  RINGSIDE_ASSIGN(auto profile, profile::build_profile(opened.reader, opened.symbols, options));
  RINGSIDE_TRY(check_owners(settings, profile));
  say_other_sources(profile, "--source");
  say_damage(opened.reader);
  RINGSIDE_TRY(check_samples(settings, profile));
  for (const std::string& warning : opened.symbols.warnings(!profile.is_whole()))
    say("ringside: " + warning);
  return profile;
}

Result<std::unique_ptr<OpenDetails>> open_details(const ReaderSettings& settings,
                                                  DetailSources sources) {
  RINGSIDE_ASSIGN(auto options, build_options(settings));
  options.every_source = sources == DetailSources::kEvery;
  RINGSIDE_ASSIGN(auto recording, open_recording(settings));
  auto opened = std::make_unique<OpenDetails>(OpenDetails{std::move(recording), nullptr});
  RINGSIDE_ASSIGN(opened->profile,
                  profile::DetailedProfile::read(opened->recording.reader,
                                                 opened->recording.symbols, std::move(options)));
  RINGSIDE_TRY(check_owners(settings, opened->profile->profile()));
  if (sources == DetailSources::kFirst)
    say_other_sources(opened->profile->profile(), "--sample-source");
  say_damage(opened->recording.reader);
  RINGSIDE_TRY(check_samples(settings, opened->profile->profile()));
  return opened;
}

}  // namespace ringside::app
