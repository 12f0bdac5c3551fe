#include "launch/qemu/qemu_command.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace ringside::launch {
namespace {

// The options of qemu-options.hx that are declared without HAS_ARG, of QEMU 7.2 to 10.
constexpr std::array<std::string_view, 40> kWithoutValue = {"h",
                                                            "help",
                                                            "version",
                                                            "nographic",
                                                            "portrait",
                                                            "full-screen",
                                                            "alt-grab",
                                                            "ctrl-grab",
                                                            "no-quit",
                                                            "sdl",
                                                            "win2k-hack",
                                                            "no-fd-bootchk",
                                                            "no-acpi",
                                                            "no-hpet",
                                                            "s",
                                                            "S",
                                                            "enable-kvm",
                                                            "no-kvm",
                                                            "no-reboot",
                                                            "no-shutdown",
                                                            "snapshot",
                                                            "daemonize",
                                                            "singlestep",
                                                            "nodefaults",
                                                            "no-user-config",
                                                            "preconfig",
                                                            "mem-prealloc",
                                                            "only-migratable",
                                                            "usb",
                                                            "curses",
                                                            "enable-sync-profile",
                                                            "async-teardown",
                                                            "perfmap",
                                                            "jitdump",
                                                            "old-param",
                                                            "audio-help",
                                                            "xen-attach",
                                                            "xen-domid-restrict",
                                                            "semihosting",
                                                            "enable-fips"};

bool takes_value(std::string_view name) {
  return std::find(kWithoutValue.begin(), kWithoutValue.end(), name) == kWithoutValue.end();
}

bool is_stdio(const std::string& device) { return device == "stdio" || device == "mon:stdio"; }

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

QemuCommand::QemuCommand(std::vector<std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      options_.push_back({"", std::move(argument)});
      continue;
    }
    const std::string name = argument.substr(argument.starts_with("--") ? 2 : 1);
    if (takes_value(name) && i + 1 < arguments.size())
      options_.push_back({name, std::move(arguments[++i])});
    else
      options_.push_back({name, std::nullopt});
  }
}

bool QemuCommand::has(std::string_view option) const {
  return std::any_of(options_.begin(), options_.end(),
                     [&](const Option& entry) { return entry.name == option; });
}

std::optional<std::string> QemuCommand::value_of(std::string_view option) const {
  std::optional<std::string> value;
  for (const Option& entry : options_)
    if (entry.name == option) value = entry.value;
  return value;
}

Result<std::optional<std::string>> QemuCommand::gdb_address() const {
  const auto value = value_of("gdb");
  if (!value || *value == "none")
    return has("s") ? std::optional<std::string>("tcp::1234") : std::nullopt;
  if (value->starts_with("tcp:") || value->starts_with("unix:")) return value;
  return fail(ErrorCode::kUnsupported,
              "'-gdb {}' is not a socket that ringside can connect to; leave -gdb out, or use "
              "-gdb unix:PATH,server=on,wait=off",
              *value);
}

bool QemuCommand::only_prints() const {
  return std::any_of(options_.begin(), options_.end(), [](const Option& option) {
    constexpr std::array<std::string_view, 10> kAnswering = {
        "machine", "M", "cpu", "accel", "device", "netdev", "d", "trace", "audiodev", "object"};
    const bool answers =
        std::find(kAnswering.begin(), kAnswering.end(), option.name) != kAnswering.end();
    const bool asks =
        answers && option.value &&
        (*option.value == "help" || *option.value == "?" || option.value->ends_with(",help"));
    return option.name == "version" || option.name == "help" || option.name == "h" || asks;
  });
}

bool QemuCommand::uses_terminal() const {
  if (has("nographic") || has("curses") || value_of("display") == "curses") return true;
  return std::any_of(options_.begin(), options_.end(), [](const Option& option) {
    if (!option.value) return false;
    const bool is_device = option.name == "serial" || option.name == "monitor" ||
                           option.name == "qmp" || option.name == "debugcon" ||
                           option.name == "parallel" || option.name == "virtioconsole";
    return (is_device && is_stdio(*option.value)) ||
           (option.name == "chardev" && option.value->starts_with("stdio"));
  });
}

bool QemuCommand::terminal_is_raw() const {
  if (has("nographic") || has("curses") || value_of("display") == "curses") return true;
  return std::any_of(options_.begin(), options_.end(), [](const Option& option) {
    if (!option.value) return false;
    return *option.value == "mon:stdio" ||
           (option.name == "chardev" && option.value->starts_with("stdio") &&
            option.value->find("signal=off") != std::string::npos);
  });
}

