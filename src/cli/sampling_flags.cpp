#include "cli/sampling_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/cpu_list.h"

namespace ringside::cli {
namespace {

constexpr const char* kQmpSocket = "./qmp-socket";  // where Emerald's build has it

std::uint64_t to_ns(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

}  // namespace

void SamplingFlags::add_to(CLI::App& app) {
  const auto accept = [](std::int64_t) {};  // perf users type what is the default anyway
  auto* way_in = app.add_option_group("Way in");
  way_in
      ->add_option("--gdb,--remote", gdb,
                   "gdb stub to attach to: a Unix socket's path or HOST:PORT")
      ->type_name("ADDR");
  way_in
      ->add_option_function<std::string>(
          "--qmp,--qmp-socket",
          [this](const std::string& address) { qmp = address.empty() ? kQmpSocket : address; },
          "QEMU's monitor (-qmp) to attach to, which opens a gdb stub for the time: a Unix "
          "socket's path or HOST:PORT (default: ./qmp-socket)")
      ->expected(0, 1)
      ->type_name("ADDR");
  way_in->add_option("--engine", engine, "How to capture")
      ->check(CLI::IsMember({"auto", "gdb", "qmp"}))
      ->each([this](const std::string& name) {
        if (name == "qmp" && qmp.empty()) qmp = kQmpSocket;
      })
      ->capture_default_str();
  way_in
      ->add_option(
          "--kernel", kernel,
          "The kernel: its ELF file, or a boot image such as vmlinuz (default: QEMU's -kernel)")
      ->type_name("FILE");
  way_in
      ->add_option("--symbols", symbols,
                   "The kernel's symbols, if its file has none or too few: System.map, nm's output "
                   "or /proc/kallsyms")
      ->type_name("FILE");
  way_in
      ->add_option("--load-bias", load_bias,
                   "Where the kernel runs minus where it is linked (default: found out)")
      ->type_name("HEX");
  way_in->add_option("--os", os, "The guest's operating system")
      ->check(CLI::IsMember({"auto", "linux", "none"}))
      ->capture_default_str();

  auto* what = app.add_option_group("What to sample");
  auto* interval = what->add_option("--interval", interval_ms, "Mean time between samples")
                       ->type_name("MS")
                       ->check(CLI::Range(0.2, 1e7));
  what->add_option("-F,--freq", frequency, "Samples a second, up to 5000")
      ->type_name("HZ")
      ->check(CLI::Range(1e-4, 5000.0))
      ->excludes(interval);
  auto* kernel_flag = what->add_flag("-k,--kernel-only", kernel_only, "Sample kernel code only");
  what->add_flag("-u,--user-only", user_only, "Sample user code only")->excludes(kernel_flag);
  what->add_option("-C,--cpu", cpus, "Sample these vCPUs only, such as 0,2-3")->type_name("LIST");
  what->add_flag_function("-a,--all-cpus", accept, "Sample all vCPUs (the default)");
  what->add_flag_function("-g,--call-graph", accept, "Record stacks (the default)");
  what->add_flag("--no-jitter", no_jitter, "Sample at a fixed cadence");
  what->add_option("--seed", seed, "Of the jitter")->type_name("N")->capture_default_str();
  what->add_option("--stack-bytes", stack_bytes,
                   "Copy this much of each stack (default: 2048, adapting to what walks need)")
      ->type_name("N")
      ->check(CLI::Range(64u, wire::kMaxStackBytes));

  auto* when = app.add_option_group("When");
  when->add_option("-d,--duration", duration_s, "Sample for this long")
      ->type_name("S")
      ->check(CLI::Range(1e-3, 1e9));
  when->add_option("-n,--samples", samples, "Stop after so many stacks; idle vCPUs have none")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  when->add_option("-D,--delay", delay_s, "Wait before the first sample")
      ->type_name("S")
      ->check(CLI::Range(0.0, 1e9));
  when->add_option("--after", after,
                   "Start when the guest's serial port has shown this (with -- COMMAND)")
      ->type_name("TEXT");
  when->add_option("--until", until,
                   "Stop when the guest's serial port has shown this (with -- COMMAND)")
      ->type_name("TEXT");
  when->add_flag("--then-quit", then_quit, "End QEMU when sampling has ended (with -- COMMAND)");
  app.add_flag("-v,--verbose", verbose, "Say more on standard error");
}

Result<session::SamplingOptions> SamplingFlags::options() const {
  session::SamplingOptions options;
  if (interval_ms) options.interval_ns = to_ns(*interval_ms / 1e3);
  if (frequency) options.interval_ns = to_ns(1 / *frequency);
  options.delay_ns = to_ns(delay_s);
  if (duration_s) options.duration_ns = to_ns(*duration_s);
  options.samples = samples;
  options.kernel = !user_only;
  options.user = !kernel_only;
  if (!cpus.empty()) {
    RINGSIDE_ASSIGN(options.vcpus, parse_cpu_list(cpus));
  }
  options.jitter = !no_jitter;
  options.seed = seed;
  options.stack_bytes = stack_bytes.value_or(options.stack_bytes);
  options.keep_captures = keep_captures;
  options.adapt_stack_bytes = !stack_bytes.has_value();
  return options;
}

Result<std::optional<std::uint64_t>> SamplingFlags::load_bias_value() const {
  if (load_bias.empty()) return std::nullopt;
  std::string_view digits = load_bias;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size())
    return fail(ErrorCode::kUsage, "--load-bias {}: give a hexadecimal number such as 0x2d200000",
                load_bias);
  return negative ? 0 - value : value;
}

guestos::GuestOs SamplingFlags::guest_os() const {
  if (os == "linux") return guestos::GuestOs::kLinux;
  return os == "none" ? guestos::GuestOs::kGeneric : guestos::GuestOs::kAuto;
}

}  // namespace ringside::cli
