"""A gdb stub without a guest, on a Unix socket: answers as QEMU's does (7.2 to 10), and fails where a test asks it to.

By itself, `fake_stub.py QEMU-OPTIONS`, it stands for QEMU: it serves the stub that -gdb names until it is asked to end.
FAKE_QEMU_LOG names a file that gets the options, one a line, in brackets; FAKE_QEMU_SECONDS is how long it lives
(0: it ends at once), FAKE_QEMU_STATUS its exit status (-N: it is killed by signal N) and FAKE_QEMU_HALTED whether its
vCPU is halted. FAKE_QEMU_PLUGIN_API is how it takes plugins: "OLDEST NEWEST" of the versions that it accepts, or
"none", "lacks" (symbols of a newer QEMU) or "hangs"; FAKE_QEMU_QUESTIONS names a file that gets a line for each one that
it is asked by, and FAKE_QEMU_PLUGIN_API_WHEN_ASKED what it says then, where that is something else.
"""
import os
import pathlib
import re
import select
import signal
import socket
import struct
import sys
import threading
import time

REGISTERS = [("rax", 8), ("rbp", 8), ("rsp", 8), ("rip", 8), ("cs", 4), ("cr0", 8), ("cr3", 8)]
CODE = 0xFFFFFFFF80001000
# push %rbp; mov %rsp, %rbp; then, right before CODE + 16, a call of itself
CODE_BYTES = (b"\x55\x48\x89\xe5".ljust(11, b"\x90") + b"\xe8\xf0\xff\xff\xff").ljust(0x100, b"\x90")
STACK = 0xFFFFFFFF80020000
VALUES = {"rax": 7, "rbp": 0, "rsp": STACK + 0x100, "rip": CODE + 4, "cs": 0x10, "cr0": 0x80000011, "cr3": 0x1000}
HTTP_GREETING = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
QMP_GREETING = b'{"QMP": {"version": {"qemu": {"micro": 0, "minor": 2, "major": 7}}, "capabilities": ["oob"]}}\r\n'


def packet(body):
    return f"${body}#{sum(body.encode()) & 255:02x}".encode()


def description():
    registers = "".join(f'<reg name="{name}" bitsize="{size * 8}"/>' for name, size in REGISTERS)
    return ('<?xml version="1.0"?><target><architecture>i386:x86-64</architecture>'
            f'<feature name="org.gnu.gdb.i386.core">{registers}</feature></target>')


def stack_of(frames):
    """The stack's memory: so many frames from the stack pointer upwards, linked by frame pointers, in front of zeros."""
    content = bytearray(0x10000)
    for number in range(frames):
        place = VALUES["rsp"] + 16 * number
        struct.pack_into("<QQ", content, place - STACK, place + 16, CODE + 16)
    return bytes(content)


class Closed(Exception):
    """The client is gone, or the script says to hang up."""


class Session:
    """One client. The guest runs until a byte arrives and then stands until `c` or `D`."""

    def __init__(self, connection, stub):
        self._connection, self._stub = connection, stub
        self._in_packet, self._line = False, ""
        self._stop()

    def serve(self):
        while data := self._connection.recv(4096):
            for byte in data.decode("latin-1"):
                self._take(byte)

    def _take(self, byte):
        if self._stub.running:
            self._stop()
        elif not self._in_packet:
            self._in_packet, self._line = byte == "$", ""
        else:
            self._line += byte
            if "#" in self._line and len(self._line) >= self._line.index("#") + 3:
                self._in_packet = False
                self._send(b"+")
                self._handle(self._line[:self._line.index("#")])

    def _stop(self):
        self._stub.running = False
        self._send(packet("T02thread:p01.01;"))

    def _handle(self, request):
        stub = self._stub
        if request == "c":
            stub.running = True
            stub.rounds += 1
            return
        if stub.dies_after is not None and stub.rounds > stub.dies_after:
            raise Closed
        if stub.silent_after is not None and stub.rounds > stub.silent_after:
            return
        if stub.rounds > 0:
            time.sleep(stub.delay)
        if request.startswith("qRcmd,"):
            command = bytes.fromhex(request[6:]).decode()
            text = {"info status": "VM status: running", "info version": "7.2.0"}.get(command, "")
            self._send(packet("O" + f"{text}\r\n".encode().hex()))
        self._send(packet(self._answer(request)))
        if request.startswith("D"):
            stub.detached = stub.running = True

    def _answer(self, request):
        if request.startswith("qXfer:features:read:target.xml:"):
            begin, size = (int(number, 16) for number in request.rpartition(":")[2].split(","))
            piece = description()[begin:begin + size]
            return ("l" if begin + size >= len(description()) else "m") + piece
        if request.startswith("m"):
            address, size = (int(number, 16) for number in request[1:].split(","))
            if self._stub.frames and CODE <= address <= address + size <= CODE + len(CODE_BYTES):
                return CODE_BYTES[address - CODE:address - CODE + size].hex()
            if not STACK <= address <= address + size <= STACK + len(self._stub.stack):
                return "E14"
            return self._stub.stack[address - STACK:address - STACK + size].hex()
        if request.startswith("qThreadExtraInfo"):
            number = int(request.rpartition(".")[2], 16) - 1
            return f"CPU#{number} [{'halted ' if number in self._stub.halted else 'running'}]".encode().hex()
        if request == "g":
            values = {**VALUES, "rbp": VALUES["rsp"] if self._stub.frames else 0}
            return b"".join(struct.pack("<Q", values[name])[:size] for name, size in REGISTERS).hex()
        threads = ",".join(f"p01.{number + 1:02x}" for number in range(self._stub.vcpus))
        known = {"qfThreadInfo": f"m{threads}", "qsThreadInfo": "l", "qC": "QCp01.01", "qAttached": "1"}
        if request.startswith("qSupported"):
            return "PacketSize=1000;qXfer:features:read+;multiprocess+"
        return "OK" if request.startswith(("Hg", "D", "qRcmd")) else known.get(request, "")

    def _send(self, data):
        self._connection.sendall(data)


