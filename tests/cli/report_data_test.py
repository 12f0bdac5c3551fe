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
                          ["--source", "off-cpu", "--value", "time", "--rows", "1"], ["--children"]):
            with self.subTest(arguments=arguments):
                content = json.loads(self.output("--format", "json", *arguments))
                jsonschema.Draft7Validator(schema).validate(content)
                content["tables"][0]["rows"][0]["color"] = "red"
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.Draft7Validator(schema).validate(content)

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
