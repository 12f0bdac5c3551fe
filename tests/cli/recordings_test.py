"""Recordings that are missing, damaged, or no recordings."""
import pathlib

import cli_case
from cli_case import DONE, FAILED

CASE = pathlib.Path(__file__).resolve().parents[1] / "unwind-cases/demo-amd64/epilogue-002401.case"


class Recordings(cli_case.CliCase):
    def read_each(self, path, *texts):
        """Every reader fails, and says so."""
        for verb in ("report", "export", "flamegraph"):
            with self.subTest(verb=verb):
                self.assertSays(self.ringside(verb, "-i", path), FAILED, *texts)
                self.assertFalse((self.folder / "flamegraph.svg").exists())

    def test_a_missing_recording(self):
        self.read_each("missing.data", "missing.data", "no such file")

    def test_no_recording_by_the_default_name(self):
        self.assertSays(self.ringside("report"), FAILED, "ringside.data", "no such file")

    def test_an_empty_file(self):
        (self.folder / "empty.data").touch()
        self.read_each("empty.data", "empty.data", "empty")

    def test_a_text_file(self):
        (self.folder / "notes.txt").write_text("To do: profile the kernel.\n" * 100)
        self.read_each("notes.txt", "notes.txt", "recording")

    def test_the_library_that_decodes_instructions_is_missing(self):
        whole = self.ringside("case", "show", CASE)
        self.assertSays(whole, DONE)
        self.assertNotIn("guessed", whole.stdout)
        without = self.ringside("case", "show", CASE, environment={"RINGSIDE_LIBCAPSTONE": "/nonexistent.so"}.items())
        self.assertSays(without, DONE, "/nonexistent.so", "callers are missing", "libcapstone")
        self.assertIn("guessed", without.stdout)

    def test_a_folder(self):
        self.read_each(self.folder, str(self.folder))

    def test_a_recording_without_a_whole_block(self):
        data = self.recording().read_bytes()
        (self.folder / "cut.data").write_bytes(data[:12])
        self.read_each("cut.data", "cut.data", "nothing was recorded")

    def test_a_truncated_recording_is_read_and_says_what_is_missing(self):
        recording = self.recording("--duration", "1.3", "--interval", "5")
        data = recording.read_bytes()
        whole = self.ringside("export", "-i", recording).stdout
        (self.folder / "cut.data").write_bytes(data[:len(data) - 40])
        for verb in ("report", "export", "flamegraph"):
            with self.subTest(verb=verb):
                result = self.ringside(verb, "-i", "cut.data", *(["-o", "-"] if verb != "report" else []))
                self.assertSays(result, DONE)
                self.assertRegex(result.said + result.stdout, "(?i)cut off|truncated|incomplete|missing|not complete")
        cut = self.ringside("export", "-i", "cut.data").stdout

        def count(text):
            return sum(int(line.rpartition(" ")[2]) for line in text.splitlines())
        self.assertGreater(count(cut), 0)
        self.assertLessEqual(count(cut), count(whole))

    def test_a_recording_with_a_flipped_bit_is_no_crash_and_no_silent_success(self):
        data = bytearray(self.recording("--duration", "1.3", "--interval", "5").read_bytes())
        for part in (0.2, 0.5, 0.9):
            with self.subTest(part=part):
                damaged = bytearray(data)
                damaged[int(len(data) * part)] ^= 0x10
                (self.folder / "damaged.data").write_bytes(damaged)
                result = self.ringside("report", "-i", "damaged.data")
                self.assertIn(result.returncode, (DONE, FAILED), result.said)
                self.assertTrue(result.said, "nothing was said of the damage")


if __name__ == "__main__":
    cli_case.main()
