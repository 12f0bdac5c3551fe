"""Recordings of version 1 are read as the ringside of their time read them.

version-1/ has recordings of the bundled kernel at work, each a second long, by the last commit that wrote version 1
(202f6794). expected.json has the SHA-256 of what that program exported from each, where the kernel's file was not there.
"""
import hashlib
import json
import re

import cli_case

FOLDER = cli_case.HERE / "version-1"
# The program of then did not write these members, and no lines of counts and sources.
NEWER = re.compile(r'"address_space":"0x[0-9a-f]+",|"pause_ns":\d+,|"image_id":\d+,|"id":\d+,|'
                   r'^\{"(?:statistics|source_type)":.*\n|'
                   r',"(?:start_wall_ns|start_monotonic_ns|host|build_id|code_hash|size|arch)":[^{}]*(?=\}$)', re.MULTILINE)
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


class Version1(cli_case.CliCase):
    def test_exports_are_the_same_byte_for_byte(self):
        self.assertEqual(set(EXPECTED), {path.name for path in FOLDER.glob("*.data")})
        for name, expected in EXPECTED.items():
            for form in ("folded", "json-lines"):
                with self.subTest(recording=name, form=form):
                    result = self.ringside("export", "--format", form, "-i", FOLDER / name, "-o", "-")
                    self.assertEqual(result.returncode, cli_case.DONE, result.said)
                    text = NEWER.sub("", result.stdout)
                    self.assertEqual(text.count("\n"), expected[f"{form} lines"])
                    self.assertEqual(hashlib.sha256(text.encode()).hexdigest(), expected[form])


if __name__ == "__main__":
    cli_case.main()
