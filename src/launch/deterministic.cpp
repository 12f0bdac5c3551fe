#include "launch/deterministic.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace ringside::launch {
namespace {

constexpr const char* kDate = "2024-01-01T00:00:00";

using Option = QemuCommand::Option;

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_one_of(const QemuCommand& command, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](auto name) { return command.has(name); });
}

// Whether `key=value` stands in an option's value.
bool says(const std::string& value, std::string_view setting) {
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    if (std::string_view(value).substr(begin, end - begin) == setting) return true;
    begin = end + 1;
  }
  return false;
}

Result<void> refuse_what_cannot_be(const QemuCommand& command, const std::string& accelerator) {
  if (accelerator != "tcg")
    return fail(ErrorCode::kUnsupported,
                "--deterministic: under {} the guest's time is the host's; use -accel tcg",
                accelerator);
  for (const Option& option : command.options())
    if (option.name == "accel" && option.value && says(*option.value, "thread=multi"))
      return fail(ErrorCode::kUnsupported,
                  "--deterministic: all vCPUs take turns in one thread; leave thread=multi out");
  if (command.vcpus() > 1)
    return fail(ErrorCode::kUnsupported,
                "--deterministic: all vCPUs take turns in one thread then, and QEMU's plugins "
                "cannot distinguish them there; give the guest one vCPU (-smp 1)");
  const auto icount = command.value_of("icount");
  if (icount && !records_or_replays(command) &&
      (instruction_ns(command) == 0 || !says(*icount, "sleep=off") || says(*icount, "shift=auto") ||
       says(*icount, "align=on")))
    return fail(ErrorCode::kUnsupported,
                "--deterministic: '-icount {}' follows the host's time; leave it out, or give "
                "-icount shift=N,sleep=off",
                *icount);
  return {};
}

// A recording of the run and its replays must have the same options, so nothing is added but the
// shift, without which QEMU has no such clock.
std::vector<std::string> prepare_recorded_run(QemuCommand& command) {
  const std::string icount = command.value_of("icount").value_or("");
  // "-icount 3,…" is the shift too.
  const bool has_shift = icount.find("shift=") != std::string::npos ||
                         icount.substr(0, icount.find(',')).find('=') == std::string::npos;
  if (!has_shift) command.replace_first("icount", "shift=1," + icount);
  std::vector<std::string> warnings;
  if (says(icount, "rr=record"))
    warnings.push_back(
        "this run follows the host's time; its replays (-icount …,rr=replay) are all alike");
  if (instruction_ns(command) == 0)
    warnings.push_back(
        "without a fixed shift=N an instruction counts as 1 ns: --interval 1 is every "
        "1,000,000 instructions");
  return warnings;
}

// Keeps what else -rtc says (driftfix=).
std::string fixed_date(const std::optional<std::string>& users) {
  std::string value = fmt::format("base={},clock=vm", kDate);
  if (!users) return value;
  for (std::size_t begin = 0; begin < users->size();) {
    const std::size_t end = std::min(users->find(',', begin), users->size());
    const std::string part = users->substr(begin, end - begin);
    const bool is_a_date =
        part.starts_with("base=") && part != "base=utc" && part != "base=localtime";
    if (is_a_date) value.replace(0, value.find(','), part);
    if (!part.starts_with("base=") && !part.starts_with("clock=")) value += "," + part;
    begin = end + 1;
  }
  return value;
}

void warn_of_disks(const QemuCommand& command, std::vector<std::string>& warnings) {
  const bool has_disk = has_one_of(command, {"drive", "blockdev", "hda", "hdb", "hdc", "hdd",
                                             "cdrom", "sd", "fda", "fdb", "virtfs", "fsdev"}) ||
                        std::any_of(command.options().begin(), command.options().end(),
                                    [](const Option& option) { return option.name.empty(); });
  if (has_disk)
    warnings.push_back(
        "disks answer by the host's time, so two runs may differ; an initrd does not");
}

void warn_of_host_devices(const QemuCommand& command, std::vector<std::string>& warnings) {
  constexpr std::array<std::string_view, 8> kHostDevices = {
      "rng-random", "rng-egd",         "vfio-",     "usb-host",
      "vhost-",     "ipmi-bmc-extern", "usb-redir", "virtio-9p"};
  for (const Option& option : command.options()) {
    if (!option.value || !is_one_of(option.name, {"device", "object"})) continue;
    for (const std::string_view device : kHostDevices)
      if (option.value->starts_with(device))
        warnings.push_back(
            fmt::format("'-{} {}' answers by the host's time or chance, so two runs may differ",
                        option.name, *option.value));
  }
}

void warn_of_input(const QemuCommand& command, std::vector<std::string>& warnings) {
  const auto serial = command.value_of("serial");
  constexpr std::array<std::string_view, 8> kInteractive = {
      "stdio", "mon:", "pty", "tcp:", "telnet", "unix:", "vc", "udp:"};
  const bool is_interactive =
      command.has("nographic") || command.has("curses") ||
      (serial && std::any_of(kInteractive.begin(), kInteractive.end(),
                             [&](auto kind) { return serial->starts_with(kind); }));
  if (is_interactive)
    warnings.push_back(
        "what is typed on the serial port comes by the host's time: type nothing, or use -serial "
        "file:PATH");
}

}  // namespace

Result<Determinism> make_deterministic(QemuCommand& command, const std::string& accelerator,
                                       std::uint64_t seed) {
  RINGSIDE_TRY(refuse_what_cannot_be(command, accelerator));
  if (records_or_replays(command))
    return Determinism{.warnings = prepare_recorded_run(command), .follows_host = true};
  std::vector<std::string> warnings;
  bool has_no_card = false;
  if (has_one_of(command, {"netdev", "nic", "net"})) {
    if (command.value_of("nic") != "none" && command.value_of("net") != "none")
      warnings.push_back("the network answers by the host's time, so two runs may differ");
  } else if (!command.has("nodefaults")) {
    command.add("nic", "none");
    has_no_card = true;
  }
  warn_of_disks(command, warnings);
  warn_of_host_devices(command, warnings);
  warn_of_input(command, warnings);
  const bool follows_host = !warnings.empty();
  if (has_no_card) warnings.push_back("the guest has no network card (-nic none)");
  if (!command.has("icount")) command.add("icount", "shift=1,sleep=off");
  if (const auto rtc = command.value_of("rtc"))
    command.replace_first("rtc", fixed_date(rtc));
  else
    command.add("rtc", fixed_date(std::nullopt));
  if (!command.has("seed")) command.add("seed", std::to_string(seed));
  return Determinism{std::move(warnings), follows_host};
}

bool records_or_replays(const QemuCommand& command) {
  const auto icount = command.value_of("icount");
  return icount && (says(*icount, "rr=record") || says(*icount, "rr=replay"));
}

std::uint64_t instruction_ns(const QemuCommand& command) {
  constexpr std::string_view kShift = "shift=";
  constexpr unsigned kLargestShift = 10;  // QEMU's
  const std::string icount = command.value_of("icount").value_or("");
  const std::size_t found = icount.find(kShift);
  unsigned shift = 0;
  const std::size_t at = found == std::string::npos ? 0 : found + kShift.size();
  const auto [end, error] =
      std::from_chars(icount.data() + at, icount.data() + icount.size(), shift);
  return error != std::errc{} || shift > kLargestShift ? 0 : std::uint64_t{1} << shift;
}

}  // namespace ringside::launch
