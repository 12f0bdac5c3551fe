"""Functions of stripped Go programs, by the table that they need to run, against the symbols of the same programs."""
import re
import shutil
import subprocess
import unittest

import cli_case
from cli_case import DONE

SOURCE = """package main

type ring struct{ words [64]uint64 }

//go:noinline
func (r *ring) stir(n int) uint64 {
	sum := uint64(0)
	for i := 0; i < n; i++ {
		sum = sum*3 + r.words[i&63]
	}
	return sum
}

func main() {
	println((&ring{}).stir(1000))
}
"""
# Whose symbol says something else: where text begins and ends, and assembly that is reached by a jump only.
OTHERS = re.compile(r"(runtime\.e?text|_.*|.*\.abi0|type:.*|go:.*)$")
MOST = 400  # addresses asked for


@unittest.skipUnless(shutil.which("go"), "there is no go")
class GoPrograms(cli_case.CliCase):
    def build(self, name, *options, **variables):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "GOCACHE": str(self.folder / "cache"), "GO111MODULE": "off",
                       "CGO_ENABLED": "0", **variables}
        subprocess.run(["go", "build", *options, "-o", name, "program.go"], cwd=self.folder, env=environment, check=True,
                       stdin=subprocess.DEVNULL)

    def check(self, *options, **variables):
        (self.folder / "program.go").write_text(SOURCE)
        self.build("whole", *options, **variables)
        self.build("bare", *options, "-ldflags", "-s -w", **variables)
        symbols = subprocess.run(["nm", "whole"], cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True).stdout
        names = {}
        for line in symbols.splitlines():
            address, kind, name = line.split(maxsplit=2)
            if kind in "tT" and not OTHERS.match(name):
                names.setdefault(int(address, 16), set()).add(name)
        asked = sorted(names)[::max(1, len(names) // MOST)]
        asked += [address for address, name in names.items() if name & {"main.main", "main.(*ring).stir"}]
        result = self.ringside("symbolize", "-e", "bare", *(f"{address:#x}" for address in asked))
        self.assertSays(result, DONE)
        found = result.stdout.split("\n\n")
        got = [block.strip().splitlines()[0] for block in found if block.strip()]
        self.assertEqual(len(got), len(asked), result.stdout[:2000])
        wrong = [(hex(address), name, names[address]) for address, name in zip(asked, got) if name not in names[address]]
        self.assertLess(len(wrong), len(asked) / 100, wrong[:20])
        self.assertIn("main.(*ring).stir", got)

    def test_a_stripped_program(self):
        self.check()

    def test_of_32_bits(self):
        self.check(GOARCH="386")


if __name__ == "__main__":
    cli_case.main()
