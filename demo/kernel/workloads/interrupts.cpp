#include "workloads/interrupts.h"

#include "workloads/work.h"
#include "workloads/workload.h"

namespace {

constexpr const char* kFunctions[] = {"checksum_segment",
                                      "call_heavy",
                                      "tiny_a",
                                      "tiny_b",
                                      "tiny_c",
                                      "tiny_d",
                                      "tiny_e",
                                      "tiny_f",
                                      "parse_packet",
                                      "complete_request",
                                      "flush_translations"};
constexpr u64 kPercent = kInterruptsPercent;

}  // namespace

extern "C" void checksum_segment(u64 n) { spin(n); }
CALLS_LEAF(build_segment, checksum_segment, kChecksumSegment)
CALLS(queue_segment, build_segment)
CALLS(push_pending, queue_segment)
CALLS(stream_send, push_pending)
CALLS(socket_send, stream_send)
CALLS(send_message, socket_send)
CALLS(copy_message, send_message)
CALLS(sys_sendmsg, copy_message)

// 60 percent of a round can be interrupted; the device's timer is set to fire in the first 85
// percent of that at the latest, counted in the vCPU's fastest time. So it fires in every round,
// once, somewhere; if it is late all the same, the round waits for it.
extern "C" void interrupts_round() {
  const u64 base = 60 * kPercent / 1000 * apic_ticks_per_1000_iterations();
  arm_device_interrupt(1 + pseudo_random(base * 85 / 100));
  sys_sendmsg(18 * kPercent);
  call_heavy_up_to(24, 76);
  sys_sendmsg(18 * kPercent);
  wait_for_device_interrupt();
}

static void prepare() {
  calibrate_iterations();
  calibrate_call_heavy();
}

// One thread and no scheduler's timer: this workload uses the local APIC's only timer itself.
constinit const Workload interrupts_workload = {
    .name = "interrupts",
    .summary = "interrupt handlers, three levels, over a deep chain and over many tiny functions",
    .functions = kFunctions,
    .function_count = 11,
    .threads_per_vcpu = 1,
    .only_vcpu0 = false,
    .ticks = false,
    .prepare = prepare,
    .round = interrupts_round,
    .start_processes = nullptr,
};
