#pragma once

// Sampling is switched on and off while the kernel runs: by `1` and `0` on COM1, and by the keys
// `a` and `b` of the keyboard (scancodes 30 and 48).
enum class Switch { kNone, kOff, kOn };

// The last that came since the call before. To be called often, by one vCPU.
Switch switched();
