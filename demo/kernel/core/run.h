#pragma once

// Starts this vCPU's threads and never returns.
[[noreturn]] void run_vcpu();
