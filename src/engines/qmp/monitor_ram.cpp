#include "engines/qmp/monitor_ram.h"

#include "engines/qmp/hmp_memory.h"

namespace ringside::engines::qmp {

QemuRam::Access ram_access(Monitor& monitor, pid_t qemu) {
  QemuRam::Access access;
  access.qemu = qemu;
  access.monitor_command = [&monitor](const std::string& command) {
    return monitor.human(command);
  };
  access.visit_physical = [&monitor](const std::vector<GuestPhys>& places, std::size_t size,
                                     const auto& visit) -> Result<void> {
    std::vector<std::byte> bytes(size);
    for (const GuestPhys place : places) {
      RINGSIDE_ASSIGN(const std::string text, monitor.human(dump_command("xp", place.value, size)));
      visit(place, std::span(bytes).first(parse_dump(text, place.value, bytes)));
    }
    return {};
  };
  return access;
}

}  // namespace ringside::engines::qmp
