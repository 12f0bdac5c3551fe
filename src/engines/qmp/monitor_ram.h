#pragma once

#include "engines/qemu_ram.h"
#include "engines/qmp/monitor.h"

namespace ringside::engines::qmp {

// Ways to QEMU's RAM for an engine that has no physical reads of its own: places are compared with
// what the monitor's `xp` prints, while the guest runs. There is no slow reader. `monitor` must
// outlive them. `qemu`: its process id, 0 where it is not known.
[[nodiscard]] QemuRam::Ways ways_to_ram(Monitor& monitor, pid_t qemu);

}  // namespace ringside::engines::qmp
