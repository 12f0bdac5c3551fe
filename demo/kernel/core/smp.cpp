#include "core/smp.h"

#include "arch/apic.h"
#include "arch/clock.h"
#include "arch/cpu.h"
#include "arch/fw_cfg.h"
#include "arch/instructions.h"
#include "core/layout.h"
#include "core/memory.h"
#include "core/panic.h"
#include "core/run.h"

extern "C" const char trampoline_begin[], trampoline_end[];

// Read by secondary_high.
extern "C" {
u64 secondary_stack_top;
Cpu* secondary_cpu;
}

namespace {

constexpr u64 kTrampoline = 0x8000;
u32 g_online = 1;

void delay_microseconds(u64 microseconds) {
  const u64 end = read_tsc() + tsc_per_second() / 1000000 * microseconds;
  while (read_tsc() < end) pause();
}

}  // namespace

u32 vcpu_count() { return static_cast<u32>(read_fw_cfg(kFwCfgVcpus, 2)); }

void start_secondary_vcpus(u32 count) {
  memcpy(physical_to_virtual(kTrampoline),
         physical_to_virtual(reinterpret_cast<u64>(trampoline_begin)),
         static_cast<u64>(trampoline_end - trampoline_begin));
  for (u32 id = 1; id < count; ++id) {
    secondary_cpu = new_cpu(id);
    secondary_stack_top = reinterpret_cast<u64>(allocate(kPageSize)) + kPageSize;
    apic_send_init(id);
    delay_microseconds(10000);
    apic_send_startup(id, kTrampoline / kPageSize);
    const u64 limit = read_tsc() + tsc_per_second() * 20;
    while (__atomic_load_n(&g_online, __ATOMIC_ACQUIRE) != id + 1) {
      if (read_tsc() > limit) panic("vCPU %u does not start", static_cast<u64>(id));
      pause();
    }
  }
}

extern "C" void secondary_main(Cpu* cpu) {
  load_cpu(cpu);
  apic_enable();
  __atomic_store_n(&g_online, cpu->id + 1, __ATOMIC_RELEASE);
  run_vcpu();
}