bool QemuCommand::names_flash() const {
  return std::any_of(options_.begin(), options_.end(), [](const Option& option) {
    if (option.name == "pflash") return true;
    const bool may_name_one =
        option.name == "drive" || option.name == "machine" || option.name == "M";
    return may_name_one && option.value && option.value->find("pflash") != std::string::npos;
  });
}

// hw/riscv/boot.c: without -bios it is OpenSBI. hw/arm/virt.c: none but what is given.
bool QemuCommand::has_no_firmware(Arch arch) const {
  if (!has("kernel") || names_flash()) return false;
  const auto bios = value_of("bios");
  return arch == Arch::kRiscv64 ? bios == "none"
                                : arch == Arch::kAArch64 && bios.value_or("none") == "none";
}

// Each of these starts OpenSBI: hw/riscv/{virt,spike,sifive_u}.c of QEMU 10.0. A loader device may
// set where a processor begins.
bool QemuCommand::has_qemus_firmware(Arch arch) const {
  constexpr std::array<std::string_view, 3> kMachines = {"virt", "spike", "sifive_u"};
  if (arch != Arch::kRiscv64 || names_flash()) return false;
  if (value_of("bios").value_or("default") != "default") return false;
  if (has("loadvm") || has("incoming")) return false;
  const std::string machine = value_of("machine").value_or(value_of("M").value_or(""));
  const std::string_view name = std::string_view(machine).substr(0, machine.find(','));
  const bool has_loader = std::any_of(options_.begin(), options_.end(), [](const Option& option) {
    return option.name == "device" && option.value &&
           option.value->find("loader") != std::string::npos;
  });
  return !has_loader && std::find(kMachines.begin(), kMachines.end(), name) != kMachines.end();
}

unsigned QemuCommand::vcpus() const {
  const std::string value = value_of("smp").value_or("1");
  unsigned most = 1;
  unsigned of_topology = 1;
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const std::string_view part = std::string_view(value).substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    const std::string_view name = equals == part.npos ? "cpus" : part.substr(0, equals);
    const std::string_view digits = equals == part.npos ? part : part.substr(equals + 1);
    unsigned count = 1;
    std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (name == "cpus" || name == "maxcpus")
      most = std::max(most, count);
    else
      of_topology *= std::max(count, 1u);
    begin = end + 1;
  }
  return std::max(most, of_topology);
}

bool QemuCommand::has_one_thread() const {
  return has("icount") || std::any_of(options_.begin(), options_.end(), [](const Option& option) {
           return option.name == "accel" && option.value &&
                  option.value->find("thread=single") != std::string::npos;
         });
}

void QemuCommand::add(std::string option, std::string value) {
  options_.push_back({std::move(option), std::move(value)});
}

void QemuCommand::replace_first(std::string_view option, const std::string& value) {
  for (Option& entry : options_) {
    if (entry.name != option) continue;
    entry.value = value;
    return;
  }
}

std::vector<std::string> QemuCommand::arguments() const {
  std::vector<std::string> result;
  for (const Option& option : options_) {
    if (!option.name.empty()) result.push_back("-" + option.name);
    if (option.value) result.push_back(*option.value);
  }
  return result;
}

std::string escape_value(std::string_view text) {
  std::string result;
  for (const char c : text) result.append(c == ',' ? 2 : 1, c);
  return result;
}

std::string explain_unknown_architecture(std::string_view program) {
  // The others of QEMU 7.2 to 11 (configs/targets/*-softmmu.mak).
  constexpr std::string_view kUnknown[] = {
      "alpha",      "arm",          "avr",     "cris",    "hppa",     "loongarch64", "m68k",
      "microblaze", "microblazeel", "mips",    "mips64",  "mips64el", "mipsel",      "nios2",
      "or1k",       "ppc",          "ppc64",   "riscv32", "rx",       "s390x",       "sh4",
      "sh4eb",      "sparc",        "sparc64", "tricore", "xtensa",   "xtensaeb"};
  constexpr std::string_view kPrefix = "qemu-system-";
  std::string_view name = file_name(program);
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  if (std::find(std::begin(kUnknown), std::end(kUnknown), name) == std::end(kUnknown)) return {};
  return fmt::format(
      "{} runs guests of an architecture that ringside does not know: {}. It samples those of "
      "qemu-system-x86_64, -i386, -aarch64 and -riscv64",
      file_name(program), name);
}

bool is_qemu_program(std::string_view program) {
  const std::string_view name = file_name(program);
  return name.starts_with("qemu-system-") || name == "qemu-kvm" || name == "kvm";
}

}  // namespace ringside::launch
