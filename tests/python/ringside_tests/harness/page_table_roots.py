"""The page-table roots of the bundled kernel's processes, as QEMU's monitor tells them."""
import re
import time

from ringside_tests.harness import launched

CR3 = re.compile(r"\bCR3=([0-9a-f]+)")
PAGE = 0xffffff7fffffe000  # of a process, its pid first (demo/kernel/process/metadata_page.h)
WORK = "workload=user seconds=0"
PROGRAMS = {1: "compute", 2: "compute", 3: "syscaller"}  # by pid: the order in which the kernel starts them


def find_roots(guest, deadline):
    """The page-table root of each process, by pid."""
    roots = {}
    while len(roots) < len(PROGRAMS) and time.monotonic() < deadline:
        guest.qmp.hmp("stop")
        root, page = CR3.search(guest.qmp.hmp("info registers")), guest.qmp.hmp(f"x/1gx {PAGE:#x}")
        guest.qmp.hmp("cont")
        pid = re.search(r": 0x([0-9a-f]{16})", page)
        if root and pid:
            roots[int(pid.group(1), 16)] = root.group(1)
        time.sleep(0.007)
    if sorted(roots) != sorted(PROGRAMS):
        raise launched.Failed(f"the guest's processes were not found: {roots}")
    return roots
