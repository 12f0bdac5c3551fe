"""Files that other tools wrote of other programs: Go's runtime, valgrind, speedscope's page. ringside's numbers are theirs."""
import collections
import time
import unittest

import callgrind_table
import go_tool
import speedscope_table
import viewer_case
from ringside_tests.harness import limits, webdriver

# Writes a CPU profile and one of the heap.
GO = r"""
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

var kept [][]byte

//go:noinline
func spin(turns int) (sum int) {
	for i := 0; i < turns; i++ {
		sum += i ^ sum<<1
	}
	return sum
}

//go:noinline
func large() int { return spin(3000000) }

//go:noinline
func small() int { return spin(1000000) }

func inlined() int { return small() + 1 }

//go:noinline
func recurse(depth int) int {
	if depth == 0 {
		return large()
	}
	return recurse(depth-1) + 1
}

//go:noinline
func keep(size int) { kept = append(kept, make([]byte, size)) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	runtime.MemProfileRate = 1
	cpu, err := os.Create("cpu.pprof")
	must(err)
	must(pprof.StartCPUProfile(cpu))
	sum := 0
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		sum += recurse(sum&3) + inlined()
	}
	pprof.StopCPUProfile()
	must(cpu.Close())
	for i := 0; i < 100; i++ {
		keep(1000 * (i%3 + 1))
	}
	heap, err := os.Create("heap.pprof")
	must(err)
	must(pprof.Lookup("heap").WriteTo(heap, 0))
	must(heap.Close())
}
"""
C = r"""
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static unsigned step(unsigned n) { return n * 1664525u + 1013904223u; }
__attribute__((noinline)) static unsigned walk(unsigned n, unsigned depth) {
  return depth == 0 ? step(n) : walk(step(n), depth - 1) + 1;
}
__attribute__((noinline)) static unsigned even(unsigned n);
__attribute__((noinline)) static unsigned odd(unsigned n) { return n == 0 ? 0 : even(n - 1) + step(n); }
static unsigned even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
static int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
int main(void) {
  unsigned sum = 0;
  int numbers[500];
  for (unsigned i = 0; i < 500; ++i) numbers[i] = (int)(sum += walk(i, i % 7) + even(i % 9)) & 0xffff;
  qsort(numbers, 500, sizeof(int), by_value);
  char text[64];
  memset(text, numbers[3], sizeof(text));
  return text[5] == 1;
}
"""


class RealFiles(viewer_case.ViewerCase):
    def sums(self, path):
        """(own weights, whole weights), each by function."""
        own, whole = collections.Counter(), collections.Counter()
        for row in self.report_rows(path, "symbol", "--children"):
            own[row["symbol"]] += int(row["self"])
            whole[row["symbol"]] += int(row["total"])
        return +own, +whole

    def go_profiles(self):
        """(profile of the processor, profile of the heap), as the program's runtime wrote them."""
        (self.folder / "main.go").write_text(GO, encoding="utf-8")
        go_tool.go(self.folder, "run", "main.go")
        return self.folder / "cpu.pprof", self.folder / "heap.pprof"

    def check_pprof(self, path, *values):
        """Each stack has the values, of those names, that `go tool pprof` shows."""
        names, samples, locations, _ = go_tool.read_raw(go_tool.go(self.folder, "tool", "pprof", "-raw", path))
        self.assertEqual(set(names), set(values))
        for index, name in enumerate(names):
            with self.subTest(value=name):
                there, here = collections.Counter(), collections.Counter()
                for numbers, ids, _ in samples:
                    there[tuple(function for location in ids for function in locations[location])] += numbers[index]
                for sample in self.samples(path):
                    here[sample.frames] += dict(sample.values)[name]
                self.assert_same(+here, +there)

    def test_go_s_profiles(self):
        processor, heap = self.go_profiles()
        self.check_pprof(processor, "samples", "cpu")
        self.check_pprof(heap, "alloc_objects", "alloc_space", "inuse_objects", "inuse_space")

    def test_valgrind_s_costs(self):
        valgrind, compiler = viewer_case.need("valgrind", "valgrind"), viewer_case.need("gcc", "gcc")
        (self.folder / "costs.c").write_text(C, encoding="utf-8")
        viewer_case.run(compiler, "-O1", "-g", "-o", "costs", "costs.c", cwd=self.folder)
        viewer_case.run(valgrind, "--tool=callgrind", "--callgrind-out-file=costs.callgrind", "./costs", cwd=self.folder)

        def annotate(unite, *options):
            """Costs by function. unite: of those that a function has in several files."""
            rows = collections.defaultdict(list)
            for _, function, cost in callgrind_table.rows(self.folder / "costs.callgrind", *options):
                rows[function].append(cost)
            return {name: unite(costs) for name, costs in rows.items()}
        own, whole = self.sums("costs.callgrind")
        self.assert_same(annotate(sum), own)
        self.assertGreater(own["step"], 1000)
        # Whole costs stand with each of a function's files. Those of recursion ("walk'2") count there once for each depth.
        there = annotate(max, "--inclusive=yes")
        for name in ("main", "walk", "even", "odd", "step", "by_value", "qsort"):
            self.assertEqual(whole[name], there[name], name)

    @unittest.skipUnless(webdriver.available(), "no chromium or chromedriver")
    def test_what_speedscope_saves(self):
        """Its page opens Go's profile, and saves it in its own format."""
        processor, _ = self.go_profiles()
        with webdriver.Browser() as browser:
            browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder))
            speedscope_table.open_file(browser, processor)
            export = "[...document.querySelectorAll('div')].filter(element => /Export$/.test(element.innerText)).at(-1)"
            self.assertTrue(browser.wait(f"return document.body.innerText.includes('cpu.pprof') && {export}"))
            browser.run(f"{export}.click()")
            end = limits.step_end()
            while not (saved := list(self.folder.glob("*.speedscope.json"))) and time.monotonic() < end:
                time.sleep(0.1)
        self.assertEqual(len(saved), 1)
        there, here = self.sums(saved[0]), self.sums(processor)
        self.assert_same(there[0], here[0])
        self.assert_same(there[1], here[1])


if __name__ == "__main__":
    viewer_case.main()
