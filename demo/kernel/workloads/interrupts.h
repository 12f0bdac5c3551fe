#pragma once

#include "core/types.h"

// Numbers of the functions of the workload `interrupts`.
enum InterruptFunction : u32 {
  kChecksumSegment,
  kCallHeavy,
  kTinyA,
  kTinyB,
  kTinyC,
  kTinyD,
  kTinyE,
  kTinyF,
  kParsePacket,
  kCompleteRequest,
  kFlushTranslations,
};

// Iterations of the one loop for one percent of a round. A round takes some 40 ms under TCG.
// Shorter ones would measure the host: with more vCPUs than processors a vCPU that is stopped while
// it waits for a processor first takes the interrupt that has become due meanwhile, and each access
// to the timer may wait for QEMU.
constexpr u64 kInterruptsPercent = 80000;

// The handlers' side: every round one device interrupt, one completion interrupt inside its
// handler, one self-IPI inside the completion's handler.
void arm_device_interrupt(u64 apic_ticks);
void wait_for_device_interrupt();

// Local APIC timer ticks that 1000 iterations take on this vCPU at the least.
u64 apic_ticks_per_1000_iterations();
void calibrate_iterations();

// A number below `limit`, another one at each call.
u64 pseudo_random(u64 limit);

// Many calls of tiny functions, until their own time is `numerator` / `denominator` of the time of
// the vCPU's counted functions.
void call_heavy_up_to(u64 numerator, u64 denominator);
void calibrate_call_heavy();
