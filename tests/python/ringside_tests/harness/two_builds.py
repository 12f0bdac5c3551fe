"""Two builds of the bundled kernel that differ in one function, and recordings of them.

search_tree has 10 % of the time of the workload `chains` in one, and 14 % in the other, for it does 1.46 times the work: with
80 parts of other work it has 80/9 and 80 * 14/86 parts.
"""
import subprocess

from ringside_tests.harness import launched, machine

FUNCTION = "search_tree"
SHARES = {"before": 10.0, "after": 14.0}  # percent
PARTS_OF_STOCK = 20  # that search_tree has in the stock kernel, of 100


def _definitions(share, round_iterations):
    parts = 80 * share / (100 - share)
    return f"RINGSIDE_DEMO_PERCENT={round_iterations};RINGSIDE_DEMO_SEARCH_PERMILLE={1000 * parts / PARTS_OF_STOCK:.0f}"


def build(source, folder, round_iterations):
    """The kernels, by the name of their side. `round_iterations`: of each of the hundred parts of a round of the workload."""
    kernels = {}
    for side, share in SHARES.items():
        build_folder = folder / side
        for command in (["cmake", "-S", source, "-B", build_folder, "-DBUILD_TESTING=OFF",
                         "-DRINGSIDE_DEMO_DEFINITIONS=" + _definitions(share, round_iterations)],
                        ["cmake", "--build", build_folder, "--target", "ringside-demo-fp"]):
            made = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if made.returncode != 0:
                raise launched.Failed(f"{' '.join(map(str, command))} failed:\n{made.stdout}")
        kernels[side] = build_folder / "ringside-demo-fp.elf"
    return kernels


def record(ringside, kernel, samples, folder, deadline):
    """The path of a recording of that kernel's workload `chains` on one vCPU, sampled each millisecond."""
    qemu = machine.BASE + ["-smp", "1", "-m", "256", "-serial", "stdio",
                           "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel", str(kernel),
                           "-append", "workload=chains seconds=0"]
    how = ["--samples", str(samples), "--interval", "1ms", "--after", "ringside-demo: ready"]
    return launched.record(ringside, how, qemu, folder, deadline)
