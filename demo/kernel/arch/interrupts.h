#pragma once

#include "core/types.h"

constexpr u8 kVectorNmi = 2;

// Vectors of the local APIC's interrupts. Each has its own entry stub in arch/interrupt_entry.S.
constexpr u8 kVectorTick = 0x40;    // scheduler
constexpr u8 kVectorDevice = 0x50;  // workload `interrupts`: one-shot timer in running code
constexpr u8 kVectorCompletion =
    0x60;                        // workload `interrupts`: one-shot timer inside the device handler
constexpr u8 kVectorIpi = 0x70;  // workload `interrupts`: self-IPI inside the completion handler
constexpr u8 kVectorSampler = 0x80;  // of the vCPU that is set aside: NMIs are to be sent
constexpr u8 kVectorSpurious = 0xff;

void fill_interrupt_table();
void load_interrupt_table();
