#pragma once

// Prints what each vCPU measured: one line a function, shares of the vCPU's measured time.
void print_measurements();
