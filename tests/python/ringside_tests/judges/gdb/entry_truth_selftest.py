"""Tests of entry_truth.py with a hand-written stub: what it makes of entry code that is stepped."""
import struct
import unittest

from ringside_tests.judges.gdb import entry_truth

ENTRY, HANDLER, INTERRUPTED = 0xffffffff81c00000, 0xffffffff81a00000, 0xffffffff81300000
STACK = 0xffffc90000001000
LAYOUT = entry_truth.LAYOUTS["amd64"]


class Stub:
    """states: registers by name before the first step and behind each. memory: words by address."""

    def __init__(self, states, memory=(), layout=LAYOUT):
        self._states, self._memory, self._layout, self.steps = states, dict(memory), layout, 0

    def step(self, thread):
        assert thread == b"p01.02"
        self.steps += 1

    def request(self, body):
        if body.startswith(b"Hg"):
            return b"OK"
        if body == b"g":
            now = self._states[min(self.steps, len(self._states) - 1)]
            values = [now.get(name, 0) for name in self._layout.packet]
            return struct.pack(f"<{len(values)}Q", *values).hex().encode()
        address, size = (int(part, 16) for part in body[1:].split(b","))
        words = [self._memory.get(address + 8 * i) for i in range(size // 8)]
        return b"E14" if None in words else struct.pack(f"<{len(words)}Q", *words).hex().encode()


def pt_regs(**values):
    at = STACK + 0x100
    return at, {at + 8 * i: values.get(name, i) for i, name in enumerate(LAYOUT.pt_regs)}


def truth(stub, arch="amd64"):
    return entry_truth.EntryTruth(arch, lambda pc: ENTRY <= pc < ENTRY + 0x1000, stub).of(1)


class Truth(unittest.TestCase):
    def called(self, **saved):
        at, memory = pt_regs(**saved)
        states = [{"rip": ENTRY, "rsp": STACK + 0x80}, {"rip": ENTRY + 5, "rsp": STACK + 8},
                  {"rip": HANDLER, "rsp": STACK, "rdi": at}]
        return truth(Stub(states, {**memory, STACK: ENTRY + 10}))

    def test_the_handlers_pt_regs_say_which_kernel_code_was_interrupted(self):
        found = self.called(rip=INTERRUPTED, cs=0x10, rbp=77)
        self.assertEqual((found["pc"], found["registers"]["rbp"]), (INTERRUPTED, 77))

    def test_or_that_user_mode_was(self):
        self.assertEqual(self.called(rip=0x401000, cs=0x33), {"user": True})

    def test_a_function_without_pt_regs_says_nothing(self):
        stub = Stub([{"rip": ENTRY, "rsp": STACK + 8}, {"rip": HANDLER, "rsp": STACK, "rdi": 5}], {STACK: ENTRY + 5})
        self.assertIsNone(truth(stub))

    def test_going_back_shows_it_too(self):
        stub = Stub([{"rip": ENTRY, "rsp": STACK}, {"rip": INTERRUPTED, "rsp": STACK + 0x200, "rbx": 3}],
                    {STACK + 0x200: INTERRUPTED})
        self.assertEqual((truth(stub)["pc"], stub.steps), (INTERRUPTED, 1))
        self.assertEqual(truth(Stub([{"rip": ENTRY, "rsp": STACK}, {"rip": 0x401000, "rsp": 0x7ff0}])), {"user": True})

    def test_other_code_is_not_run_on(self):
        stub = Stub([{"rip": HANDLER, "rsp": STACK}])
        self.assertIsNone(truth(stub))
        self.assertEqual(stub.steps, 0)

    def test_code_that_does_not_leave_is_given_up(self):
        stub = Stub([{"rip": ENTRY, "rsp": STACK}])
        self.assertIsNone(truth(stub))
        self.assertEqual(stub.steps, entry_truth.MOST_STEPS)

    def test_a_call_that_leaves_its_return_address_in_a_register(self):
        for arch, link, argument, mode, user in (("arm64", "x30", "x0", "pstate", 0x60001000),
                                                 ("riscv64", "ra", "a0", "status", 0x200000020)):
            layout = entry_truth.LAYOUTS[arch]
            for value, expected in ((user, None), ({"pstate": 0x600000c5, "status": 0x200000120}[mode], INTERRUPTED)):
                memory = {STACK + 8 * i: i for i in range(len(layout.pt_regs))}
                memory[STACK + 8 * layout.pt_regs.index("pc")] = INTERRUPTED
                memory[STACK + 8 * layout.pt_regs.index(mode)] = value
                states = [{"pc": ENTRY, "sp": STACK, link: INTERRUPTED},
                          {"pc": HANDLER, "sp": STACK, link: ENTRY + 8, argument: STACK}]
                found = truth(Stub(states, memory, layout), arch)
                self.assertEqual(found.get("pc"), expected, arch)
                self.assertEqual(found.get("user", False), expected is None, arch)
            # Interrupted code may have that return address too, when entry code goes back to it.
            states = [{"pc": ENTRY, "sp": STACK, link: ENTRY + 8}, {"pc": HANDLER, "sp": STACK + 8, link: ENTRY + 8}]
            self.assertEqual(truth(Stub(states, (), layout), arch)["pc"], HANDLER)


if __name__ == "__main__":
    unittest.main()
