#pragma once

#include "process/process.h"

// Starts a process of the running vCPU, in an address space of its own.
void start_process(const Program& program);
