// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/* A Linux module for x86_64 that samples the kernel and the user code below: docs/inside-a-guest.md shows how to use it.

   A timer of each CPU takes the samples. It waits while interrupts are off. With `nmi=1` it sends an NMI to the next CPU
   instead, and that waits for nothing: each CPU is sampled at its neighbour's pace. */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/apic.h>
#include <asm/cpu_entry_area.h>
#include <asm/irq_regs.h>
#include <asm/nmi.h>
#include <asm/tsc.h>
#include <asm/unwind.h>

#include "ringside_guest.h"

static unsigned int rate = 1000;
module_param(rate, uint, 0444);
MODULE_PARM_DESC(rate, "samples of each CPU in a second");

static bool nmi;
module_param(nmi, bool, 0444);
MODULE_PARM_DESC(nmi, "sample by NMIs, also where interrupts are off; needs two CPUs");

enum { RING_WORDS = 1 << 16 }; /* of each CPU: seconds of samples */

/* One sample at a time is taken on a CPU: by its timer, or by its NMI. */
struct sampler {
	struct hrtimer timer;
	uintptr_t kernel[RINGSIDE_MAX_FRAMES];
	uintptr_t user[RINGSIDE_MAX_FRAMES];
};
static DEFINE_PER_CPU(struct sampler, samplers);
static void *rings;

static uint64_t read_clock(void) { return rdtsc(); }

/* Adds the callers of code that was interrupted, by the kernel's own unwinder, which knows them all. */
static void follow(struct pt_regs *regs, struct ringside_stack *stack, uintptr_t *frames)
{
	static const struct ringside_registers none;
	struct unwind_state state;

	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state); unwind_next_frame(&state)) {
		const unsigned long pc = unwind_get_return_address(&state);
		struct pt_regs *met = unwind_get_entry_regs(&state, NULL); /* where an interrupt or a system call came */

		if (met && user_mode(met))
			stack->stop = RINGSIDE_USER_MODE;
		else if (pc && stack->count == RINGSIDE_MAX_FRAMES)
			stack->stop = RINGSIDE_TOO_DEEP;
		if (!pc || stack->stop != RINGSIDE_NO_RULE)
			return;
		if (met) /* the pc is no return address */
			ringside_note_interruption(stack, &none, 0, 0, NULL);
		frames[stack->count++] = pc;
	}
	if (stack->count > 1 && !unwind_error(&state))
		stack->stop = RINGSIDE_END;
}

/* Entry code may not have saved user code's registers yet. It has no frame on a thread's stack. */
static bool is_entry(unsigned long sp)
{
	return sp < TASK_SIZE_MAX || sp - CPU_ENTRY_AREA_BASE < CPU_ENTRY_AREA_MAP_SIZE ||
	       sp - (unsigned long)task_pt_regs(current) <= sizeof(struct pt_regs);
}

static struct ringside_stack walk_kernel(struct pt_regs *regs, uintptr_t *frames)
{
	struct ringside_stack stack = { .frames = frames, .count = 1, .stop = RINGSIDE_NO_RULE };
	struct pt_regs caller = *regs;

	frames[0] = regs->ip;
	if (is_entry(regs->sp)) {
		stack.stop = RINGSIDE_USER_MODE;
		return stack;
	}
	follow(regs, &stack, frames);
	if (stack.count > 1 || regs->sp - (unsigned long)task_stack_page(current) >= THREAD_SIZE)
		return stack;
	/* A retpoline's thunk, of which the unwinder knows nothing: its caller is on top of the stack. */
	caller.ip = frames[stack.count++] = *(unsigned long *)regs->sp;
	caller.sp += sizeof(caller.ip);
	follow(&caller, &stack, frames);
	if (stack.count == 2) /* it was no caller */
		stack = (struct ringside_stack){ .frames = frames, .count = 1, .stop = RINGSIDE_NO_RULE };
	return stack;
}

