#include "arch/cpu.h"

#include "arch/instructions.h"
#include "arch/interrupts.h"
#include "core/memory.h"

extern "C" void syscall_entry();

namespace {

constexpr u32 kMsrStar = 0xc0000081, kMsrLstar = 0xc0000082, kMsrFmask = 0xc0000084;
constexpr u32 kMsrGsBase = 0xc0000101, kMsrKernelGsBase = 0xc0000102;
constexpr u64 kFaultStackSize = 4096;

struct [[gnu::packed]] TablePointer {
  u16 limit;
  u64 base;
};

// SYSRET wants user data directly before user code (Intel SDM vol. 2B, SYSRET).
void fill_gdt(Cpu& cpu) {
  const u64 tss = reinterpret_cast<u64>(&cpu.tss);
  cpu.gdt[0] = 0;
  cpu.gdt[1] = 0x00af9b000000ffff;  // 0x08 kernel code
  cpu.gdt[2] = 0x00cf93000000ffff;  // 0x10 kernel data
  cpu.gdt[3] = 0x00cff3000000ffff;  // 0x18 user data
  cpu.gdt[4] = 0x00affb000000ffff;  // 0x20 user code
  cpu.gdt[5] =
      (sizeof(TaskState) - 1) | (tss & 0xffffff) << 16 | 0x89ull << 40 | (tss >> 24 & 0xff) << 56;
  cpu.gdt[6] = tss >> 32;  // 0x28 task state, 16 bytes
}

}  // namespace

Cpu* new_cpu(u32 id) {
  auto* cpu = static_cast<Cpu*>(allocate(sizeof(Cpu)));
  cpu->self = cpu;
  cpu->id = id;
  cpu->irq_depth = -1;
  // Linux's fixed_percpu layout: the slot is the highest word of the stack, and its address never
  // changes.
  cpu->irq_stack_slot = reinterpret_cast<u64>(allocate(kIrqStackBytes)) + kIrqStackBytes - 8;
  cpu->tss.ist[0] = reinterpret_cast<u64>(allocate(kFaultStackSize)) + kFaultStackSize;
  cpu->tss.io_map_base = sizeof(TaskState);
  fill_gdt(*cpu);
  return cpu;
}

void load_cpu(Cpu* cpu) {
  const TablePointer gdt{sizeof(cpu->gdt) - 1, reinterpret_cast<u64>(cpu->gdt)};
  asm volatile(
      "lgdt %0\n"
      "pushq $8\n"
      "leaq 1f(%%rip), %%rax\n"
      "pushq %%rax\n"
      "lretq\n"
      "1: movl $0x10, %%eax\n"
      "movl %%eax, %%ss\n"
      "movl $0x28, %%eax\n"
      "ltr %%ax\n"
      :
      : "m"(gdt)
      : "rax", "memory");
  write_msr(kMsrGsBase, reinterpret_cast<u64>(cpu));
  write_msr(kMsrKernelGsBase, 0);
  write_msr(kMsrStar, 0x0013000800000000);
  write_msr(kMsrLstar, reinterpret_cast<u64>(&syscall_entry));
  write_msr(kMsrFmask, 0x700);  // clears IF, DF, TF
  load_interrupt_table();
}
