"""The least that a sample through QEMU's gdb stub costs the guest: a stop, the registers of all vCPUs, and the way on."""
import re
import socket


def _packet(text):
    return f"${text}#{sum(text.encode()) % 256:02x}".encode()


class RegistersOnly:
    """A client of the stub that reads no memory. The guest runs while nothing is sampled."""

    def __init__(self, path, vcpus):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._vcpus = vcpus
        self._exchange(_packet("qC"), rb"\$QC")  # connecting has stopped the guest
        self._socket.sendall(_packet("c"))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        # The first byte stops the guest and is lost; to detach from process 1 lets it run.
        self._exchange(_packet("qC") + _packet("D;1"), rb"\$OK#")
        self._socket.close()

    def _exchange(self, request, answer, count=1):
        self._socket.sendall(request)
        got = b""
        while len(re.findall(answer, got)) < count:
            more = self._socket.recv(65536)
            if not more:
                raise ConnectionError("the stub has closed the connection")
            got += more

    def sample(self):
        """One stop, as ringside makes it: one write, and one to go on."""
        registers = b"".join(_packet(f"Hgp01.{vcpu + 1:02x}") + _packet("g") for vcpu in range(self._vcpus))
        self._exchange(_packet("qC") + registers, rb"\$[0-9a-fx]{300,}#", self._vcpus)
        self._socket.sendall(_packet("c"))
