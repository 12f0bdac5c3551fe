"""Tests of how the unwind benchmark's figures are put together."""
import unittest

import result


def run(name, **counters):
    return {"run_name": name, "aggregate_name": "median", "cpu_time": 2.0, **counters}


def benchmark():
    walks = {"orc": 50e-9, "libdwfl": 2000e-9, "libunwind": 1000e-9}
    runs = [run(f"{where}/{name}", seconds_per_frame=seconds) for name, seconds in walks.items()
            for where in ("agreed", "all")]
    runs += [run(f"frame_pointers/{where}/frame_pointers", seconds_per_frame=40e-9) for where in ("agreed", "all")]
    runs += [run("table/orc_load", rows=100, rules=5, bytes=700), run("table/cfi_index"),
             run("table/cfi_compile_all", functions=9, rows=50, rules=4, bytes=350, bytes_of_index=216)]
    runs.append({"run_name": "agreed/orc", "aggregate_name": "mean", "seconds_per_frame": 1})
    context = {"stacks": "10", "incomplete": "1", "agreed": "7", "frame_pointers/stacks": "4",
               "frame_pointers/frame_pointers_identical": "4", "frame_pointers/frame_pointers_slow": "1",
               **{f"{name}_identical": "8" for name in walks}, **{f"{name}_slow": "0" for name in walks}}
    return {"context": context, "benchmarks": runs}


ONCE = {name: {"first_stack_s": 0.01, "all_stacks_s": 0.02, "peak_bytes": 2**20, "private_bytes": 2**19}
        for name in ("orc", "libdwfl", "libunwind", "frame_pointers")}


class Summary(unittest.TestCase):
    def test_ratios_are_those_of_medians(self):
        summary = result.summarise(benchmark(), ONCE)
        orc = summary["ways"]["orc"]
        self.assertAlmostEqual(orc["ns_per_frame"], 50)
        self.assertAlmostEqual(orc["times"]["libdwfl"], 40)
        self.assertAlmostEqual(orc["times"]["libunwind"], 20)
        self.assertNotIn("times", summary["ways"]["libdwfl"])
        self.assertAlmostEqual(summary["tables"]["orc"]["bytes_per_row"], 7)
        self.assertAlmostEqual(summary["tables"]["orc"]["build_s"], 0.002)

    def test_table_has_a_line_for_each_way(self):
        lines = result.table(result.summarise(benchmark(), ONCE))
        self.assertEqual(len(lines), 2 + 4 + 2)
        self.assertIn("80.0 %", lines[2])
        self.assertIn("100.0 %", lines[5])


if __name__ == "__main__":
    unittest.main()
