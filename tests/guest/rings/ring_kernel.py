"""The kernel of arch_test.py (kernels/ring): how it is built and started, and what its source says about its stacks."""
import dataclasses
import pathlib
import subprocess

TESTS = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parents[1]
SOURCES = TESTS / "kernels" / "ring"
READY = "ring_kernel: ready"
ROUND_NS = 10_000_000


@dataclasses.dataclass
class Machine:
    """Where its kernel is loaded, how far above it runs, and whether the library is given the clock's rate."""
    arch: str
    qemu: list
    options: list
    base: int
    offset: int
    knows_rate: bool = True


_RISCV = ["-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-mno-relax"]
MACHINES = {
    "i386": Machine("i386", ["qemu-system-i386", "-M", "pc"], ["-mgeneral-regs-only"], 0x100000, 0xc0000000, False),
    "aarch64": Machine("aarch64", ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57"], ["-mgeneral-regs-only"],
                       0x40200000, 0xffffff8000000000),
    "riscv64": Machine("riscv64", ["qemu-system-riscv64", "-M", "virt"], _RISCV, 0x80200000, 0xffffffc000000000),
    # Without firmware and without pages.
    "riscv64-machine": Machine("riscv64", ["qemu-system-riscv64", "-M", "virt", "-bios", "none"],
                               [*_RISCV, "-DMACHINE_MODE"], 0x80000000, 0),
}
TOOLS = ("clang", "ld.lld")


def build(name, folder):
    machine, kernel = MACHINES[name], folder / f"ring_kernel-{name}.elf"
    sources = [SOURCES / "kernel.c", SOURCES / f"{machine.arch}.c", SOURCES / f"{machine.arch}.S",
               REPOSITORY / "guest" / "ringside_guest.c"]
    subprocess.run(["clang", f"--target={machine.arch}-unknown-elf", *machine.options, "-std=c11", "-O2", "-Wall", "-Wextra",
                    "-Werror", "-ffreestanding", "-nostdlib", "-static", "-fno-pic", "-fno-stack-protector",
                    "-fno-omit-frame-pointer", "-momit-leaf-frame-pointer", "-fno-asynchronous-unwind-tables",
                    "-fuse-ld=lld", f"-I{REPOSITORY / 'guest'}", f"-DOFFSET={machine.offset:#x}",
                    f"-Wl,--defsym=BASE={machine.base:#x}", f"-Wl,--defsym=OFFSET={machine.offset:#x}",
                    "-Wl,--build-id=none", "-T", str(TESTS / "kernels" / "machine.ld"), "-o", str(kernel),
                    *map(str, sources)], check=True, stdin=subprocess.DEVNULL)
    return kernel


# The number of a sample's process is that of the work, and that of its thread is its CPU's, both from 1.
WORKS = ("half", "third", "fifth", "other")
CHAINS = {"half": ("half_work", "half_1"),
          "third": ("third_work", *(f"third_{n}" for n in range(1, 5))),
          "fifth": ("fifth_work", *(f"fifth_{n}" for n in range(1, 13)))}
ROOTS = (("start_high", "kernel_main", "work_on"), ("start_second", "second_main", "work_on"))
# Its functions that are called between the chains; those of a machine may be inlined.
OTHERS = {("machine_start_timer",), ("note_round",), ("note_round", "machine_nanoseconds"), ("note_round", "ringside_event"),
          ("report",), ("report", "machine_write"), ("report", "ringside_lost"), ("one_round",),
          ("one_round", "machine_ticks_of_a_millisecond")}
# Without a frame: frame pointers miss their callers.
LEAVES = ("half_1", "third_4", "fifth_12")


def is_legal(work, stack):
    """Whether a stack (root first) is one of those that the kernel has while it does that work."""
    root = next((root for root in ROOTS if stack[:len(root)] == root), None)
    if root is None:
        return False
    rest = stack[len(root):]
    if work == "other":
        return not rest or rest in OTHERS
    chain = ("one_round", *CHAINS[work])
    return bool(rest) and (rest == chain[:len(rest)] or rest in OTHERS and rest[0] == "one_round")
