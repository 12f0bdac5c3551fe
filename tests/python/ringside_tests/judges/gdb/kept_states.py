"""Files that gdb_backtrace_test.py leaves in a folder: the stopped states, as ringside, gdb and other ways saw them."""
import json

from ringside_tests.harness import linux_guest
from ringside_tests.judges import kernel_symbols

SERIAL, PROBES, SAMPLES, VERDICTS, RECORDING = ("serial", "looks.json", "samples.jsonl", "verdicts.json",
                                               "ringside.data")


def read(paths, folder):
    """Reads what take() and confirm() left in a folder: the kernel's symbols, ringside's samples, gdb's probes, verdicts."""
    symbols = kernel_symbols.load(paths, linux_guest.placement((folder / SERIAL).read_text()))
    probes = [{int(vcpu): stack for vcpu, stack in probe.items()} for probe in json.loads((folder / PROBES).read_text())]
    samples = [json.loads(line) for line in (folder / SAMPLES).read_text().splitlines()]
    verdicts = json.loads((folder / VERDICTS).read_text()) if (folder / VERDICTS).exists() else []
    return symbols, samples, probes, {(time, vcpu): verdict for time, vcpu, *verdict in verdicts}
