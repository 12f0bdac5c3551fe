#include "cli/open_profile.h"

#include <CLI/CLI.hpp>

#include "cli/cpu_list.h"
#include "cli/terminal.h"
#include "profile/builder.h"
#include "recording/reader.h"
#include "session/image_symbols.h"
#include "symbols/nm/kernel_symbols.h"

namespace ringside::cli {

void ReaderFlags::add_to(CLI::App& app) {
  app.add_option("-i,--input", input, "The recording")->type_name("FILE")->capture_default_str();
  app.add_option("--kernel", kernel,
                 "The kernel's ELF file, if it is no longer where it was recorded")
      ->type_name("FILE");
  app.add_option("--symbols", kernel_symbols,
                 "The kernel's symbols, if its file has none or too few: System.map, nm's output "
                 "or /proc/kallsyms")
      ->type_name("FILE");
  symbols.add_to(app);
  app.add_option("-C,--cpu", cpus, "These vCPUs only, such as 0,2-3")->type_name("LIST");
  auto* kernel_flag = app.add_flag("-k,--kernel-only", kernel_only, "Samples of kernel code only");
  app.add_flag("-u,--user-only", user_only, "Samples of user code only")->excludes(kernel_flag);
  app.add_flag("--show-lines", show_lines, "Show each frame's source line behind its name");
  app.add_flag("--show-addresses", show_addresses, "Show each frame's address behind its name");
}

Result<OpenRecording> open_recording(const ReaderFlags& flags) {
  RINGSIDE_ASSIGN(auto reader, recording::Reader::open(flags.input));
  session::ImageSymbols::Options options{.style = flags.symbols.style(),
                                         .inlines = flags.symbols.inlines(),
                                         .files = flags.symbols.files(),
                                         .kernel_override = flags.kernel,
                                         .kernel_symbols = std::nullopt,
                                         .kernel_symbols_name = flags.kernel_symbols};
  if (!flags.kernel_symbols.empty()) {
    RINGSIDE_ASSIGN(options.kernel_symbols, symbols::read_kernel_symbols(flags.kernel_symbols));
  }
  return OpenRecording{std::move(reader), session::ImageSymbols(std::move(options))};
}

Result<profile::Profile> open_profile(const ReaderFlags& flags) {
  profile::BuildOptions options;
  options.show_addresses = flags.show_addresses;
  options.show_lines = flags.show_lines;
  options.filter.kernel_only = flags.kernel_only;
  options.filter.user_only = flags.user_only;
  if (!flags.cpus.empty()) {
    RINGSIDE_ASSIGN(options.filter.vcpus, parse_cpu_list(flags.cpus));
  }
  RINGSIDE_ASSIGN(auto opened, open_recording(flags));
  RINGSIDE_ASSIGN(auto profile, profile::build_profile(opened.reader, opened.symbols, options));
  if (!profile.damage.empty()) say("ringside: " + profile.damage);
  for (const std::string& warning : opened.symbols.warnings()) say("ringside: " + warning);
  return profile;
}

}  // namespace ringside::cli
