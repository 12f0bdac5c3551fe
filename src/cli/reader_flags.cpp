#include "cli/reader_flags.h"

#include "cli/import_flags.h"
#include "cli/options.h"
#include "cli/symbol_flags.h"

namespace ringside::cli {

namespace {

void add_place_flags(App& app, app::ReaderSettings& settings) {
  App& names = app.section(kNamesSection);
  names.add_flag("--show-lines", settings.show_lines,
                 "Show each frame's source line behind its name");
  names.add_flag("--show-addresses", settings.show_addresses,
                 "Show each frame's address behind its name");
}

void add_kernel_flags(App& app, app::ReaderSettings& settings) {
  App& names = app.section(kNamesSection);
  names
      .add_option("--kernel", settings.kernel,
                  "The kernel's ELF file, if record did not find it, or it has moved since")
      ->type_name("FILE");
  names
      .add_option("--symbols", settings.kernel_symbols,
                  "The kernel's symbols, if its file has none or too few: System.map, nm's output "
                  "or /proc/kallsyms")
      ->type_name("FILE");
}

void add_advanced_flags(App& app, app::ReaderSettings& settings) {
  App& advanced = app.section(kAdvancedSection);
  advanced
      .add_option("--load-bias", settings.load_bias,
                  "Where the kernel ran minus where it is linked, with --kernel or if the input is "
                  "a TCG plugin's own file (default: detected)")
      ->type_name("HEX");
  add_import_flags(advanced, settings.import);
}

void add_input_flag(App& app, app::ReaderSettings& settings) {
  app.section(kSamplesSection)
      .add_option("-i,--parse,--input,FILE", settings.inputs,
                  "The recording, or the file of another profiler that 'ringside import' takes; - "
                  "is standard input")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->capture_default_str();
}

void add_vcpu_flags(App& which, app::ReaderSettings& settings) {
  Option* const cpus =
      which.add_option("-C,--cpu", settings.cpus, "These vCPUs only, such as 0,2-3")
          ->type_name("LIST");
  which
      .add_option("--cpu-mask", settings.cpu_mask,
                  "The same as a mask, decimal or with 0x: 5 is of the vCPUs 0 and 2")
      ->type_name("MASK")
      ->excludes(cpus);
}

// Those that choose samples, and the format of the input.
void add_filter_flags(App& app, app::ReaderSettings& settings, const std::string& source_names) {
  App& which = app.section(kSamplesSection);
  add_input_format_flag(which, settings.format, FormatHelp::kRefers);
  auto* kernel_flag =
      which.add_flag("-k,--kernel-only", settings.kernel_only, "Samples of kernel code only");
  which.add_flag("-u,--user-only", settings.user_only, "Samples of user code only")
      ->excludes(kernel_flag);
  add_vcpu_flags(which, settings);
  add_owner_flags(app, settings);
  which
      .add_option(source_names, settings.sources,
                  "Samples of these sources only, such as cpu or allocations (default: the "
                  "recording's first)")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  which
      .add_option("--value", settings.value,
                  "Which of their values to add up, such as bytes (default: the first)")
      ->type_name("NAME");
  which
      .add_option("--time", settings.time,
                  "Samples of these seconds of the recording only, such as 1.5,3 or 1.5,")
      ->type_name("RANGE");
}

}  // namespace

void add_reader_flags(App& app, app::ReaderSettings& settings, const std::string& source_names) {
  add_input_flag(app, settings);
  add_filter_flags(app, settings, source_names);
  add_kernel_flags(app, settings);
  add_place_flags(app, settings);
  add_symbol_flags(app, settings.symbols);
  add_advanced_flags(app, settings);
}

void add_allocation_flags(App& app, app::ReaderSettings& settings) {
  add_input_flag(app, settings);
  App& which = app.section(kSamplesSection);
  add_input_format_flag(which, settings.format, FormatHelp::kRefers);
  add_vcpu_flags(which, settings);
  add_owner_flags(app, settings);
  add_kernel_flags(app, settings);
  add_place_flags(app, settings);
  add_symbol_flags(app, settings.symbols);
  add_advanced_flags(app, settings);
}

void add_comparing_flags(App& app, app::ReaderSettings& settings) {
  add_filter_flags(app, settings, "--source");
  add_kernel_flags(app, settings);
  add_symbol_flags(app, settings.symbols);
  add_advanced_flags(app, settings);
}

void add_owner_flags(App& app, app::ReaderSettings& settings) {
  App& which = app.section(kSamplesSection);
  which
      .add_option("-c,--comm,--comms", settings.comms,
                  "Samples of processes and threads of these names only, such as dd,sh")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  which.add_option("--pid", settings.pids, "Samples of these processes only, such as 1,27")
      ->type_name("PIDS")
      ->delimiter(',')
      ->allow_extra_args(false);
  which.add_option("--tid", settings.tids, "Samples of these threads only, such as 1,27")
      ->type_name("TIDS")
      ->delimiter(',')
      ->allow_extra_args(false);
  which.add_flag("--no-irq-join", settings.no_irq_join,
                 "Charge interrupts to nobody ([irq]), not to what they interrupted");
}

}  // namespace ringside::cli
