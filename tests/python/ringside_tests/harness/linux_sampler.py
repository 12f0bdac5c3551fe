"""The module of guest/example/linux, by which Debian's Linux samples itself: builds it, and loads it with a workload."""
import shutil
import subprocess

from ringside_tests.harness import linux_guest, machine, user_program

WORKLOAD = "sampled"
COMPILER = "gcc-12"  # which Debian 12 has built its kernels with


def build(paths, folder):
    """The module's file. paths: as linux_guest.fetch(headers=True) gives them."""
    if not shutil.which(COMPILER):
        raise linux_guest.NoNetwork(f"there is no {COMPILER}, which builds modules for Debian 12's kernel")
    source, build_folder = linux_guest.ROOT / "guest" / "example" / "linux", folder / "build"
    made = subprocess.run(["make", "-C", str(source), f"HEADERS={paths['HEADERS']}", f"BUILD={build_folder}",
                           "KCFLAGS=-Werror"], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if made.returncode:
        raise machine.GuestError(f"the module does not build: {made.stdout[-2000:]}")
    return build_folder / "ringside.ko"


def initrd(paths, folder, workload, parameters):
    """The guest's initramfs with a workload WORKLOAD more: that loads the module, and is the given workload then."""
    tree = folder / "tree"
    for part in ("modules", "workload"):
        (tree / part).mkdir(parents=True)
    shutil.copy(build(paths, folder), tree / "modules")
    (tree / "workload" / WORKLOAD).write_text(f"""#!/bin/sh
[ "$1" != 0 ] || insmod /modules/ringside.ko {parameters} || poweroff -f
exec /workload/{workload} "$1"
""")
    return user_program.add_tree_to_initrd(paths["INITRD"], folder, tree)
