"""Debian's Linux kernel as a guest: gets it from script/fetch-linux-guest and boots it with one of its workloads."""
import dataclasses
import pathlib
import re
import subprocess

from ringside_tests.harness.machine import BASE, GuestError, Machine
from ringside_tests.harness import limits

ROOT = pathlib.Path(__file__).resolve().parents[4]
NO_NETWORK = 3
READY = "ringside-guest: ready"


class NoNetwork(GuestError):
    """The guest cannot be fetched because there is no network: a test says skipped."""


@dataclasses.dataclass(frozen=True)
class Arch:
    """QEMU's options, the console and the kernel's flavour for an architecture. The names are Debian's, with a kernel that
    is not the usual one behind."""
    machine: tuple
    console: str = "ttyS0"
    flavour: str = ""


ARCHES = {
    "amd64": Arch(("-M", "pc")),
    "arm64": Arch(("-M", "virt", "-cpu", "cortex-a57"), "ttyAMA0"),
    "i386": Arch(("-M", "pc")),
    "i386-pae": Arch(("-M", "pc"), flavour="686-pae"),
    "riscv64": Arch(("-M", "virt")),
}


def fetch(vmlinux=True, arch="amd64", debug_modules=False, userland=False, headers=False):
    """The paths that script/fetch-linux-guest prints, as a dictionary (VERSION, VMLINUZ, INITRD, VMLINUX, …)."""
    flavour = ARCHES[arch].flavour
    command = [str(ROOT / "script" / "fetch-linux-guest"), "--arch", arch.split("-")[0]]
    command += ["--flavour", flavour] if flavour else []
    command += (["--vmlinux"] if vmlinux else []) + (["--debug-modules"] if debug_modules else [])
    command += (["--userland"] if userland else []) + (["--headers"] if headers else [])
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode == NO_NETWORK:
        raise NoNetwork("the Linux guest cannot be fetched: no network")
    if result.returncode:
        raise GuestError("script/fetch-linux-guest failed")
    return dict(line.split("=", 1) for line in result.stdout.splitlines())


def base(paths, cpu=None):
    """QEMU and the options that every guest of that architecture gets. cpu: another model than the usual one."""
    return [paths["QEMU"], *BASE[1:], *ARCHES[paths["ARCH"]].machine, *(["-cpu", cpu] if cpu else [])]


def append(paths, workload, kaslr=True):
    """The kernel's command line."""
    console = ARCHES[paths["ARCH"]].console
    return f"console={console} quiet{'' if kaslr else ' nokaslr'} workload={workload}"


def disk(folder):
    """QEMU's options for a blank disk in the folder, which the guest formats."""
    path = pathlib.Path(folder) / "disk.img"
    with open(path, "wb") as image:
        image.truncate(64 << 20)
    return ["-drive", f"file={path},if=none,id=disk,format=raw,cache=unsafe", "-device", "virtio-blk-pci,drive=disk"]


def boot(paths, workload, cpus=2, elf=False, extra=(), ready_within=limits.BOOT, kaslr=False, cpu=None, words=()):
    """Boots the guest and waits for its READY line; elf=True boots the vmlinux ELF itself through PVH (amd64). words:
    further ones of the kernel's command line."""
    machine = Machine(kernel=paths["VMLINUX" if elf else "VMLINUZ"], initrd=paths["INITRD"], cpus=cpus,
                      memory=1024 if elf else 512, append=" ".join([append(paths, workload, kaslr), *words]),
                      extra=extra, base=base(paths, cpu))
    try:
        machine.boot_seconds = machine.wait_serial(f"{READY} workload={workload}", ready_within)
        return machine
    except BaseException:
        machine.close()
        raise


@dataclasses.dataclass
class Placement:
    """Where the guest said its code is: the address of _stext, and of each module's sections by (module, section)."""
    text: int
    sections: dict


def placement(serial):
    """Reads a guest's serial output. Raises GuestError when it does not say where the kernel is."""
    text = re.search(r"ringside-guest: text (0x[0-9a-f]+)", serial)
    if not text:
        raise GuestError("the guest did not say where its kernel is")
    # .init.text is given back once the module is there: other code may be in its place.
    found = re.findall(r"ringside-guest: section /sys/module/(\w+)/sections/(\S+) (0x[0-9a-f]+)", serial)
    return Placement(int(text.group(1), 16), {(module, section): int(start, 16) for module, section, start in found
                                             if section != ".init.text"})
