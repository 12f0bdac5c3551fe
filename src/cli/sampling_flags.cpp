#include "cli/sampling_flags.h"

#include "cli/guest_system_flags.h"
#include "cli/options.h"
#include "wire/recipe.h"

namespace ringside::cli {
namespace {

void add_what(App& what, app::SamplingSettings& settings) {
  auto* rate = what.add_option("-F,--freq", settings.frequency,
                               "Samples a second in which the guest runs, up to 10000")
                   ->type_name("HZ")
                   ->range(1e-4, 10000.0);
  what.add_option("--interval", settings.interval,
                  "Instead of -F: mean time between samples, in which the guest runs, such as "
                  "200us, 10ms or 0.1s; milliseconds without a unit")
      ->type_name("TIME")
      ->excludes(rate);
  auto* kernel_flag =
      what.add_flag("-k,--kernel-only", settings.kernel_only, "Sample kernel code only");
  what.add_flag("-u,--user-only", settings.user_only, "Sample user code only")
      ->excludes(kernel_flag);
  what.add_option("-C,--cpu", settings.cpus, "Sample these vCPUs only, such as 0,2-3")
      ->type_name("LIST");
}

void add_count(App& when, app::SamplingSettings& settings, Counted counted) {
  if (counted == Counted::kRounds)
    when.add_option("-n,--samples", settings.rounds,
                    "Stop after so many rounds, each of one sample of every vCPU, idle or not "
                    "('ringside record -n' counts stacks)")
        ->type_name("N")
        ->positive_number();
  else
    when.add_option("-n,--samples", settings.samples,
                    "Stop after so many stacks; idle vCPUs have none ('ringside profile -n' counts "
                    "rounds)")
        ->type_name("N")
        ->positive_number();
}

void add_when(App& when, app::SamplingSettings& settings, Counted counted) {
  when.add_option("-d,--duration", settings.duration_s,
                  "Sample for this long: seconds, or such as 500ms or 2m")
      ->seconds(counted == Counted::kRounds ? 0 : 1e-3, 1e9);  // profile: 0 is one shot
  add_count(when, settings, counted);
  when.add_option("-D,--delay", settings.delay_s, "Wait before the first sample")
      ->seconds(0.0, 1e9);
  when.add_option(
          "--after", settings.after,
          "Start when the guest's serial port has shown this (needs a QEMU that ringside starts)")
      ->type_name("TEXT");
  when.add_option(
          "--until", settings.until,
          "Stop when the guest's serial port has shown this (needs a QEMU that ringside starts)")
      ->type_name("TEXT");
  when.add_flag("--then-quit", settings.then_quit,
                "End QEMU when sampling has ended (needs a QEMU that ringside starts)");
}

void add_guest(App& guest, app::SamplingSettings& settings, Counted counted) {
  auto* gdb = guest
                  .add_option("--gdb", settings.gdb,
                              "gdb stub to attach to: a Unix socket's path, HOST:PORT or PORT")
                  ->type_name("ADDR");
  const bool has_seconds = counted == Counted::kRounds;
  guest
      .add_option_function(
          "--remote",
          [&settings, has_seconds](const std::string& address) {
            settings.gdb = address;
            settings.is_osdks = has_seconds;
          },
          has_seconds
              ? "The same, as Asterinas' OSDK has it: an --interval without a unit is in seconds"
              : "The same, as Asterinas' OSDK has it")
      ->type_name("ADDR")
      ->excludes(gdb);
  guest
      .add_option_function(
          "--qmp,--qmp-socket",
          [&settings](const std::string& address) {
            settings.qmp = address.empty() ? app::kQmpSocket : address;
          },
          "QEMU's monitor (-qmp) to attach to: a Unix socket's path or HOST:PORT (default: "
          "./qmp-socket). It opens a gdb stub for the time; where it has one already, samples are "
          "what it prints")
      ->expected(0, 1)
      ->type_name("ADDR");
  guest
      .add_option("--ring", settings.ring,
                  "The file that a QEMU with -plugin libringside-tcg.so,ring=FILE shares; with "
                  "--qmp its monitor reports when the guest is paused")
      ->type_name("FILE");
  guest
      .add_option("--serial", settings.serial,
                  "A serial device, FIFO or socket that a kernel with ringside's guest library "
                  "drains its rings to, also on real hardware")
      ->type_name("LINE");
  guest
      .add_option(
          "--redox-rings", settings.redox_rings,
          "The guest has the rings of Redox' kernel at this symbol or address, with --engine "
          "ring (kernel::profiling::BUFS_RAW; until 2026-04 kernel::profiling::BUFS)")
      ->type_name("SYMBOL");
  guest
      .add_option(
          "--context-names", settings.context_names,
          "Names of the kernel's contexts for --redox-rings, instead of those in its memory: lines "
          "of an id, a space and a name")
      ->type_name("FILE");
  guest
      .add_option("--cpu-freq", settings.cpu_frequency,
                  "The rate of the guest's counter, if its kernel does not know it, with --engine "
                  "ring or --serial")
      ->type_name("GHZ");
}

void add_engine(App& how, app::SamplingSettings& settings) {
  const auto choose = [&settings](const std::string& name) {
    settings.engine = launch::engine_named(name).value_or(launch::EngineKind::kAuto);
  };
  const std::vector<std::string> engines(launch::kEngineNames.begin(), launch::kEngineNames.end());
  how.add_option_function(
         "--engine", choose,
         "How to capture: tcg is a plugin of QEMU 9.2 and newer that does not stop the "
         "guest, gdb works everywhere, qmp needs only the monitor; ring reads samples that a "
         "kernel with ringside's guest library takes itself; auto takes the best of the others "
         "that can be")
      ->type_name("NAME")
      ->one_of(engines)
      ->default_str(std::string(name_of(settings.engine)));
  how.add_option("--stack-bytes", settings.stack_bytes,
                 "Copy this much of each stack (default: 2048, adapting to what walks need)")
      ->type_name("N")
      ->range(64u, wire::kMaxStackBytes);
  how.add_flag("--no-stop", settings.no_stop,
               "With --qmp: never stop the guest; stacks may then be torn");
  how.add_flag("--leave-stub", settings.leave_stub,
               "With --qmp: leave the guest's gdb stub alone, even while nobody uses it");
  how.add_flag("--deterministic", settings.deterministic,
               "Make two runs of the guest the same: instructions are its clock, and samples are "
               "taken by them (needs a QEMU 9.2 or newer that ringside starts)");
  how.add_flag("--host-priority", settings.host_priority,
               "While it records, give QEMU and its session a higher priority on a busy host: nice "
               "-12 (takes CAP_SYS_NICE, and a QEMU that ringside starts)");
  how.add_option("--seed", settings.seed,
                 "Seed of the jitter and, with --deterministic, of the guest's random numbers")
      ->type_name("N")
      ->capture_default_str();
  how.add_flag("--no-jitter", settings.no_jitter, "Sample at a fixed cadence");
}

}  // namespace

void add_sampling_flags(App& app, app::SamplingSettings& settings, Counted counted) {
  add_what(app.section("Samples to take"), settings);
  add_when(app.section("When"), settings, counted);
  add_guest(app.section("A guest that runs already"), settings, counted);
  App& names = app.section(kNamesSection);
  names
      .add_option("--kernel", settings.kernel,
                  "The kernel: its ELF file, or a boot image such as vmlinuz (default: QEMU's "
                  "-kernel, else "
                  "the ELF file here or below whose code the guest runs)")
      ->type_name("FILE");
  names
      .add_option("--symbols", settings.symbols,
                  "The kernel's symbols, if its file has none or too few: System.map, nm's output "
                  "or /proc/kallsyms")
      ->type_name("FILE");
  app.section(kSamplesSection);  // profile has some
  add_guest_system_flags(app.section("The guest's system and its programs"), settings.system);
  app.section(kOutputSection);  // the command's own
  add_engine(app.section("Engine"), settings);
  const auto accept = [](std::int64_t) {};  // perf users type what is the default anyway
  App& advanced = app.section(kAdvancedSection);
  advanced.add_flag("-v,--verbose", settings.verbose, "Say more on standard error");
  advanced
      .add_option("--load-bias", settings.load_bias,
                  "Where the kernel runs minus where it is linked (default: detected)")
      ->type_name("HEX");
  advanced.add_flag_function("-a,--all-cpus", accept, "Sample all vCPUs (the default)");
  advanced.add_flag_function("-g", accept, "Record stacks (the default)");
  advanced
      .add_option_function(
          "--call-graph", [](const std::string&) {},
          "Accepted as of perf: each stack is unwound by all that the kernel's file and its memory "
          "have")
      ->type_name("MODE")
      ->refuse("lbr", "stacks are walked without branch records, so leave it out")
      ->refuse("dwarf,", "--stack-bytes N is how much of each stack is copied; give dwarf alone")
      ->one_of({"fp", "dwarf"});
}

}  // namespace ringside::cli
