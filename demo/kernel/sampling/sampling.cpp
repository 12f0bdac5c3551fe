#include "sampling/sampling.h"

#include "arch/apic.h"
#include "arch/clock.h"
#include "arch/instructions.h"
#include "arch/interrupts.h"
#include "core/command_line.h"
#include "core/console.h"
#include "core/measure.h"
#include "core/memory.h"
#include "core/panic.h"
#include "core/steady_clock.h"
#include "core/thread.h"
#include "heap/trace.h"
#include "process/process.h"
#include "sampling/cost.h"
#include "sampling/drain.h"
#include "sampling/redox_rings.h"
#include "sampling/switch.h"
#include "sampling/walk.h"

extern "C" void kernel_main(u64 start_info);
extern "C" const u64 idle_halted_at;

namespace {

enum class Mode { kOff, kTimer, kNmi };
enum class Format { kOurs, kRedoxA, kRedoxB };

constexpr u32 kRedoxTimerCount = 0xfffff, kRingWords = 16 << 20;

Mode g_mode;
Format g_format;
bool g_is_on;
u32 g_vcpus, g_sampled;
u32 g_timer_count;  // of the local APIC's timer, between two samples
u32 g_ticks_per_schedule;
u32 g_ticks[kMaxCpus];
u64 g_samples, g_samples_wanted;

Mode chosen_mode() {
  char buffer[64];
  const char* name = option("sampling", buffer);
  if (!name) return Mode::kOff;
  if (same_text(name, "timer")) return Mode::kTimer;
  if (same_text(name, "nmi")) return Mode::kNmi;
  panic("sampling=%s: timer or nmi", name);
}

bool are_in_array() {
  char buffer[64];
  const char* name = option("redox-rings", buffer);
  if (!name || same_text(name, "slice")) return false;
  if (same_text(name, "array")) return true;
  panic("redox-rings=%s: slice or array", name);
}

Format chosen_format() {
  char buffer[64];
  const char* name = option("format", buffer);
  if (!name || same_text(name, "ringside")) return Format::kOurs;
  if (same_text(name, "redox-a")) return Format::kRedoxA;
  if (same_text(name, "redox-b")) return Format::kRedoxB;
  panic("format=%s: ringside, redox-a or redox-b", name);
}

u64 clock() { return read_tsc(); }

struct Sampled {
  uintptr_t kernel[RINGSIDE_MAX_FRAMES];
  uintptr_t user[RINGSIDE_MAX_FRAMES];
};
// One for the timer, and one for the NMI that interrupts its handler.
Sampled g_sampled_frames[kMaxCpus][2];

// As many as samples= wants end the run.
void count_sample() {
  if (g_samples_wanted && __atomic_add_fetch(&g_samples, 1, __ATOMIC_RELAXED) >= g_samples_wanted)
    end_steady_clock();
}

void take_sample(ringside_source source, const SavedRegisters& interrupted) {
  if (!__atomic_load_n(&g_is_on, __ATOMIC_RELAXED)) return;
  const Cpu& cpu = this_cpu();
  const bool is_idle = interrupted.rip == idle_halted_at;
  if (is_idle && g_format == Format::kOurs)
    ringside_sample(cpu.id, source, nullptr, nullptr, nullptr);
  if (is_idle) return;
  count_sample();
  if (g_format != Format::kOurs) return take_redox_sample(interrupted);
  Sampled& frames = g_sampled_frames[cpu.id][source == RINGSIDE_NMI];
  const Process* process = cpu.current->process;
  ringside_task task{};
  if (process) {
    task.address_space = cpu.current->page_table;
    task.pid = task.tid = static_cast<u32>(process->pid);
    task.name = process->name;
  }
  ringside_stack kernel, user;
  const SavedRegisters* entered =
      interrupted.is_user() ? &interrupted : entered_from(cpu, interrupted);
  if (!interrupted.is_user()) {
    kernel = walk_kernel(interrupted, frames.kernel);
    const bool is_whole = kernel.stop == RINGSIDE_END || kernel.stop == RINGSIDE_USER_MODE;
    if (!is_whole) entered = nullptr;
    if (entered) kernel.stop = RINGSIDE_USER_MODE;
  }
  if (entered) user = walk_user(*entered, frames.user);
  ringside_sample(cpu.id, source, process ? &task : nullptr,
                  interrupted.is_user() ? nullptr : &kernel, entered ? &user : nullptr);
}

void make_rings(u32 cpus, u32 words, bool drains) {
  if (g_format != Format::kOurs) {
    const bool is_a = g_format == Format::kRedoxA;
    return make_redox_rings(is_a ? RedoxFormat::kA : RedoxFormat::kB, cpus, words, are_in_array());
  }
  ringside_setup setup{};
  setup.bytes = ringside_bytes(cpus, words);
  setup.memory = allocate(setup.bytes);
  setup.cpus = cpus;
  setup.ring_words = words;
  setup.mode = drains ? RINGSIDE_DROP : RINGSIDE_OVERWRITE;
  setup.clock = clock;
  setup.clock_hz = tsc_per_second();
  setup.anchor = reinterpret_cast<const void*>(&kernel_main);
  setup.anchor_name = "kernel_main";
  if (ringside_start(&setup) != 0) panic("the rings cannot be made");
}

bool has_rings() { return g_mode != Mode::kOff || traces_into_rings(); }

void poll_switch() {
  const Switch wanted = switched();
  if (wanted != Switch::kNone) __atomic_store_n(&g_is_on, wanted == Switch::kOn, __ATOMIC_RELAXED);
}

}  // namespace

