#pragma once

#include "engines/qemu_ram.h"
#include "engines/qmp/monitor.h"

namespace ringside::engines::qmp {

// Access to QEMU's RAM for an engine that has no physical reads of its own: places are compared
// with what the monitor's `xp` prints, while the guest runs. There is no fallback reader. `monitor`
// must outlive it. `qemu`: its process id, 0 where it is not known.
[[nodiscard]] QemuRam::Access ram_access(Monitor& monitor, pid_t qemu);

}  // namespace ringside::engines::qmp
