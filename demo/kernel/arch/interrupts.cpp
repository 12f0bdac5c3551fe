#include "arch/interrupts.h"

#include "arch/instructions.h"
#include "core/panic.h"

extern "C" const u64 exception_entries[32];
extern "C" void irq_entry_tick();
extern "C" void irq_entry_device();
extern "C" void irq_entry_completion();
extern "C" void irq_entry_ipi();
extern "C" void irq_entry_sampler();
extern "C" void irq_entry_spurious();
extern "C" void nmi_entry();
extern "C" void spurious_interrupt() {}

namespace {

struct Gate {
  u64 low, high;
};
Gate g_gates[256];

// A 64-bit interrupt gate in the kernel's code segment (Intel SDM vol. 3, 6.14.1).
void set_gate(u8 vector, u64 entry, u8 ist = 0) {
  g_gates[vector].low = (entry & 0xffff) | 8ull << 16 | static_cast<u64>(ist) << 32 |
                        0x8eull << 40 | (entry >> 16 & 0xffff) << 48;
  g_gates[vector].high = entry >> 32;
}

}  // namespace

void fill_interrupt_table() {
  for (u32 vector = 0; vector < 32; ++vector) {
    const bool own_stack =
        vector == kVectorNmi || vector == 8 || vector == 18;  // double fault, machine check
    set_gate(static_cast<u8>(vector), exception_entries[vector], own_stack ? 1 : 0);
  }
  set_gate(kVectorTick, reinterpret_cast<u64>(&irq_entry_tick));
  set_gate(kVectorDevice, reinterpret_cast<u64>(&irq_entry_device));
  set_gate(kVectorCompletion, reinterpret_cast<u64>(&irq_entry_completion));
  set_gate(kVectorIpi, reinterpret_cast<u64>(&irq_entry_ipi));
  set_gate(kVectorNmi, reinterpret_cast<u64>(&nmi_entry), 1);
  set_gate(kVectorSampler, reinterpret_cast<u64>(&irq_entry_sampler));
  set_gate(kVectorSpurious, reinterpret_cast<u64>(&irq_entry_spurious));
}

void load_interrupt_table() {
  const struct [[gnu::packed]] {
    u16 limit;
    u64 base;
  } pointer{sizeof(g_gates) - 1, reinterpret_cast<u64>(g_gates)};
  asm volatile("lidt %0" : : "m"(pointer));
}

// The frame exception_common leaves.
struct ExceptionFrame {
  u64 vector, error_code, rip, cs, rflags, rsp, ss;
};

extern "C" [[noreturn]] void fatal_exception(const ExceptionFrame* frame, u64 cr2) {
  panic("exception vector=%u error=%x rip=%x cs=%x rsp=%x cr2=%x", frame->vector, frame->error_code,
        frame->rip, frame->cs, frame->rsp, cr2);
}