static int read_user(uintptr_t address, uintptr_t *word)
{
	return !copy_from_user_nofault(word, (const void __user *)address, sizeof(*word));
}

/* By frame pointers: a program without them has its innermost frame. */
static struct ringside_stack walk_user(const struct pt_regs *regs, uintptr_t *frames)
{
	const struct ringside_registers at = { .pc = regs->ip, .sp = regs->sp, .fp = regs->bp };

	return ringside_walk(&at, PAGE_SIZE, TASK_SIZE_MAX, read_user, frames);
}

static void take_sample(struct pt_regs *regs, enum ringside_source source)
{
	struct sampler *sampler = this_cpu_ptr(&samplers);
	const int cpu = smp_processor_id();
	const bool is_kernel = !user_mode(regs);
	const bool is_process = current->mm && !(current->flags & PF_KTHREAD); /* has not given up its memory */
	const bool has_user = is_process && !(is_kernel && is_entry(regs->sp));
	const struct ringside_task task = { read_cr3_pa(), task_tgid_nr(current), task_pid_nr(current), current->comm };
	struct ringside_stack kernel, user;

	if (is_idle_task(current) && !in_serving_softirq()) { /* softirqs may run on top of it */
		ringside_sample(cpu, source, NULL, NULL, NULL);
		return;
	}
	if (is_kernel)
		kernel = walk_kernel(regs, sampler->kernel);
	if (has_user)
		user = walk_user(is_kernel ? task_pt_regs(current) : regs, sampler->user);
	ringside_sample(cpu, source, &task, is_kernel ? &kernel : NULL, has_user ? &user : NULL);
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	take_sample(regs, RINGSIDE_NMI);
	return NMI_HANDLED;
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	if (nmi)
		apic->send_IPI(cpumask_next_wrap(smp_processor_id(), cpu_online_mask, -1, false), NMI_VECTOR);
	else
		take_sample(get_irq_regs(), RINGSIDE_TIMER);
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_SEC / rate));
	return HRTIMER_RESTART;
}

/* On each CPU, one after the other: an NMI is not to meet the timer's own handler at the next CPU. CPUs that come online
   later are not sampled. */
static void start_timer(void *unused)
{
	struct hrtimer *timer = &this_cpu_ptr(&samplers)->timer;
	const u64 period = NSEC_PER_SEC / rate;

	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = on_timer;
	hrtimer_start(timer, ns_to_ktime(period + period * smp_processor_id() / nr_cpu_ids), HRTIMER_MODE_REL_PINNED_HARD);
}

static int __init start(void)
{
	const size_t bytes = ringside_bytes(nr_cpu_ids, RING_WORDS);
	struct ringside_setup setup = {
		.bytes = bytes,
		.cpus = nr_cpu_ids,
		.ring_words = RING_WORDS,
		.mode = RINGSIDE_OVERWRITE,
		.clock = read_clock,
		.clock_hz = 1000ull * tsc_khz,
		.anchor = _printk, /* of the kernel itself, which may be anywhere */
		.anchor_name = "_printk",
	};

	if (!rate || rate > 100000 || (nmi && num_online_cpus() < 2))
		return -EINVAL;
	rings = vzalloc(bytes); /* ringside follows the page tables */
	if (!rings)
		return -ENOMEM;
	setup.memory = rings;
	ringside_start(&setup);
	if (nmi)
		register_nmi_handler(NMI_LOCAL, on_nmi, 0, "ringside");
	on_each_cpu(start_timer, NULL, true);
	pr_info("ringside: %u samples a second of each CPU by %s\n", rate, nmi ? "NMIs" : "its timer");
	return 0;
}

static void __exit stop(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		hrtimer_cancel(&per_cpu(samplers, cpu).timer);
	if (nmi)
		unregister_nmi_handler(NMI_LOCAL, "ringside");
	memset(rings, 0, PAGE_SIZE); /* no reader finds them in free memory */
	vfree(rings);
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("samples the kernel for ringside");