void choose_sampling(u32 vcpus) {
  choose_allocation_trace();
  g_mode = chosen_mode();
  if (g_mode == Mode::kOff) return;
  g_format = chosen_format();
  g_vcpus = vcpus;
  if (g_mode == Mode::kNmi && vcpus < 2) panic("sampling=nmi needs a vCPU that is set aside");
  const u32 rate = static_cast<u32>(number_option("rate", 0));
  g_timer_count = rate ? apic_ticks_per_second() / rate : kRedoxTimerCount;
  if (!g_timer_count) panic("rate=%u is too high", static_cast<u64>(rate));
}

u32 vcpus_for_work(u32 vcpus) { return g_mode == Mode::kNmi ? vcpus - 1 : vcpus; }

void start_sampling(u32 sampled) {
  if (!has_rings()) return;
  g_sampled = sampled;
  g_samples_wanted = number_option("samples", 0);
  const u32 words = static_cast<u32>(number_option("ring", kRingWords));
  if (!ringside_bytes(sampled, words))
    panic("ring=%u: a power of two from 1024 on", static_cast<u64>(words));
  make_rings(sampled, words, choose_drain(sampled, g_format != Format::kOurs));
  if (g_mode == Mode::kOff) return;
  g_is_on = true;
  print("ringside-demo: sampling by=%s rate=%u rings=%u words=%u\n",
        g_mode == Mode::kNmi ? "nmi" : "timer",
        static_cast<u64>(apic_ticks_per_second() / g_timer_count), static_cast<u64>(sampled),
        static_cast<u64>(words));
  if (number_option("cost", 0) && g_format == Format::kOurs) print_costs();
}

bool is_set_aside(u32 vcpu) { return g_mode == Mode::kNmi && vcpu == g_vcpus - 1; }

u32 timer_count(u32 scheduler_count) {
  if (g_mode != Mode::kTimer) return scheduler_count;
  g_ticks_per_schedule = scheduler_count / g_timer_count;
  return g_timer_count;
}

bool samples_by_timer() { return g_mode == Mode::kTimer; }

bool sampling_tick(const SavedRegisters& interrupted) {
  if (g_mode != Mode::kTimer) return true;
  const Cpu& cpu = this_cpu();
  if (cpu.id == 0) poll_switch();
  take_sample(RINGSIDE_TIMER, interrupted);
  if (++g_ticks[cpu.id] < g_ticks_per_schedule) return false;
  g_ticks[cpu.id] = 0;
  if (cpu.id == 0) wake_drain_daemon();
  return true;
}

extern "C" void nmi_interrupt(const SavedRegisters& interrupted) {
  const InterruptTime time;
  const Cpu& cpu = this_cpu();
  if (g_mode != Mode::kNmi) panic("NMI rip=%x", interrupted.rip);
  if (cpu.id >= g_sampled || !cpu.current) return;
  take_sample(RINGSIDE_NMI, interrupted);
}

extern "C" void sampler_interrupt() {
  apic_end_of_interrupt();
  for (u32 id = 0; id < g_sampled; ++id) apic_send_nmi(id);
  poll_switch();
}

// It runs nothing else: sends NMIs, and drains.
void run_sampler() {
  apic_timer_periodic(kVectorSampler, g_timer_count);
  for (;;) {
    asm volatile("sti; hlt");
    drain_some();
  }
}

void start_drain_daemon() {
  if (g_mode == Mode::kTimer) make_drain_daemon();
}

void finish_sampling() {
  if (!has_rings()) return;
  __atomic_store_n(&g_is_on, false, __ATOMIC_RELAXED);
  const u64 bytes = drain_the_rest();
  u64 lost = 0;
  for (u32 cpu = 0; cpu < g_sampled; ++cpu) {
    if (g_format == Format::kOurs) {
      lost += ringside_lost(cpu);
      continue;
    }
    lost += redox_cut_count(cpu);
    print("ringside-demo: counted vcpu=%u kernel=%u user=%u\n", static_cast<u64>(cpu),
          redox_kernel_count(cpu), redox_user_count(cpu));
  }
  print("ringside-demo: sampled drained=%u lost=%u\n", bytes, lost);
}
