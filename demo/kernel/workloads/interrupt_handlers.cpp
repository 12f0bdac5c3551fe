#include "arch/apic.h"
#include "arch/interrupts.h"
#include "workloads/interrupts.h"
#include "workloads/work.h"

namespace {

constexpr u64 kPercent = kInterruptsPercent;

// This round's interrupts that a vCPU has handled.
struct [[gnu::aligned(64)]] Progress {
  volatile bool device_done, completion_done;
};
Progress g_progress[kMaxCpus];

INLINE Progress& progress() { return g_progress[this_cpu().id]; }

}  // namespace

void arm_device_interrupt(u64 apic_ticks) {
  progress().device_done = false;
  apic_timer_one_shot(kVectorDevice, static_cast<u32>(apic_ticks));
}

void wait_for_device_interrupt() {
  while (!progress().device_done) pause();
}

extern "C" void parse_packet(u64 n) { spin(n); }
CALLS_LEAF(protocol_input, parse_packet, kParsePacket)
CALLS(receive_packet, protocol_input)
CALLS(poll_ring, receive_packet)

extern "C" void complete_request(u64 n) { work(kCompleteRequest, n); }
CALLS(complete_queue, complete_request)

extern "C" void flush_translations(u64 n) { work(kFlushTranslations, n); }

// Each handler ends its interrupt at once and lets others in: they nest on the same interrupt
// stack.
extern "C" void device_interrupt() {
  const InterruptTime time;
  apic_end_of_interrupt();
  progress().completion_done = false;
  const u64 duration = 20 * kPercent / 1000 * apic_ticks_per_1000_iterations();
  apic_timer_one_shot(kVectorCompletion, static_cast<u32>(1 + pseudo_random(duration * 85 / 100)));
  enable_interrupts();
  poll_ring(20 * kPercent);
  while (!progress().completion_done) pause();
  disable_interrupts();
  progress().device_done = true;
}

extern "C" void completion_interrupt() {
  const InterruptTime time;
  apic_end_of_interrupt();
  enable_interrupts();
  complete_queue(13 * kPercent / 2);
  apic_send_self_ipi(kVectorIpi);
  complete_queue(13 * kPercent / 2);
  disable_interrupts();
  progress().completion_done = true;
}

extern "C" void ipi_interrupt() {
  const InterruptTime time;
  apic_end_of_interrupt();
  flush_translations(7 * kPercent);
}
