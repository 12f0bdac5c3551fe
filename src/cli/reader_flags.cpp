#include "cli/reader_flags.h"

#include "cli/options.h"
#include "cli/symbol_flags.h"

namespace ringside::cli {

void add_reader_flags(App& app, app::ReaderSettings& settings) {
  App& which = app.section(kSamplesSection);
  which
      .add_option("-i,--input,FILE", settings.input,
                  "The recording, what the TCG plugin has written by itself, or folded stacks; - "
                  "is folded stacks on standard input")
      ->type_name("FILE")
      ->capture_default_str();
  which
      .add_option_function(
          "--input-format",
          [&settings](const std::string& name) {
            settings.format = name == "folded"      ? app::InputFormat::kFolded
                              : name == "recording" ? app::InputFormat::kRecording
                                                    : app::InputFormat::kAuto;
          },
          "The kind of input: recording, folded, or auto, as its contents show")
      ->type_name("NAME")
      ->one_of({"auto", "recording", "folded"})
      ->default_str("auto");
  auto* kernel_flag =
      which.add_flag("-k,--kernel-only", settings.kernel_only, "Samples of kernel code only");
  which.add_flag("-u,--user-only", settings.user_only, "Samples of user code only")
      ->excludes(kernel_flag);
  which.add_option("-C,--cpu", settings.cpus, "These vCPUs only, such as 0,2-3")->type_name("LIST");
  add_owner_flags(app, settings);
  which
      .add_option("--source", settings.sources,
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
  names.add_flag("--show-lines", settings.show_lines,
                 "Show each frame's source line behind its name");
  names.add_flag("--show-addresses", settings.show_addresses,
                 "Show each frame's address behind its name");
  add_symbol_flags(app, settings.symbols);
  app.section(kAdvancedSection)
      .add_option("--load-bias", settings.load_bias,
                  "Where the kernel ran minus where it is linked, with --kernel or if the input is "
                  "a TCG plugin's own file (default: detected)")
      ->type_name("HEX");
}

void add_owner_flags(App& app, app::ReaderSettings& settings) {
  App& which = app.section(kSamplesSection);
  which
      .add_option("--comm,--comms", settings.comms,
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
