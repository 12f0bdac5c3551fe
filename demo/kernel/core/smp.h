#pragma once

#include "core/types.h"

// The number of vCPUs at boot (-smp), read from QEMU's fw_cfg.
u32 vcpu_count();

// Starts vCPUs 1 to count - 1, one after the other. Each calls run_vcpu().
void start_secondary_vcpus(u32 count);
