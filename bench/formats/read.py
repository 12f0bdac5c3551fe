#!/usr/bin/env python3
"""Measures the formats that are read: time, processor time and memory of each importer, beside other programs' own.

Makes recordings and exports them in each format that both sides have. perf script text goes to stackcollapse-perf.pl
too, with repeated stacks and with distinct ones, and perf.data to perf. Each command is a process from start to end. It
reads its input from the page cache and writes a file. Commands take turns. Prints medians of the rounds, and the
highest peak of resident memory. Ratios are medians of the ratio within a round. A program that is absent is reported as
absent. --out FILE.json writes the numbers.
Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import dataclasses
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MB = 1e6
GB = 1e9
FORMATS = ("perf-script", "perf-data", "folded", "pprof", "speedscope", "callgrind", "firefox", "asterinas-json")
PERF_FOLDERS = ("/usr/lib/perf-core", "/usr/libexec/perf-core")


@dataclasses.dataclass
class Input:
    """A file that commands read, and the folder of its build ids if there is one."""
    title: str
    path: pathlib.Path
    build_ids: pathlib.Path | None = None

    @property
    def size(self):
        return self.path.stat().st_size


@dataclasses.dataclass(eq=False)
class Case:
    """A command on an input. A rival's command does what that case of ringside does."""
    title: str
    who: str
    command: list
    size: int
    rival_of: "Case | None" = None
    folds: bool = False  # its output is folded text, to be compared
    reads_stdin: pathlib.Path | None = None
    seconds: list = dataclasses.field(default_factory=list)
    cpu_seconds: list = dataclasses.field(default_factory=list)
    peak_bytes: list = dataclasses.field(default_factory=list)
    digest: str = ""

    def median(self, name):
        return statistics.median(getattr(self, name))

    def ratio(self, name):
        """How many times the time, or the processor time, of ringside's command it takes."""
        pairs = zip(getattr(self, name), getattr(self.rival_of, name))
        return statistics.median(mine / its for mine, its in pairs)

    def numbers(self):
        numbers = {"input": self.title, "command": self.who, "input_bytes": self.size, "seconds": self.seconds,
                   "cpu_seconds": self.cpu_seconds, "peak_bytes": self.peak_bytes}
        if self.rival_of:
            numbers["compared_with"] = self.rival_of.who
        return numbers


