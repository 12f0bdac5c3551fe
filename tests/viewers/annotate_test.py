"""ringside annotate and perf annotate of one perf.data: the same share at the same address."""
import collections
import json
import re
import subprocess
import unittest

import viewer_case
from ringside_tests.harness import limits

PROGRAM = """
#include <stdint.h>
#include <stdio.h>

static inline uint64_t mix(uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  return x ^ (x << 17);
}

__attribute__((noinline)) static uint64_t divide(uint64_t x) { return x / 7 + 3; }

__attribute__((noinline)) uint64_t hot(uint64_t n) {
  uint64_t x = n | 1;
  for (uint64_t i = 0; i < n; ++i) {
    x = mix(x);
    if (x % 3 == 0)
      x += divide(i);
    else
      x *= 5;
  }
  return x;
}

int main(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 100; ++i) sum += hot(1500000);
  printf("%llu\\n", (unsigned long long)sum);
}
"""
# "   17.65 :   119b:   shl    $0xd,%rdx" and "    0.00 :   11d2:   jne    1198 <hot+0x28>"
INSTRUCTION = re.compile(r"^\s+(\d+\.\d+) :\s+([0-9a-f]+):\s+(.*)$", re.MULTILINE)
JUMP = re.compile(r"^(?:j|call)\S*\s+([0-9a-f]+) <")


class PerfAnnotate(viewer_case.ViewerCase):
    def setUp(self):
        super().setUp()
        self.perf = viewer_case.need("perf", "linux-perf")
        viewer_case.need("objdump", "binutils")
        (self.folder / "hot.c").write_text(PROGRAM)
        viewer_case.run(viewer_case.need("gcc", "gcc"), "-O2", "-g", "hot.c", "-o", "hot", cwd=self.folder)
        recorded = subprocess.run([self.perf, "record", "-q", "-e", "cpu-clock:u", "-F", "5000", "-o", "perf.data", "./hot"],
                                  cwd=self.folder, check=False, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limits.STEP)
        if recorded.returncode:
            raise unittest.SkipTest(f"perf record is not permitted here: {recorded.stdout[-300:]}")

    def there(self, function):
        """perf's (share, target of a jump or nothing) by the address as linked."""
        text = viewer_case.run(self.perf, "annotate", "--stdio", "-i", "perf.data", "-s", function, cwd=self.folder).stdout
        found = {}
        for share, address, code in INSTRUCTION.findall(text):
            jump = JUMP.match(code)
            found[int(address, 16)] = (float(share), int(jump.group(1), 16) if jump else None)
        self.assertTrue(found, text[:500])
        return found

    def here(self, function):
        content = json.loads(self.ringside("annotate", function, "-i", "perf.data", "--format", "json"))
        self.assertEqual(len(content["functions"]), 1)
        return content["functions"][0]

    def test_shares_of_instructions_are_perfs(self):
        for name in ("hot", "divide"):
            with self.subTest(function=name):
                there, function = self.there(name), self.here(name)
                moved = int(function["address"], 16) - int(function["image_address"], 16)
                here = {int(shown["image_address"], 16): shown for shown in function["instructions"]}
                self.assertEqual(sorted(there), sorted(here))
                for address, (share, target) in there.items():
                    shown = here[address]
                    self.assertLessEqual(abs(shown["percent"] - share), 0.01, f"{name} {address:x}: {shown}")
                    if target is not None:
                        self.assertEqual(int(shown["target"]["address"], 16) - moved, target, f"{name} {address:x}")
                # divide() has few instructions at which a sample can stand.
                places = 2 if name == "hot" else 0
                self.assertGreater(sum(share > 1 for share, _ in there.values()), places, "too few places have samples")

    def test_the_samples_are_those_of_report(self):
        rows = json.loads(self.ringside("report", "-i", "perf.data", "--format", "json", "--sort", "symbol"))["tables"][0]["rows"]
        for name in ("hot", "divide"):
            function = self.here(name)
            self.assertEqual(function["weight"], sum(row["self"] for row in rows if row["symbol"] == name))
            for parts in ("lines", "instructions"):
                outside = function["outside"]["weight"] if parts == "instructions" else 0
                self.assertEqual(sum(part["weight"] for part in function[parts]) + outside, function["weight"])


class Report(viewer_case.ViewerCase):
    def test_every_function_has_the_samples_of_report(self):
        def check(name):
            for options in ((), ("-k",), ("--no-irq-join",), ("--cpu", "1")):
                there, here = collections.Counter(), collections.Counter()
                arguments = ("--format", "json", "-i", self.recording(name), *options)
                for row in json.loads(self.ringside("report", "--sort", "dso,symbol", *arguments))["tables"][0]["rows"]:
                    there[row["dso"] or None, row["symbol"]] += row["self"]
                for function in json.loads(self.ringside("annotate", "--functions", "100000", *arguments))["functions"]:
                    here[function["image"], function["name"]] += function["weight"]
                    for parts, rest in (("lines", 0), ("instructions", function["outside"]["weight"])):
                        self.assertEqual(sum(part["weight"] for part in function[parts]) + rest, function["weight"])
                self.assert_same(dict(+there), dict(here))
        self.each_recording(check)


if __name__ == "__main__":
    viewer_case.main()
