"""Tests of what complete_stacks.py and kernel_symbols.py demand, with hand-written kernels and stacks."""
import unittest

from ringside_tests.harness import linux_guest
from ringside_tests.judges import complete_stacks, kernel_symbols


def kernel(*functions):
    """Symbols of functions given as (start, size, name)."""
    symbols = kernel_symbols.Symbols()
    for function in functions:
        symbols.add(*function)
    symbols.add_range(0x1000, 0x9000)
    return symbols.finish()


KERNEL = kernel((0x1000, 0x10, "ret_from_fork"), (0x2000, 0x10, "kthread"), (0x3000, 0, "entry_SYSCALL_64"),
                (0x3010, 0, "entry_SYSCALL_64_after_hwframe"), (0x4000, 0x20, "asm_exc_page_fault"),
                (0x5000, 0x100, "vfs_read"), (0x5000, 0x100, "vfs_read_alias"), (0x5040, 0, "label"),
                (0x6000, 0x10, "ret_from_exception"))


def frame(address, exact=False, rule="ORC", kind="kernel", functions=("vfs_read",)):
    return {"address": hex(address), "exact": exact, "rule": rule, "kind": kind, "functions": list(functions)}


def stack(*frames, stop=complete_stacks.USER_MODE):
    return {"frames": list(frames), "stop": stop, "stopped_at": "0x0"}


LEAF = frame(0x5010, exact=True, rule="registers")


class Names(unittest.TestCase):
    def test_aliases_and_labels_inside_are_all_right(self):
        self.assertEqual(KERNEL.names(0x5010), {"vfs_read", "vfs_read_alias"})
        self.assertEqual(KERNEL.names(0x5050), {"vfs_read", "vfs_read_alias", "label"})

    def test_assembly_without_a_size_reaches_to_the_next_symbol(self):
        self.assertEqual(KERNEL.names(0x3fff), {"entry_SYSCALL_64_after_hwframe"})

    def test_outside_of_the_code_nothing_has_a_name(self):
        self.assertEqual(KERNEL.names(0x9000), set())
        self.assertEqual(KERNEL.names(0xfff), set())

    def test_a_return_address_belongs_to_the_call_before_it(self):
        self.assertIn("kthread", complete_stacks.frame_names(KERNEL, frame(0x2010)))
        self.assertIn("entry_SYSCALL_64", complete_stacks.frame_names(KERNEL, frame(0x3000, exact=True)))


class Complete(unittest.TestCase):
    def why(self, *frames, arch="amd64", **keywords):
        return complete_stacks.why_incomplete(complete_stacks.ENTRIES[arch], KERNEL, stack(*frames, **keywords))

    def test_a_system_call_is(self):
        self.assertIsNone(self.why(LEAF, frame(0x3020)))

    def test_an_exception_from_user_mode_is_and_one_from_the_kernel_is_not(self):
        self.assertIsNone(self.why(LEAF, frame(0x4010)))
        self.assertEqual(self.why(LEAF, frame(0x4010), stop=complete_stacks.END), "ends inside")

    def test_a_kernel_thread_is(self):
        self.assertIsNone(self.why(LEAF, frame(0x2008), frame(0x1008), stop=complete_stacks.END))

    def test_a_stack_that_ends_anywhere_else_is_not(self):
        self.assertEqual(self.why(LEAF, frame(0x2008), stop=complete_stacks.END), "ends inside")
        self.assertIn("no entry", self.why(LEAF, frame(0x2008)))
        self.assertEqual(self.why(LEAF, frame(0x3020), stop="truncated"), "truncated")
        self.assertEqual(self.why(), "no frame")

    def test_a_guessed_frame_is_never(self):
        self.assertEqual(self.why(LEAF, frame(0x3020, rule="guess")), "guessed frame")

    def test_riscv_kernel_threads_return_to_where_exceptions_do(self):
        inside = (LEAF, frame(0x5020), frame(0x6008))
        thread = (LEAF, frame(0x2008), frame(0x6008))
        self.assertEqual(self.why(*inside, arch="riscv64", stop=complete_stacks.END), "ends inside")
        self.assertIsNone(self.why(*thread, arch="riscv64", stop=complete_stacks.END))


class Judge(unittest.TestCase):
    def judge(self, *stacks, level="kernel"):
        samples = [{"level": level, "disposition": "sampled", "stacks": [one]} for one in stacks]
        return complete_stacks.judge(complete_stacks.ENTRIES["amd64"], KERNEL, [{"arch": "x86_64"}, *samples])

    def test_counts_what_is_complete_named_and_wrong(self):
        entry = frame(0x3020, functions=["entry_SYSCALL_64_after_hwframe"])
        verdict = self.judge(stack(LEAF, entry), stack(LEAF, frame(0x2008, functions=["vfs_read"]), stop="truncated"),
                             stack(frame(0x5010, exact=True, functions=[]), entry))
        self.assertEqual((verdict.samples, verdict.complete, verdict.frames, verdict.named), (3, 2, 6, 5))
        self.assertEqual(list(verdict.wrong), [("vfs_read", "kthread", "0x2008")])
        self.assertEqual(list(verdict.classes), [("truncated", "kthread")])

    def test_a_name_for_an_address_outside_of_the_kernel_is_wrong(self):
        verdict = self.judge(stack(frame(0x20000, functions=["vfs_read"])))
        self.assertEqual(sum(verdict.wrong.values()), 1)

    def test_user_samples_do_not_count(self):
        self.assertEqual(self.judge(stack(LEAF), level="user").samples, 0)


class Placement(unittest.TestCase):
    def test_is_read_from_the_serial_port(self):
        said = ("noise\nringside-guest: text 0xffffffff81000000\n"
                "ringside-guest: section /sys/module/ext4/sections/.text 0xffffffffc0001000\n"
                "ringside-guest: section /sys/module/ext4/sections/.init.text 0xffffffffc0009000\n")
        placement = linux_guest.placement(said)
        self.assertEqual(placement.text, 0xffffffff81000000)
        self.assertEqual(placement.sections, {("ext4", ".text"): 0xffffffffc0001000})

    def test_must_be_there(self):
        with self.assertRaises(linux_guest.GuestError):
            linux_guest.placement("ringside-guest: ready")


if __name__ == "__main__":
    unittest.main()
