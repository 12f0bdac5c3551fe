"""Tests of unwind_case.py with the cases of this repository and with wrong ones."""
import pathlib
import shutil
import tempfile
import unittest

import unwind_case

CASES = pathlib.Path(__file__).resolve().parent.parent
# One of i386 that holds all sections.
WHOLE = CASES / "linux-6.1-i386-states" / "entry-000389.case"


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringside-cases-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "a.case"
        shutil.copy(WHOLE, self.path)

    def test_are_read(self):
        case = unwind_case.Case(self.path)
        self.assertEqual((case.name, case.arch, case.pc, case.sp), ("a", "i386", 0xc191a345, 0xc35f7f3c))
        self.assertEqual([(piece.address, piece.kind, len(piece.data), piece.asked) for piece in case.memory.pieces],
                         [(0xc35f7f3c, "current-stack", 4096, 4096)])
        self.assertEqual(case.memory.word(0xc35f7f3c), 0xbffffffd)
        self.assertEqual(case.memory.word(0xc35f8f38), 0)
        self.assertIsNone(case.memory.word(0xc35f8f3a))
        self.assertEqual(str(case.frames[0]), "0xc191a345 pc   handle_exception interrupt registers")
        self.assertEqual((case.stop, case.stop_ways, case.class_name), ("end-of-stack", {"thread-start"}, "entry"))
        self.assertEqual(case.entered_from["eip"], 0xc18cd028)

    def test_what_is_written_is_what_was_read(self):
        for path in CASES.glob("*/*.case"):
            shutil.copy(path, self.path)
            case = unwind_case.Case(self.path)
            case.write_expected()
            if case.entered_from:
                case.write_entered_from()
            self.assertEqual(self.path.read_bytes(), path.read_bytes(), path)

    def test_only_the_section_that_is_written_changes(self):
        case = unwind_case.Case(self.path)
        case.registers, case.memory.pieces = {}, []
        case.frames, case.stop, case.stop_ways, case.wrong = case.frames[:1], "truncated", set(), {"cfi": "it ends"}
        case.write_expected()
        again, before = unwind_case.Case(self.path), unwind_case.Case(WHOLE)
        self.assertEqual(again.registers, before.registers)
        self.assertEqual(again.memory.pieces, before.memory.pieces)
        self.assertEqual(again.entered_from, before.entered_from)
        self.assertEqual((len(again.frames), again.stop, again.stop_ways, again.wrong),
                         (1, "truncated", set(), {"cfi": "it ends"}))

    def test_a_section_may_be_added(self):
        path = CASES / "linux-6.1-amd64" / "entry-000327.case"
        shutil.copy(path, self.path)
        case = unwind_case.Case(self.path)
        case.entered_from = {"user": 1}
        case.write_entered_from()
        self.assertEqual(self.path.read_text(), path.read_text() + "\n[entered-from]\nuser 0x1\n")

    def test_may_be_renamed(self):
        case = unwind_case.Case(self.path)
        case.rename("irq-a")
        self.assertEqual([path.name for path in unwind_case.files(self.path.parent)], ["irq-a.case"])
        self.assertEqual(case.name, "irq-a")

    def test_wrong_ones_are_refused(self):
        text = WHOLE.read_text()
        line = "0xc35f7f5c  7b000000d8000000 10de90c103000000 28d08cc160000020 17020000987f5fc3\n"
        self.assertIn(line, text)
        for wrong in (text.replace("unwind-case 1", "unwind-case 2"), text.replace("[memory]", "[stack]"),
                      text.replace(line, ""), text.replace("zeros 3808", "zeros 3807"), text + "[more]\n"):
            self.path.write_text(wrong)
            with self.assertRaises(ValueError):
                unwind_case.Case(self.path)


if __name__ == "__main__":
    unittest.main()