class Inputs:
    """Makes the inputs in a folder, and uses those that are there."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def make(self, title, name, samples, stacks):
        stem = f"{samples}-{stacks}"
        recording, path = self.folder / f"{stem}.data", self.folder / f"{stem}.{name}"
        if not recording.exists():
            maker = self.options.build / "bench" / "model" / "made_recording"
            subprocess.run([maker, "--stacks", str(stacks), "--samples", str(samples), recording], check=True)
        if not path.exists():
            print(f"formats: makes {path.name}", file=sys.stderr)
            subprocess.run([self.options.build / "ringside", "export", "-i", recording, "--format", name, "-o", path],
                           check=True, stderr=subprocess.DEVNULL)
        made = Input(f"{title}, {samples:,} samples of {stacks:,} stacks", path)
        build_ids = path.with_name(path.name + ".buildid")
        if build_ids.is_dir():
            made.build_ids = build_ids
        return made


def perf_script_cases(ringside, made, rivals, output):
    folded = Case(made.title, "ringside export --format folded",
                  [ringside, "export", "-i", made.path, "--format", "folded", "-o", output], made.size, folds=True)
    cases = [folded, Case(made.title, "ringside import", [ringside, "import", made.path, "-o", output], made.size)]
    if rivals["stackcollapse"]:
        cases.append(Case(made.title, "stackcollapse-perf.pl", [rivals["stackcollapse"], made.path], made.size,
                          rival_of=folded, folds=True))
    return cases


def large_cases(ringside, made, output):
    return [*perf_script_cases(ringside, made, {"stackcollapse": None}, output),
            Case(made.title, "ringside import - < FILE", [ringside, "import", "-", "-o", output], made.size,
                 reads_stdin=made.path)]


def perf_data_cases(ringside, made, rivals, output):
    def case(who, command, **more):
        cases.append(Case(made.title, who, command, made.size, **more))
        return cases[-1]

    cases = []
    read = ["-i", made.path]
    table = case("ringside report --no-per-cpu", [ringside, "report", "--no-per-cpu", *read])
    calls = case("ringside report --children -g --no-per-cpu",
                 [ringside, "report", "--children", "-g", "--no-per-cpu", *read])
    text = case("ringside export --format perf-script",
                [ringside, "export", *read, "--format", "perf-script", "-o", output])
    folded = case("ringside export --format folded",
                  [ringside, "export", *read, "--format", "folded", "-o", output], folds=True)
    case("ringside import", [ringside, "import", made.path, "-o", output])
    if rivals["perf"]:
        perf = [rivals["perf"], *(["--buildid-dir", made.build_ids] if made.build_ids else [])]
        case("perf report --stdio --no-children -g none",
             [*perf, "report", "--stdio", "--no-children", "-g", "none", *read], rival_of=table)
        case("perf report --stdio", [*perf, "report", "--stdio", *read], rival_of=calls)
        case("perf script", [*perf, "script", *read], rival_of=text)
        if rivals["stackcollapse.py"]:
            case("perf script -s stackcollapse.py", [*perf, "script", "-s", rivals["stackcollapse.py"], *read],
                 rival_of=folded, folds=True)
    return cases


def import_sizes(options):
    """[(samples, stacks)]: all, a tenth of the samples of the same stacks, and a tenth of both."""
    return [(options.samples, options.stacks), (max(options.samples // 10, options.stacks), options.stacks),
            (options.samples // 10, options.stacks // 10)]


def import_case(ringside, made, title, output):
    return Case(title, "ringside import", [ringside, "import", made.path, "-o", output], made.size)


def text_of_recorded(options, rivals, folder):
    """The text that perf script makes of --perf-data."""
    if not options.perf_data or not rivals["perf"]:
        return None
    path = folder / "recorded.perf-script"
    with open(path, "wb") as sink:
        subprocess.run([rivals["perf"], "script", "-i", options.perf_data], check=True, stdin=subprocess.DEVNULL,
                       stdout=sink, stderr=subprocess.DEVNULL)
    return Input(f"perf script text of {options.perf_data}", path)


def find_rivals(options):
    scripts = [pathlib.Path(folder) / "scripts" / "python" / "stackcollapse.py" for folder in PERF_FOLDERS]
    rivals = {"perf": shutil.which("perf"),
              "stackcollapse": options.stackcollapse or shutil.which("stackcollapse-perf.pl"),
              "stackcollapse.py": next((script for script in scripts if script.exists()), None)}
    if rivals["stackcollapse"] and not os.access(rivals["stackcollapse"], os.X_OK):
        raise OSError(f"{rivals['stackcollapse']} is not a program")
    return rivals


def all_perf_script_cases(options, inputs, rivals, output):
    ringside, size = options.build / "ringside", (options.samples, options.stacks)
    made = [inputs.make("perf script text", "perf-script", *size)]
    distinct = max(options.samples // 3, 1)
    made.append(inputs.make("perf script text, no stack twice", "perf-script", distinct, distinct))
    if options.perf_data and rivals["perf"]:
        made.append(text_of_recorded(options, rivals, inputs.folder))
    cases = [case for one in made for case in perf_script_cases(ringside, one, rivals, output)]
    if options.large:
        samples = math.ceil(options.large * GB / made[0].size * options.samples)
        large = inputs.make("large perf script text", "perf-script", samples, options.stacks)
        cases += large_cases(ringside, large, output)
    return cases


def all_perf_data_cases(options, inputs, rivals, output):
    made = [inputs.make("perf.data", "perf-data", options.samples, options.stacks)]
    if options.perf_data:
        made.append(Input(f"perf.data: {options.perf_data}", options.perf_data))
    return [case for one in made for case in perf_data_cases(options.build / "ringside", one, rivals, output)]


def make_cases(options, folder, output):
    """(cases that have rivals or are like them, cases of import by format and size, reports of absent programs)."""
    inputs, rivals = Inputs(options, folder), find_rivals(options)
    compared, imports = [], []
    if "perf-script" in options.formats:
        compared += all_perf_script_cases(options, inputs, rivals, output)
    if "perf-data" in options.formats:
        compared += all_perf_data_cases(options, inputs, rivals, output)
    for name in options.formats:
        made = [inputs.make(name, name, samples, stacks) for samples, stacks in import_sizes(options)]
        imports.append([import_case(options.build / "ringside", one, name, output) for one in made])
    return compared, imports, reports_of_absent(options, rivals)


def reports_of_absent(options, rivals):
    absent = []
    if "perf-script" in options.formats and not rivals["stackcollapse"]:
        absent.append("stackcollapse-perf.pl is absent: --stackcollapse PATH gives one")
    if "perf-data" in options.formats and not rivals["perf"]:
        absent.append("perf is absent")
    elif "perf-data" in options.formats and not rivals["stackcollapse.py"]:
        absent.append("perf's stackcollapse.py is absent")
    return absent


def run(case, output):
    """Adds a round to the case. The command's output is a file."""
    command = [str(word) for word in case.command]
    output.unlink(missing_ok=True)
    with open(case.reads_stdin or os.devnull, "rb") as source, tempfile.TemporaryFile() as errors, \
         open(output if str(output) not in command else os.devnull, "wb") as sink:
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=source, stdout=sink, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            raise subprocess.CalledProcessError(process.returncode, command, stderr=errors.read())
    case.seconds.append(seconds)
    case.cpu_seconds.append(usage.ru_utime + usage.ru_stime)
    case.peak_bytes.append(usage.ru_maxrss * 1024)
    if case.folds and not case.digest:
        case.digest = digest_of(output)


