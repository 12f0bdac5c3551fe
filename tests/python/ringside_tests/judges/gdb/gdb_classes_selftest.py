"""Tests of how differences between ringside's stacks and gdb's are classed, and what the cases in tests/unwind-cases
prove. The call-frame information that kernel_code.py finds is compared with readelf's."""
import re
import subprocess
import unittest

from ringside_tests.judges import complete_stacks, kernel_symbols
from ringside_tests.judges.gdb import gdb_classes, gdb_reasons, kernel_code, proofs

FUNCTIONS = {0x1000: "ret_from_fork", 0x3000: "entry_SYSCALL_64", 0x4000: "asm_exc_page_fault", 0x5000: "vfs_read",
             0x5100: "do_softirq", 0x6000: "__x86_indirect_thunk_rax", 0x7000: "copy_user_generic"}
MODULE = 0x8000
POP_RSP, RET = b"\x5c", b"\xc3"


def kernel():
    symbols = kernel_symbols.Symbols()
    for start, name in FUNCTIONS.items():
        symbols.add(start, 0x100, name)
    symbols.add(MODULE, 0x100, "virtblk_done")
    symbols.add_range(0x1000, 0x9000)
    return symbols.finish()


class Code:
    """C functions are described, assembly is not; do_softirq switches stacks."""

    def is_described(self, address):
        return 0x5000 <= address < 0x6000

    def is_module(self, address):
        return address >= MODULE

    def bytes_at(self, address, size):
        return (POP_RSP if 0x5100 <= address < 0x5200 else RET) + bytes(size - 1)


def frame(address, exact=False):
    return {"address": hex(address), "exact": exact, "rule": "ORC", "kind": "kernel", "functions": []}


def pair(ours, theirs, stop=complete_stacks.USER_MODE):
    """ours: addresses, those in brackets are exact as the first one is."""
    frames = [frame(*((at[0], True) if isinstance(at, tuple) else (at, not i))) for i, at in enumerate(ours)]
    return gdb_classes.Pair(0, 0, {"frames": frames, "stop": stop, "stopped_at": "0x0"},
                            {"frames": [[pc, "normal"] for pc in theirs], "end": "no reason"})


class Classes(unittest.TestCase):
    def setUp(self):
        self.judge = gdb_classes.Judge("amd64", kernel(), Code())

    def classify(self, *arguments, **keywords):
        return self.judge.classify(pair(*arguments, **keywords))

    def test_the_same_frames_are_equal_whatever_gdb_sees_behind_them(self):
        self.assertEqual(self.classify([0x5010, 0x3010], [0x5010, 0x3010, 0x1]).kind, gdb_classes.EQUAL)

    def test_an_incomplete_stack_is_ringsides_mistake_even_where_gdb_has_no_more(self):
        for theirs in ([0x5010, 0x5020, 0x3010], [0x5010, 0x5020], [0x5010]):
            self.assertEqual(self.classify([0x5010, 0x5020], theirs, stop="truncated").kind, gdb_classes.RINGSIDE)

    def test_a_stack_that_ends_early_is_ringsides_mistake(self):
        self.assertEqual(self.classify([0x5010, 0x3010], [0x5010, 0x3010, 0x5020, 0x3010]).kind, gdb_classes.RINGSIDE)

    def test_gdb_ends_for_the_reason_that_the_code_gives(self):
        for last, reason in ((0x4010, gdb_reasons.ENTRY), (0x5110, gdb_reasons.SWITCH), (0x7010, gdb_reasons.ASSEMBLY),
                             (0x8010, gdb_reasons.MODULE)):
            found = self.classify([0x5010, last, (0x5020,), 0x3010], [0x5010, last])
            self.assertEqual((found.kind, found.reason), (gdb_classes.GDB, reason))

    def test_a_return_address_differs_in_its_code_only(self):
        address = 0xffff800008028208
        for found, signed in ((0x2bbf800008028208, True), (0xffbf800008028208, True), (address, False),
                              (0x2b3f800008028208, False), (0x2bbf80000802820c, False)):
            self.assertEqual(gdb_reasons.is_signed("arm64", address, found), signed, hex(found))
        self.assertFalse(gdb_reasons.is_signed("amd64", address, 0x2bbf800008028208))

    def test_where_gdb_has_all_that_it_needs_there_is_no_class(self):
        self.assertEqual(self.classify([0x5010, 0x5020, 0x3010], [0x5010]).kind, gdb_classes.UNCLASSIFIED)
        self.assertEqual(self.classify([0x5010, 0x5020, 0x3010], [0x5010, 0x5030, 0x5020]).kind,
                         gdb_classes.UNCLASSIFIED)

    def test_two_complete_stacks_that_part_are_of_no_class_even_behind_assembly(self):
        found = self.classify([0x7010, 0x5020, 0x3010], [0x7010, 0x5030, 0x3010])
        self.assertEqual(found.kind, gdb_classes.UNCLASSIFIED)

    def test_an_interrupted_pc_that_gdb_takes_for_a_return_address_is_a_guess(self):
        found = self.classify([0x4010, (0x7010,), 0x3010], [0x4010, 0x7010, 0x5])
        self.assertEqual((found.reason, found.functions), (gdb_reasons.ENTRY, {"asm_exc_page_fault"}))

    def test_a_guess_is_reported_of_its_caller_too(self):
        found = self.classify([0x7010, 0x5020, 0x3010], [0x7010, 0x5020, 0x5])
        self.assertEqual((found.reason, found.functions), (gdb_reasons.ASSEMBLY, {"copy_user_generic"}))

    def test_the_frame_that_gdb_sees_in_a_thunk(self):
        found = self.classify([0x6010, 0x5020, 0x3010], [0x6010, 0x6005, 0x5020, 0x3010])
        self.assertEqual((found.kind, found.reason), (gdb_classes.GDB, gdb_reasons.THUNK))

    def test_the_frame_in_a_thunk_does_not_hide_what_gdb_misses_behind_it(self):
        found = self.classify([0x6010, 0x4010, (0x5020,), 0x3010], [0x6010, 0x6005, 0x4010, 0x1])
        self.assertEqual((found.kind, found.reason), (gdb_classes.GDB, gdb_reasons.THUNK))
        found = self.classify([0x6010, 0x5020, 0x5030, 0x3010], [0x6010, 0x6005, 0x5020, 0x1])
        self.assertNotEqual(found.kind, gdb_classes.EQUAL)
        self.assertNotIn("too many", found.text)


