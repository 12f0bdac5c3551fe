#pragma once

// Prints how many ticks of the time stamp counter the guest library's calls take, for stacks of
// several depths: instructions, where QEMU counts a nanosecond for each (-icount shift=0). The
// rings exist already.
void print_costs();