def digest_of(path):
    """A digest of the sorted lines. Another process sorts, for a child's peak memory begins at that of its parent."""
    done = subprocess.run(["sh", "-c", 'LC_ALL=C sort "$1" | sha256sum', "sh", path], check=True, capture_output=True,
                          text=True)
    return done.stdout.split()[0]


def measure(options, compared, imports, output, absent):
    """Runs all in turns. Returns the compared cases without the rivals that failed."""
    failed = []
    for turn in range(options.rounds):
        print(f"formats: round {turn + 1} of {options.rounds}", file=sys.stderr)
        for case in [*compared, *(case for sizes in imports for case in sizes)]:
            if case in failed:
                continue
            try:
                run(case, output)
            except subprocess.CalledProcessError as error:
                if not case.rival_of:
                    raise
                failed.append(case)
                absent.append(f"{case.who} failed: {explained(error)}")
    return [case for case in compared if case not in failed]


def explained(error):
    last = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()[-1:]
    return ": ".join([str(error), *last])


def compared_tables(cases):
    lines, title = [], ""
    for case in cases:
        if case.title != title:
            title = case.title
            lines += ["", f"{title}: {case.size / MB:.0f} MB",
                      f"{'':44}{'time':>9}{'speed':>12}{'processor':>11}{'speed':>12}{'peak memory':>13}"]
        seconds, cpu_seconds = case.median("seconds"), case.median("cpu_seconds")
        lines.append(f"{case.who:44}{seconds:>7.2f} s{case.size / MB / seconds:>7.0f} MB/s"
                     f"{cpu_seconds:>9.2f} s{case.size / MB / cpu_seconds:>7.0f} MB/s"
                     f"{max(case.peak_bytes) / MB:>10.0f} MB")
        if case.rival_of:
            lines.append(f"    takes {case.ratio('seconds'):.1f} × the time of {case.rival_of.who},"
                         f" {case.ratio('cpu_seconds'):.1f} × its processor time")
            if case.folds:
                same = case.digest == case.rival_of.digest
                lines.append(f"    and gives {'the same' if same else 'other'} folded text")
    return lines


def imports_table(imports):
    lines = ["", "ringside import, beside (a) a tenth of the samples of as many stacks, (b) a tenth of both",
             f"{'format':15}{'read':>9}{'time':>9}{'speed':>12}{'processor':>11}{'speed':>12}{'peak memory':>13}"
             f"{'(a) read':>10}{'memory':>9}{'(b) × time':>12}"]
    for case, fewer, tenth in imports:
        seconds, cpu_seconds = case.median("seconds"), case.median("cpu_seconds")
        growth = statistics.median(all_ / part for all_, part in zip(case.seconds, tenth.seconds))
        lines.append(f"{case.title:15}{case.size / MB:>6.0f} MB{seconds:>7.2f} s{case.size / MB / seconds:>7.0f} MB/s"
                     f"{cpu_seconds:>9.2f} s{case.size / MB / cpu_seconds:>7.0f} MB/s"
                     f"{max(case.peak_bytes) / MB:>10.0f} MB{fewer.size / MB:>7.0f} MB"
                     f"{max(fewer.peak_bytes) / MB:>6.0f} MB{growth:>12.1f}")
    return lines


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release",
                        help="a build with RINGSIDE_BENCH (default build/release)")
    parser.add_argument("--samples", type=int, default=300_000, help="default %(default)s: 240 MB of perf script text")
    parser.add_argument("--stacks", type=int, default=20_000, help="distinct ones (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--formats", type=lambda text: text.split(","), default=FORMATS,
                        help="only these, with commas between")
    parser.add_argument("--large", type=float, nargs="?", const=1.0, metavar="GB",
                        help="also read perf script text of this size, only by ringside (1 if no size is given)")
    parser.add_argument("--stackcollapse", type=pathlib.Path, metavar="PATH",
                        help="stackcollapse-perf.pl (default: the one in PATH)")
    parser.add_argument("--perf-data", type=pathlib.Path, metavar="FILE",
                        help="also read this file of perf record, and perf script's text of it")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the inputs; those that are there are used")
    options = parser.parse_args(arguments)
    if unknown := set(options.formats) - set(FORMATS):
        parser.error(f"--formats: no format {', '.join(sorted(unknown))}; there are {', '.join(FORMATS)}")
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory(prefix="ringside-formats-") as temporary:
        folder, output = options.keep or pathlib.Path(temporary), pathlib.Path(temporary) / "output"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            compared, imports, absent = make_cases(options, folder, output)
            compared = measure(options, compared, imports, output, absent)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"formats: {explained(error)}", file=sys.stderr)
            return 1
    print("\n".join([*absent, *compared_tables(compared), *imports_table(imports)]).lstrip("\n"))
    if options.out:
        every = [*compared, *(case for sizes in imports for case in sizes)]
        options.out.write_text(json.dumps([case.numbers() for case in every], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
