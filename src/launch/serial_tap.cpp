#include "launch/serial_tap.h"

namespace ringside::launch {
namespace {

constexpr const char* kId = "ringside-serial";

// QEMU's expansion of "mon:stdio": the serial port and the monitor share the terminal (vl.c, QEMU
// 7.2).
void share_terminal_with_monitor(QemuCommand& command, const std::string& log_options) {
  command.add("chardev", fmt::format("stdio,id={},mux=on,signal=off{}", kId, log_options));
  command.add("mon", fmt::format("chardev={},mode=readline", kId));
}

Result<std::filesystem::path> tap_named_device(QemuCommand& command, const std::string& id,
                                               const std::filesystem::path& log,
                                               const std::string& log_options) {
  for (const auto& option : command.options()) {
    if (option.name != "chardev" || !option.value) continue;
    const std::string& value = *option.value;
    const bool is_it =
        value.ends_with(",id=" + id) || value.find(",id=" + id + ",") != std::string::npos;
    if (!is_it) continue;
    const auto at = value.find("logfile=");
    if (at != std::string::npos)
      return std::filesystem::path(value.substr(at + 8, value.find(',', at) - at - 8));
    // Only the first -chardev can be replaced by name; later ones are rewritten in a copy.
    std::vector<std::string> arguments = command.arguments();
    for (std::string& argument : arguments)
      if (argument == value) argument += log_options;
    command = QemuCommand(std::move(arguments));
    return log;
  }
  return fail(ErrorCode::kUsage, "-serial chardev:{} names a -chardev that is not there", id);
}

}  // namespace

Result<std::filesystem::path> tap_serial_port(QemuCommand& command,
                                              const std::filesystem::path& log) {
  const std::string log_options = ",logfile=" + escape_value(log.string()) + ",logappend=off";
  std::optional<std::string> serial;
  for (const auto& option : command.options())
    if (option.name == "serial" && !serial) serial = option.value;

  if (!serial && command.has("nographic") && !command.has("monitor")) {
    share_terminal_with_monitor(command, log_options);
    command.add("serial", fmt::format("chardev:{}", kId));
    return log;
  }
  if (!serial && command.has("nographic")) serial = "stdio";
  if (serial == "mon:stdio") {
    share_terminal_with_monitor(command, log_options);
    command.replace_first("serial", fmt::format("chardev:{}", kId));
    return log;
  }
  if (serial == "stdio") {
    command.add("chardev", fmt::format("stdio,id={}{}", kId, log_options));
    if (command.has("serial"))
      command.replace_first("serial", fmt::format("chardev:{}", kId));
    else
      command.add("serial", fmt::format("chardev:{}", kId));
    return log;
  }
  if (serial && serial->starts_with("file:")) return std::filesystem::path(serial->substr(5));
  if (serial && serial->starts_with("chardev:"))
    return tap_named_device(command, serial->substr(8), log, log_options);
  return fail(ErrorCode::kUnsupported,
              "--after and --until read the guest's serial port; give QEMU -serial stdio, "
              "-serial mon:stdio, -serial file:PATH or -serial chardev:ID (found: {})",
              serial ? "-serial " + *serial : "no -serial");
}

}  // namespace ringside::launch
