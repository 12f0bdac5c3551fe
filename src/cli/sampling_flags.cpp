#include "cli/sampling_flags.h"

#include "cli/cpu_list.h"
#include "cli/options.h"
#include "wire/recipe.h"

namespace ringside::cli {
namespace {

constexpr const char* kQmpSocket = "./qmp-socket";  // where Emerald's build has it

std::uint64_t to_ns(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

}  // namespace

void SamplingFlags::add_to(App& app) {
  add_what(app.section("Samples to take"));
  add_when(app.section("When"));
  add_guest(app.section("A guest that runs already"));
  App& names = app.section(kNamesSection);
  names
      .add_option("--kernel", kernel,
                  "The kernel: its ELF file, or a boot image such as vmlinuz (default: QEMU's "
                  "-kernel, else "
                  "the ELF file here or below whose code the guest runs)")
      ->type_name("FILE");
  names
      .add_option("--symbols", symbols,
                  "The kernel's symbols, if its file has none or too few: System.map, nm's output "
                  "or /proc/kallsyms")
      ->type_name("FILE");
  app.section(kSamplesSection);  // profile has some
  system.add_to(app.section("The guest's system and its programs"));
  app.section(kOutputSection);  // the command's own
  add_engine(app.section("Engine"));
  const auto accept = [](std::int64_t) {};  // perf users type what is the default anyway
  App& advanced = app.section(kAdvancedSection);
  advanced.add_flag("-v,--verbose", verbose, "Say more on standard error");
  advanced
      .add_option("--load-bias", load_bias,
                  "Where the kernel runs minus where it is linked (default: detected)")
      ->type_name("HEX");
  advanced.add_flag_function("-a,--all-cpus", accept, "Sample all vCPUs (the default)");
  advanced.add_flag_function("-g,--call-graph", accept, "Record stacks (the default)");
}

void SamplingFlags::add_what(App& what) {
  auto* rate = what.add_option("-F,--freq", frequency,
                               "Samples a second in which the guest runs, up to 10000")
                   ->type_name("HZ")
                   ->range(1e-4, 10000.0);
  what.add_option("--interval", interval_ms,
                  "Instead of -F: mean milliseconds between samples, in which the guest runs")
      ->type_name("MS")
      ->range(0.1, 1e7)
      ->excludes(rate);
  auto* kernel_flag = what.add_flag("-k,--kernel-only", kernel_only, "Sample kernel code only");
  what.add_flag("-u,--user-only", user_only, "Sample user code only")->excludes(kernel_flag);
  what.add_option("-C,--cpu", cpus, "Sample these vCPUs only, such as 0,2-3")->type_name("LIST");
}

void SamplingFlags::add_when(App& when) {
  when.add_option("-d,--duration", duration_s, "Sample for this long")
      ->type_name("SECONDS")
      ->range(1e-3, 1e9);
  when.add_option("-n,--samples", samples, "Stop after so many stacks; idle vCPUs have none")
      ->type_name("N")
      ->positive_number();
  when.add_option("-D,--delay", delay_s, "Wait before the first sample")
      ->type_name("SECONDS")
      ->range(0.0, 1e9);
  when.add_option(
          "--after", after,
          "Start when the guest's serial port has shown this (needs a QEMU that ringside starts)")
      ->type_name("TEXT");
  when.add_option(
          "--until", until,
          "Stop when the guest's serial port has shown this (needs a QEMU that ringside starts)")
      ->type_name("TEXT");
  when.add_flag("--then-quit", then_quit,
                "End QEMU when sampling has ended (needs a QEMU that ringside starts)");
}

void SamplingFlags::add_guest(App& guest) {
  guest
      .add_option("--gdb,--remote", gdb,
                  "gdb stub to attach to: a Unix socket's path, HOST:PORT or PORT")
      ->type_name("ADDR");
  guest
      .add_option_function(
          "--qmp,--qmp-socket",
          [this](const std::string& address) { qmp = address.empty() ? kQmpSocket : address; },
          "QEMU's monitor (-qmp) to attach to: a Unix socket's path or HOST:PORT (default: "
          "./qmp-socket). It opens a gdb stub for the time; where it has one already, samples are "
          "what it prints")
      ->expected(0, 1)
      ->type_name("ADDR");
  guest
      .add_option("--ring", ring,
                  "The file that a QEMU with -plugin libringside-tcg.so,ring=FILE shares; with "
                  "--qmp its monitor reports when the guest is paused")
      ->type_name("FILE");
}

void SamplingFlags::add_engine(App& how) {
  how.add_option("--engine", engine,
                 "How to capture: tcg is a plugin of QEMU 9.2 and newer that does not stop the "
                 "guest, gdb works everywhere, qmp needs only the monitor; auto takes the best "
                 "that can be")
      ->type_name("NAME")
      ->one_of({"auto", "tcg", "gdb", "qmp"})
      ->capture_default_str();
  how.add_option("--stack-bytes", stack_bytes,
                 "Copy this much of each stack (default: 2048, adapting to what walks need)")
      ->type_name("N")
      ->range(64u, wire::kMaxStackBytes);
  how.add_flag("--no-stop", no_stop, "With --qmp: never stop the guest; stacks may then be torn");
  how.add_flag("--deterministic", deterministic,
               "Make two runs of the guest the same: instructions are its clock, and samples are "
               "taken by them (needs a QEMU 9.2 or newer that ringside starts)");
  how.add_option("--seed", seed,
                 "Seed of the jitter and, with --deterministic, of the guest's random numbers")
      ->type_name("N")
      ->capture_default_str();
  how.add_flag("--no-jitter", no_jitter, "Sample at a fixed cadence");
}

void SamplingFlags::settle(bool has_command) {
  if (engine == "qmp" && qmp.empty() && gdb.empty() && !has_command) qmp = kQmpSocket;
}

launch::LaunchRequest SamplingFlags::launch_request() const {
  launch::LaunchRequest request;
  request.engine = engine;
  request.taps_serial = !after.empty() || !until.empty();
  request.deterministic = deterministic;
  request.seed = seed;
  return request;
}

Result<session::SamplingOptions> SamplingFlags::options() const {
  session::SamplingOptions options;
  if (interval_ms) options.interval_ns = to_ns(*interval_ms / 1e3);
  if (frequency) options.interval_ns = to_ns(1 / *frequency);
  options.delay_ns = to_ns(delay_s);
  if (duration_s) options.duration_ns = to_ns(*duration_s);
  options.samples = samples;
  options.every_vcpu = one_shot;
  options.kernel = !user_only;
  options.user = !kernel_only;
  if (!cpus.empty()) {
    RINGSIDE_ASSIGN(options.vcpus, parse_cpu_list(cpus));
  }
  options.jitter = !no_jitter;
  options.deterministic = deterministic;
  options.seed = seed;
  options.stack_bytes = stack_bytes.value_or(options.stack_bytes);
  options.keep_captures = keep_captures;
  options.adapt_stack_bytes = !stack_bytes.has_value();
  return options;
}

}  // namespace ringside::cli
