#include "cli/open_profile.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/cpu_list.h"
#include "cli/import_session.h"
#include "cli/load_bias.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "launch/private_folder.h"
#include "naming/image_symbols.h"
#include "profile/builder.h"
#include "recording/reader.h"
#include "symbols/nm/kernel_symbols.h"

namespace ringside::cli {

bool ReaderFlags::filters() const {
  return kernel_only || user_only || !cpus.empty() || !comms.empty() || !pids.empty() ||
         !tids.empty();
}

void ReaderFlags::add_to(App& app) {
  App& which = app.section(kSamplesSection);
  which
      .add_option("-i,--input,FILE", input,
                  "The recording, or what the TCG plugin has written by itself")
      ->type_name("FILE")
      ->capture_default_str();
  auto* kernel_flag =
      which.add_flag("-k,--kernel-only", kernel_only, "Samples of kernel code only");
  which.add_flag("-u,--user-only", user_only, "Samples of user code only")->excludes(kernel_flag);
  which.add_option("-C,--cpu", cpus, "These vCPUs only, such as 0,2-3")->type_name("LIST");
  add_owners_to(app);
  App& names = app.section(kNamesSection);
  names
      .add_option("--kernel", kernel,
                  "The kernel's ELF file, if record did not find it, or it has moved since")
      ->type_name("FILE");
  names
      .add_option("--symbols", kernel_symbols,
                  "The kernel's symbols, if its file has none or too few: System.map, nm's output "
                  "or /proc/kallsyms")
      ->type_name("FILE");
  names.add_flag("--show-lines", show_lines, "Show each frame's source line behind its name");
  names.add_flag("--show-addresses", show_addresses, "Show each frame's address behind its name");
  symbols.add_to(app);
  app.section(kAdvancedSection)
      .add_option("--load-bias", load_bias,
                  "Where the kernel ran minus where it is linked, with --kernel or if the input is "
                  "a TCG plugin's own file (default: detected)")
      ->type_name("HEX");
}

void ReaderFlags::add_owners_to(App& app) {
  App& which = app.section(kSamplesSection);
  which
      .add_option("--comm,--comms", comms,
                  "Samples of processes and threads of these names only, such as dd,sh")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  which.add_option("--pid", pids, "Samples of these processes only, such as 1,27")
      ->type_name("PIDS")
      ->delimiter(',')
      ->allow_extra_args(false);
  which.add_option("--tid", tids, "Samples of these threads only, such as 1,27")
      ->type_name("TIDS")
      ->delimiter(',')
      ->allow_extra_args(false);
  which.add_flag("--no-irq-join", no_irq_join,
                 "Charge interrupts to nobody ([irq]), not to what they interrupted");
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
Result<void> check_owners(const ReaderFlags& flags, const profile::Profile& profile) {
  const auto has_name = [&](const std::string& comm) {
    return profile.process_names.count(comm) != 0;
  };
  if (profile.knows_processes && !flags.comms.empty() &&
      std::none_of(flags.comms.begin(), flags.comms.end(), has_name))
    return fail(ErrorCode::kNotFound, "{}: no sample is of {}; there are {}", flags.input,
                fmt::join(flags.comms, " or "), listed(profile.process_names));
  if (profile.knows_processes || (flags.comms.empty() && flags.pids.empty() && flags.tids.empty()))
    return {};
  return fail(ErrorCode::kNotFound,
              "{}: no sample says which process it belongs to, so --comm, --pid and --tid find "
              "nothing",
              flags.input);
}

Result<recording::Reader> open_recorded(const std::string& path) {
  auto reader = recording::Reader::open(path);
  std::error_code ignored;
  if (reader || std::filesystem::exists(path, ignored)) return reader;
  return fail(reader.error().code, "{}: make a recording with 'ringside record', or name its file",
              reader.error().message);
}

// A plugin's own file becomes a recording that is gone again when it is closed.
Result<recording::Reader> open_reader(const ReaderFlags& flags) {
  if (!is_plugin_file(flags.input)) return open_recorded(flags.input);
  RINGSIDE_ASSIGN(const auto folder, launch::PrivateFolder::create());
  ImportRequest request;
  request.input = flags.input;
  request.output = folder.path() / "ringside.data";
  request.kernel = flags.kernel;
  request.symbols = flags.kernel_symbols;
  request.load_bias = flags.load_bias;
  RINGSIDE_TRY(import_plugin_file(request));
  return recording::Reader::open(request.output);
}

}  // namespace

Result<OpenRecording> open_recording(const ReaderFlags& flags) {
  RINGSIDE_ASSIGN(const auto load_bias, parse_load_bias(flags.load_bias));
  if (load_bias && flags.kernel.empty() && !is_plugin_file(flags.input))
    return fail(ErrorCode::kUsage, "--load-bias is where the file of --kernel ran: give both");
  RINGSIDE_ASSIGN(auto reader, open_reader(flags));
  naming::ImageSymbols::Options options{.style = flags.symbols.style(),
                                        .inlines = flags.symbols.inlines(),
                                        .files = flags.symbols.files(),
                                        .kernel = {.file = flags.kernel,
                                                   .load_bias = load_bias,
                                                   .symbols = std::nullopt,
                                                   .symbols_name = flags.kernel_symbols}};
  if (!flags.kernel_symbols.empty()) {
    RINGSIDE_ASSIGN(options.kernel.symbols, symbols::read_kernel_symbols(flags.kernel_symbols));
  }
  return OpenRecording{std::move(reader), naming::ImageSymbols(std::move(options))};
}

Result<profile::Profile> open_profile(const ReaderFlags& flags) {
  profile::BuildOptions options;
  options.show_addresses = flags.show_addresses;
  options.show_lines = flags.show_lines;
  options.filter.kernel_only = flags.kernel_only;
  options.filter.user_only = flags.user_only;
  options.filter.comms = flags.comms;
  options.filter.pids = flags.pids;
  options.filter.tids = flags.tids;
  options.join_interrupts = !flags.no_irq_join;
  if (!flags.cpus.empty()) {
    RINGSIDE_ASSIGN(options.filter.vcpus, parse_cpu_list(flags.cpus));
  }
  RINGSIDE_ASSIGN(auto opened, open_recording(flags));
  RINGSIDE_ASSIGN(auto profile, profile::build_profile(opened.reader, opened.symbols, options));
  RINGSIDE_TRY(check_owners(flags, profile));
  if (!profile.damage.empty()) say("ringside: " + profile.damage);
  for (const std::string& warning : opened.symbols.warnings()) say("ringside: " + warning);
  return profile;
}

}  // namespace ringside::cli
