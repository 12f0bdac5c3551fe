"""report --format csv and json: the numbers of the text, in forms for programs."""
import csv
import io
import json
import pathlib
import re
import subprocess

import cli_case
import elf_files
from cli_case import DONE, WRONG_USAGE

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "report.schema.json"

ALL_SUMS = ("overhead,overhead_children,overhead_sys,overhead_us,overhead_guest_sys,overhead_guest_us,"
            "sample,period")
NUMBERS = {"overhead_percent", "self", "children_percent", "total", "sys_percent", "us_percent", "guest_sys_percent",
           "guest_us_percent", "samples", "period", "pid", "tid", "time_ns"}


class ReportData(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        self.mixed = self.folder / "mixed.data"
        subprocess.run([cli_case.built("ringside_mixed_recording"), self.mixed], check=True)

    def output(self, *arguments):
        result = self.ringside("report", self.mixed, *arguments)
        self.assertEqual(result.returncode, DONE, result.said)
        return result.stdout

    def csv(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.output("--format", "csv", *arguments))))

    def text(self, *arguments):
        """The rows of the text with samples and one key: [(samples, key)]."""
        lines = self.output("--stdio", "-g", "none", "-F", *arguments).splitlines()
        return [tuple(line.split(None, 1)) for line in lines if line.strip() and not line.startswith("#")]

    def test_rows_are_those_of_the_text(self):
        for key, of_text in (("comm", "comm"), ("pid", "tgid"), ("vcpu", "vcpu")):
            with self.subTest(key=key):
                there = [(row["samples"], row[key]) for row in self.csv("-F", f"sample,{key}")]
                here = self.text(f"sample,{of_text}")
                if key == "pid":
                    here = [(samples, value.partition(":")[0].replace("-1", "")) for samples, value in here]
                self.assertEqual(there, [(samples, value.strip()) for samples, value in here])

    def test_self_adds_up_to_what_was_sampled(self):
        content = json.loads(self.output("--format", "json", "--per-cpu"))
        self.assertEqual(content["tables"][0]["sampled"], 2700)  # as mixed_recording.cpp writes them
        for table in content["tables"]:
            self.assertEqual(sum(row["self"] for row in table["rows"]), table["sampled"])
            self.assertEqual(table["left_out"]["rows"], 0)
        self.assertEqual(sum(table["sampled"] for table in content["tables"][1:]), 2700)
        counts = content["counts"]
        self.assertEqual(counts["due"], counts["sampled"] + counts["idle"] + counts["skipped"] + counts["failed"]
                         + counts["lost"])

    def check_kernel_code(self, recording, files):
        """Whose names kernel code has, in JSON: as in the text, and by these files."""
        def said(*arguments):
            result = self.ringside("report", recording, *arguments)
            self.assertEqual(result.returncode, DONE, result.said)
            return result.stdout

        parts = json.loads(said("--format", "json"))["kernel_code"]
        self.assertEqual([part["file"] for part in parts], files)
        head = re.search(r"^# +kernel code +(\d+)  samples\n((?:# +\d+ +[\d.]+%  .*\n)+)",
                         said("--stdio", "--header").replace(",", ""), re.MULTILINE)
        self.assertTrue(head)
        self.assertEqual(sum(part["samples"] for part in parts), int(head[1]))
        names = {"": "named in the recording", None: "without a name"}
        self.assertEqual([(part["samples"], names.get(part["file"], f"named by {part['file']}")) for part in parts],
                         [(int(count), what) for count, what in re.findall(r"^# +(\d+) +[\d.]+%  (.*)$", head[2], re.MULTILINE)])

    def test_kernel_code_that_the_recording_names(self):
        self.check_kernel_code(self.mixed, [""])

    def test_kernel_code_without_a_name(self):
        self.check_kernel_code(self.recording(), [None])

    def test_kernel_code_that_a_file_names(self):
        kernel = self.folder / "kernel.elf"
        kernel.write_bytes(elf_files.elf(function="spin"))
        self.check_kernel_code(self.recording("--kernel", kernel, "--duration", "0.2"), [str(kernel)])

    def test_no_name_is_a_formula_of_a_spreadsheet(self):
        names = ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("x","y")', "a=1", "'quoted"]
        lines = [f"{name};{name};f{weight} {weight}\n{name};{name} {weight}\n" for weight, name in enumerate(names, 1)]
        (self.folder / "names.folded").write_text("".join(lines))
        result = self.ringside("report", "names.folded", "--format", "csv", "-F", "sample,comm,symbol,parent")
        self.assertSays(result, DONE)
        rows = [row for row in csv.DictReader(io.StringIO(result.stdout)) if not row["symbol"].startswith("f")]
        shown = ["'" + name if name[0] in "=+-@" else name for name in names]
        self.assertEqual([row["symbol"] for row in rows], shown[::-1])
        self.assertFalse([row for row in rows if set(row["comm"][:1] + row["parent"][:1]) & set("=+-@")])
        # A change of so many bytes is a number, also where it is less than 0.
        rows = self.csv("--source", "allocations", "--value", "change")
        self.assertTrue([row for row in rows if int(row["self"]) < 0])
        self.assertTrue([row for row in rows if float(row["overhead_percent"]) < 0])

    def test_limits_leave_out_rows_and_say_so(self):
        content = json.loads(self.output("--format", "json", "--rows", "3"))
        table = content["tables"][0]
        self.assertEqual(len(table["rows"]), 3)
        self.assertEqual(sum(row["self"] for row in table["rows"]) + table["left_out"]["self"], table["sampled"])
        rows = self.csv("--rows", "3")
        self.assertEqual(len(rows), 4)
        self.assertRegex(rows[-1]["symbol"], r"^\(\d+ more rows\)$")
        self.assertEqual(sum(int(row["self"]) for row in rows), 2700)

    def test_names_with_separators_stay_one_field(self):
        text = self.output("--format", "csv")
        for line in text.splitlines():
            self.assertEqual(len(next(csv.reader([line]))), len(text.splitlines()[0].split(",")))

    def test_the_schema_holds(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema: install python3-jsonschema")
        schema = json.loads(SCHEMA.read_text())
        for arguments in ([], ["--per-cpu"], ["--sort", "pid,tid,vcpu,dso,parent"], ["--source", "allocations"],
                          ["--source", "off-cpu", "--value", "time", "--rows", "1"], ["--children"],
                          ["--sort", "time,srcline,symbol"], ["-F", ALL_SUMS], ["-F", ALL_SUMS, "--sort", "time,srcline"],
                          ["-F", ALL_SUMS, "--sort", "comm,cgroup"]):
            with self.subTest(arguments=arguments):
                content = json.loads(self.output("--format", "json", *arguments))
                jsonschema.Draft7Validator(schema).validate(content)
                content["tables"][0]["rows"][0]["color"] = "red"
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.Draft7Validator(schema).validate(content)

    def test_csv_has_the_members_of_json(self):
        for arguments in (["-F", ALL_SUMS, "--sort", "time,srcline"], ["--sort", "pid,tid,srcline,parent"]):
            with self.subTest(arguments=arguments):
                there = json.loads(self.output("--format", "json", *arguments))["tables"][0]["rows"]
                here = self.csv(*arguments)
                self.assertEqual([list(row) for row in here], [list(row) for row in there])
                for name in here[0]:
                    self.assertEqual([row[name] for row in here if name not in NUMBERS],
                                     [row[name] or "" for row in there if name not in NUMBERS])
                    self.assertEqual([float(row[name] or 0) for row in here if name in NUMBERS],
                                     [row[name] or 0 for row in there if name in NUMBERS])

    def test_a_place_that_is_not_determined_is_one_row(self):
        there = [(row["samples"], row["srcline"]) for row in self.csv("-F", "sample,srcline")]
        self.assertEqual(there, [(samples, line.strip()) for samples, line in self.text("sample,srcline")])
        lines = [line for _, line in there]
        self.assertEqual(len(lines), len(set(lines)))
        self.assertIn("??:0", lines)
        self.assertNotIn("", lines)

    def test_spans_of_time_have_a_start_in_ns(self):
        rows = self.csv("-F", "sample,time", "--time-quantum", "1s")
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(int(row["time_ns"]) % 1_000_000_000, 0)
        for key in ("time", "symbol"):
            result = self.ringside("report", self.mixed, "--format", "csv", "--sort", key, "--time-quantum", "soon")
            self.assertSays(result, WRONG_USAGE, "--time-quantum soon")

    def test_threads_with_one_number_are_of_two_processes(self):
        lines = [{"arch": "x86_64", "guest_os": "linux", "kernel": "6.1", "engine": "gdb", "interval_ns": 1000, "vcpus": 1},
                 {"source_type": "cpu", "kind": "cpu", "period": 1000, "engine": "gdb",
                  "value_types": [{"name": "ticks", "unit": "ticks"}]}]
        lines += [{"time_ns": 5, "vcpu": 0, "level": "user", "disposition": "sampled", "pid": pid, "tid": 1, "comm": comm,
                   "weight": weight, "unit": "ticks", "stacks": []} for pid, comm, weight in ((11, "one", 3), (12, "two", 1))]
        (self.folder / "two.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.mixed = self.folder / "two.jsonl"
        for key, rows in (("pid", [("3", "1:one"), ("1", "1:two")]), ("tgid", [("3", "11:one"), ("1", "12:two")])):
            self.assertEqual([(weight, name.strip()) for weight, name in self.text(f"period,{key}")], rows)
        rows = self.csv("-F", "sample", "--sort", "pid,tid")
        self.assertEqual([(row["pid"], row["tid"]) for row in rows], [("11", "1"), ("12", "1")])

    def test_options_for_people_are_refused(self):
        for arguments in (["csv", "-g"], ["json", "--header"], ["csv", "--per-cpu"], ["json", "-v"]):
            with self.subTest(arguments=arguments):
                result = self.ringside("report", self.mixed, "--format", *arguments)
                self.assertSays(result, WRONG_USAGE, f"--format {arguments[0]}")

    def test_percentages_have_a_point_in_every_locale(self):
        text = self.ringside("report", self.mixed, "--format", "csv", environment={"LC_ALL": "de_DE.UTF-8"}.items()).stdout
        self.assertTrue(re.search(r"^\d+\.\d{4},", text, re.MULTILINE))


if __name__ == "__main__":
    cli_case.main()
