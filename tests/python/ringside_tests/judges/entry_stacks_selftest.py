"""Tests of entry_stacks.py with hand-written stacks."""
import unittest

from ringside_tests.judges import entry_stacks

FAULT = ("asm_exc_page_fault", "exc_page_fault", "handle_mm_fault")
READ = ("entry_SYSCALL_64_after_hwframe", "do_syscall_64", "__x64_sys_read", "read_zero")
DROP = ("entry_INT80_32", "do_int80_syscall_32", "__ia32_sys_madvise")
TICK = ("asm_sysvec_apic_timer_interrupt", "irq_exit_rcu")
SOUND = [(entry_stacks.FAULTS + FAULT, 50), (entry_stacks.READS + READ, 30), (entry_stacks.DROPS + DROP, 20),
         (entry_stacks.READS[:3] + TICK, 2), (entry_stacks.FAULTS, 9)]
FAULT_I386 = ("handle_exception", "exc_page_fault")


class EntryStacks(unittest.TestCase):
    def failures(self, stacks, least=50, percent=95):
        return entry_stacks.check(entry_stacks.count(stacks), least, percent)[1]

    def test_sound_stacks_pass(self):
        self.assertEqual(self.failures(SOUND), [])

    def test_too_few_samples_are_reported(self):
        self.assertEqual(len(self.failures(SOUND, 51)), 2)
        self.assertEqual(len(self.failures([])), 2)

    def test_kernel_stacks_that_stand_on_nothing_or_on_a_leaf_are_reported(self):
        for user in ((), ("touch_pages",)):
            self.assertEqual(self.failures([*SOUND, (user + FAULT, 2)]), [])
            self.assertEqual(len(self.failures([*SOUND, (user + FAULT, 3)])), 1)

    def test_another_user_stack_is_reported(self):
        for bad in (entry_stacks.READS + FAULT, entry_stacks.DROPS + READ, ("_start", "touch_pages") + TICK,
                    entry_stacks.FAULTS[1:] + FAULT, ("use_files",) + FAULT, ("_start", "run", "touch_pages")):
            self.assertEqual(len(self.failures([*SOUND, (bad, 1)])), 1, bad)

    def test_the_ways_in(self):
        for kernel, way in ((FAULT, "page fault"), (FAULT_I386, "page fault"), (READ[:2], "system call"),
                            (("handle_exception", "sysvec_apic_timer_interrupt"), "interrupt"), (TICK, "interrupt"),
                            (("asm_common_interrupt", "common_interrupt"), "interrupt"),
                            (("handle_exception",), None), (("ret_from_fork", "kthread"), None)):
            self.assertEqual(entry_stacks.entry_kind(kernel)[0], way, kernel)

    def test_stacks_are_read_in_order_outermost_frame_first(self):
        lines = ['{"engine":"tcg"}', '{"stacks":[{"frames":[{"functions":["read_zero"]},{"functions":[]}]},'
                 '{"frames":[{"functions":["leaf","inlined_into"]},{"functions":["_start"]}]}]}', '{"stacks":[]}']
        self.assertEqual(entry_stacks.in_order(lines), [(("_start", "inlined_into", "leaf", "?", "read_zero"), 1), ((), 1)])

    def test_samples_before_the_first_whole_stack_with_kernel_code_are_set_aside(self):
        leaf, user = (("touch_pages",) + FAULT, 1), (entry_stacks.FAULTS, 1)
        self.assertEqual(entry_stacks.since_known([user, leaf, leaf, *SOUND, leaf]), (3, [*SOUND, leaf]))
        self.assertEqual(entry_stacks.since_known([leaf, user]), (2, []))

    def test_kernel_code_of_other_processes_does_not_count(self):
        self.assertEqual(self.failures([*SOUND, (("ret_from_fork", "kthread"), 50)]), [])


if __name__ == "__main__":
    unittest.main()
