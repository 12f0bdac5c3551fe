"""A guest that takes orders: Debian's cloud kernel with workloads.c as its only program, and one vCPU."""
import pathlib
import socket
import tempfile
import time

import cpu_time
from ringside_tests.harness import linux_guest, machine

READY = "overhead: ready"
_SETTLE = 0.02  # seconds; the vCPU is asleep by then


class Guest:
    """plugin: what to load into QEMU, or None; {folder} in it is the temporary folder in which all of it lies."""

    def __init__(self, paths, initrd, plugin=None):
        self._folder = tempfile.TemporaryDirectory(prefix="ringside-overhead-")
        folder = pathlib.Path(self._folder.name)
        self.ring = folder / "ring"
        extra = ["-chardev", f"socket,id=orders,path={folder}/orders,server=on,wait=off", "-serial", "chardev:orders"]
        if plugin:
            extra += ["-plugin", plugin.format(folder=folder)]
        self._port = None
        self._awaited = self._answer = b""
        try:
            self.machine = machine.Machine(kernel=paths["VMLINUZ"], initrd=initrd, cpus=1, memory=256,
                                           append="console=ttyS0 quiet nokaslr", extra=extra,
                                           base=linux_guest.base(paths))
            self.pid = self.machine.process.pid
            self._port = socket.socket(socket.AF_UNIX)
            self._port.connect(f"{folder}/orders")
            self.machine.wait_serial(READY, 60)
            self.vcpu = self.machine.qmp.command("query-cpus-fast")[0]["thread-id"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._port:
            self._port.close()
        if hasattr(self, "machine"):
            self.machine.close()
        self._folder.cleanup()

    def work(self, name, count, within=120):
        """Has a workload done so many times; returns the processor time of the vCPU's thread, in seconds."""
        before = cpu_time.of_thread(self.pid, self.vcpu)
        self.give_order(f"{name} {count}")
        while not self.has_answered(within):
            pass
        time.sleep(_SETTLE)
        return cpu_time.of_thread(self.pid, self.vcpu) - before

    def give_order(self, order):
        """The terminal echoes the order, then comes the answer."""
        self._answer = b""
        self._awaited = f"done {order}".encode()
        self._port.sendall(order.encode() + b"\n")

    def has_answered(self, within):
        """Reads what has come, or waits for some of it so many seconds."""
        self._port.settimeout(within)
        try:
            piece = self._port.recv(4096)
        except BlockingIOError:
            piece = None
        if piece == b"":
            raise machine.GuestError(f"QEMU ended before '{self._awaited.decode()}'")
        self._answer += piece or b""
        return self._awaited in self._answer