class FakeStub:
    """Serves one client after the other in a thread. greeting: said instead of all else. silent: never says a thing.
    dies_after: hangs up at the first request after so many resumes; silent_after: answers none from then on.
    delay: seconds for each answer after the first resume. frames: how deep the guest's stack is.
    halted: numbers of vCPUs. address: a Unix path or (host, port)."""

    def __init__(self, address, greeting=None, silent=False, dies_after=None, silent_after=None, delay=0,
                 vcpus=1, frames=0, halted=()):
        self.running, self.detached, self.rounds = True, False, 0
        self.dies_after, self.silent_after, self.delay, self.vcpus = dies_after, silent_after, delay, vcpus
        self.frames, self.stack, self.halted = frames, stack_of(frames), halted
        self._greeting, self._silent = greeting, silent
        self._listener = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        self._listener.bind(address)
        self._listener.listen()
        self._wake, self._end = socket.socketpair()
        self._client = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def has_client(self):
        return self._client is not None

    def close(self):
        self._end.close()
        if client := self._client:
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is gone already
        self._thread.join()
        self._listener.close()
        self._wake.close()

    def _serve(self):
        while self._wake not in select.select([self._listener, self._wake], [], [])[0]:
            self._client, _ = self._listener.accept()
            with self._client as client:
                try:
                    self._serve_client(client)
                except (Closed, OSError):
                    pass  # the next client is served all the same

    def _serve_client(self, client):
        if self._greeting is not None:
            client.sendall(self._greeting)
        if self._silent or self._greeting is not None:
            while client.recv(4096):
                pass
        else:
            Session(client, self).serve()


def load_plugin(option, api):
    """Answers -plugin as QEMU does (plugins/loader.c); returns where it is loaded."""
    path, _, arguments = option.removeprefix("file=").partition(",")
    version = int((re.findall(r"-([0-9]+)\.so$", path) or ["4"])[0])
    if api == "hangs":
        time.sleep(3600)
    if api == "none":
        sys.exit("qemu-fake: -plugin: invalid option")
    if api == "lacks":
        sys.exit(f"qemu-fake: Could not load plugin {path}: {path}: undefined symbol: qemu_plugin_scoreboard_new")
    oldest, newest = map(int, api.split())
    if version < oldest or version > newest:
        limit = f"a minimum version of {oldest}" if version < oldest else f"up to version {newest}"
        sys.exit(f"qemu-fake: Could not load plugin {path}: plugin requires API version {version}, but this QEMU supports "
                 f"only {limit}")
    if arguments == "question=on":
        print("ringside-plugin-api", api)
        sys.exit(f"qemu-fake: Could not load plugin {path}: qemu_plugin_install returned error code 1")


def main():
    options = sys.argv[1:]
    api = os.environ.get("FAKE_QEMU_PLUGIN_API", "lacks")
    if "question=on" in "".join(options):
        with pathlib.Path(os.environ.get("FAKE_QEMU_QUESTIONS", os.devnull)).open("a") as file:
            print(*options, file=file)
        load_plugin(options[options.index("-plugin") + 1], os.environ.get("FAKE_QEMU_PLUGIN_API_WHEN_ASKED", api))
    if options == ["-version"]:  # ringside's own question
        print(f"QEMU emulator version {os.environ.get('FAKE_QEMU_VERSION', '7.2.22')} (fake)")
        return
    if log := os.environ.get("FAKE_QEMU_LOG"):
        with pathlib.Path(log).open("a") as file:
            file.write("".join(f"[{option}]\n" for option in options))
    seconds = float(os.environ.get("FAKE_QEMU_SECONDS", "0"))
    if not seconds or "-version" in options or "--version" in options:
        return
    status = int(os.environ.get("FAKE_QEMU_STATUS", "0"))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(max(0, status)))
    if "-plugin" in options:
        load_plugin(options[options.index("-plugin") + 1], api)
        pathlib.Path(options[options.index("-plugin") + 1].split("ring=")[1].split(",")[0]).touch()
        return  # the plugin was installed, but there is no guest that it could sample
    address = "tcp::1234" if "-s" in options else options[options.index("-gdb") + 1]
    kind, _, rest = address.split(",")[0].partition(":")
    halted = (0,) if os.environ.get("FAKE_QEMU_HALTED") else ()
    with FakeStub(rest if kind == "unix" else ("127.0.0.1", int(rest.rpartition(":")[2])), halted=halted):
        time.sleep(seconds)
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    main()