class Proofs(unittest.TestCase):
    def test_each_names_a_case_and_another_way_than_gdb(self):
        for arch in ("amd64", "i386"):
            known = proofs.Proofs(arch)
            self.assertIn(gdb_reasons.ENTRY, known.counts())
            proof = known.of(gdb_reasons.ENTRY, ())
            self.assertTrue((proofs.CASES / f"{proof.case}.case").exists())
            self.assertNotIn("gdb", proof.ways)

    def test_prefers_the_same_function(self):
        proof = proofs.Proofs("amd64").of(gdb_reasons.ENTRY, {"asm_exc_page_fault"})
        self.assertEqual(proof.function, "asm_exc_page_fault")

    def test_there_is_none_for_what_no_case_shows(self):
        self.assertIsNone(proofs.Proofs("amd64").of("a reason of no case", {"vfs_read"}))


class KernelCode(unittest.TestCase):
    def test_knows_what_readelf_shows_as_described(self):
        for path in sorted(proofs.CASES.glob("linux-*/kernel.elf")):
            text = subprocess.run(["readelf", "--debug-dump=frames", str(path)], stdout=subprocess.PIPE, text=True,
                                  check=True).stdout
            rows = re.findall(r" FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)
            code = kernel_code.KernelCode(path, slide=0x100000)
            ends = {int(end, 16) for _, end in rows}
            starts = {int(start, 16) for start, _ in rows}
            self.assertGreater(len(rows), 20, path)
            for start, end in ((int(start, 16), int(end, 16)) for start, end in rows):
                self.assertTrue(code.is_described(start + 0x100000) and code.is_described(end - 1 + 0x100000))
                if end not in starts:
                    self.assertFalse(code.is_described(end + 0x100000))
                if start not in ends:
                    self.assertFalse(code.is_described(start - 1 + 0x100000))

    def test_reads_code_from_what_is_loaded(self):
        code = kernel_code.KernelCode(proofs.CASES / "linux-6.1-amd64" / "kernel.elf")
        self.assertEqual(code.bytes_at(0xffffffff81a0656e, 1), POP_RSP)  # objdump -d: sysvec_apic_timer_interrupt
        self.assertEqual(code.bytes_at(0x1000, 4), b"")


if __name__ == "__main__":
    unittest.main()
