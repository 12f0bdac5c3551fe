"""A gdb stub in front of QEMU's, which lets two clients see one stopped state.

The first client (ringside) samples a guest that it takes to be running. When it lets the guest run on, the guest stays
where it is until the second client (gdb) has probed it too. Then the guest runs to the next state: for a random time, or
to a random instruction behind a breakpoint. QEMU's stub takes one client at a time; its own connection is here.
"""
import random
import select
import socket
import time

from ringside_tests.harness import limits, machine

INTERRUPT = b"\x03"
RUNS = ("c", "C", "s", "S", "vCont;", "D", "k", "bc", "bs")


class ProxyError(machine.GuestError):
    """QEMU's stub or a client did what was not expected."""


def packet(body):
    return b"$" + body + b"#" + f"{sum(body) & 0xff:02x}".encode()


class Packets:
    """Cuts a stream into packets. The bodies are handed out as they are, with their escapes."""

    def __init__(self):
        self._buffer = b""

    def feed(self, data):
        self._buffer += data
        found = []
        while True:
            start = self._buffer.find(b"$")
            end = self._buffer.find(b"#", start + 1)
            if start < 0 or end < 0 or len(self._buffer) < end + 3:
                return found
            found.append(self._buffer[start + 1:end])
            self._buffer = self._buffer[end + 3:]


class Stub:
    """The connection to QEMU's stub. Requests are answered one by one."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(limits.STEP)
        self._socket.connect(path)
        self._packets, self._replies = Packets(), []
        self.stopped = True
        self._socket.sendall(b"+" + packet(b"qSupported:multiprocess+;xmlRegisters=i386"))
        self.supported = self._reply(skip=(b"T", b"S"))

    def close(self):
        self._socket.close()

    def _take(self, data):
        found = self._packets.feed(data)
        self._replies += found
        if found and self.stopped:  # a byte to a running guest would stop it
            self._socket.sendall(b"+" * len(found))

    def _reply(self, skip=()):
        while True:
            while not self._replies:
                data = self._socket.recv(65536)
                if not data:
                    raise ProxyError("QEMU's stub has gone")
                self._take(data)
            reply = self._replies.pop(0)
            if not reply.startswith(skip or b"\0"):
                return reply

    def request(self, body):
        self._socket.sendall(packet(body))
        return self._reply()

    def next_reply(self):
        return self._reply()

    def resume(self):
        self._socket.sendall(packet(b"vCont;c"))
        self.stopped = False

    def wait_stop(self, seconds):
        """The stop reply, or None when the guest still runs after that time."""
        end = time.monotonic() + seconds
        while not self._replies:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._socket], [], [], left)[0]:
                return None
            data = self._socket.recv(65536)
            if not data:
                raise ProxyError("QEMU's stub has gone")
            self.stopped = True  # what comes from a running guest is that it has stopped
            self._take(data)
        return self._replies.pop(0)

    def interrupt(self):
        self._socket.sendall(INTERRUPT)
        reply = self.wait_stop(20)
        if reply is None:
            raise ProxyError("the guest does not stop")
        return reply

    def step(self, thread):
        """One instruction of one vCPU; the others stand still."""
        self._socket.sendall(packet(b"vCont;s:" + thread))
        if self.wait_stop(20) is None:
            raise ProxyError("a single step does not end")


def thread_of(stop_reply):
    """The thread that a stop reply names, such as p01.02."""
    for field in stop_reply[3:].split(b";"):
        key, _, value = field.partition(b":")
        if key == b"thread":
            return value
    return b"p01.01"


class Client:
    """One client's connection, as a stub sees it."""

    def __init__(self, connection, features):
        self.socket, self.features = connection, features
        self._packets, self._acknowledges = Packets(), True

    def send(self, body):
        self.socket.sendall(packet(body))

    def packets(self):
        """The packets that have arrived; waits for some. None at the end."""
        data = self.socket.recv(65536)
        if not data:
            return None
        found = self._packets.feed(data)
        if self._acknowledges:
            self.socket.sendall(b"+" * len(found))
        return found

    def answer(self, body, stub):
        """Answers one packet that does not run the guest."""
        if body.startswith(b"qSupported"):
            self.send(self.features)
        elif body == b"QStartNoAckMode":
            self.send(b"OK")
            self._acknowledges = False
        else:
            reply = stub.request(body)
            while body.startswith(b"qRcmd") and reply.startswith(b"O") and reply != b"OK":  # a monitor's text
                self.send(reply)
                reply = stub.next_reply()
            self.send(reply)


class Proxy:
    """places: addresses at which to search for states, such as entry code; entry_share: how many of the states are searched
    for there. probe(): called in each state that the sampler has seen, while the second client may read."""

    def __init__(self, stub_path, listen_path, probe, places=(), entry_share=0.0, seed=1, run_seconds=(0.001, 0.03)):
        self.stub = Stub(stub_path)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(listen_path)
        self._listener.listen(4)
        self._probe, self._places, self._entry_share = probe, list(places), entry_share
        self._chance, self._run_seconds = random.Random(seed), run_seconds
        self.found_at_places, self._visited = 0, []
        self._chosen = {"Hg": b"Hgp1.1", "Qq": b"Qqemu.PhyMemMode:0"}  # what the sampler believes to be in force

    def close(self):
        self.stub.close()
        self._listener.close()

    def serve_sampler(self, seconds):
        """Serves one client until it goes or the time is over; the guest stands still then."""
        end = time.monotonic() + seconds
        if not select.select([self._listener], [], [], seconds)[0]:
            raise ProxyError("nobody connects")
        client = Client(self._listener.accept()[0], self.stub.supported)
        client.send(b"T02thread:p01.01;")
        runs, sampled = False, False
        while time.monotonic() < end:
            if not select.select([client.socket], [], [], 0.2)[0]:
                continue
            try:
                requests = client.packets()
            except ConnectionError:
                requests = None
            if requests is None:
                return
            if runs and not requests:
                client.send(b"T02thread:p01.01;")
                runs = False
            for request in requests:
                if runs:  # QEMU swallows the byte that stops a running guest, and so loses the packet that it began
                    client.send(b"T02thread:p01.01;")
                    runs = False
                    continue
                text = request.decode("latin-1")
                if text.startswith(("Hg", "Qqemu.PhyMemMode")):
                    self._chosen[text[:2]] = request
                sampled |= text == "g"
                if not text.startswith(RUNS) or text == "vCont?":
                    client.answer(request, self.stub)
                    continue
                if text.startswith("D"):
                    client.send(b"OK")
                # The sampler may not have waited for the probe: then requests of its next stop are behind this one.
                self._next_state(sampled)
                runs, sampled = True, False

    def _next_state(self, sampled):
        """gdb probes the state that has been sampled; then the guest runs to another one."""
        if sampled:
            self.stub.request(b"Qqemu.PhyMemMode:0")
            self.stub.request(b"Hgp1.1")
            self._probe()
        self._run_on()
        for request in self._chosen.values():
            self.stub.request(request)

    def _run_on(self):
        if self._places and self._chance.random() < self._entry_share and self._run_to_place():
            self.found_at_places += 1
            return
        self.stub.resume()
        early = self.stub.wait_stop(self._chance.uniform(*self._run_seconds))
        if early is None:
            self.stub.interrupt()

    def _run_to_place(self):
        """Runs to a breakpoint at one of the places and some instructions further. False when nothing comes there."""
        self.stub.resume()  # leaves the place where it stands
        if self.stub.wait_stop(self._chance.uniform(*self._run_seconds)) is None:
            self.stub.interrupt()
        chosen = self._chance.sample(self._places, min(4, len(self._places)))
        if self._visited and self._chance.random() < 0.8:  # nothing ever comes by most places
            chosen = self._chance.choice(self._visited)
        for address in chosen:
            self.stub.request(f"Z1,{address:x},1".encode())
        self.stub.resume()
        reply = self.stub.wait_stop(0.5)
        hit = reply is not None
        if not hit:
            self.stub.interrupt()
        for address in chosen:
            self.stub.request(f"z1,{address:x},1".encode())
        if hit:
            if chosen not in self._visited:
                self._visited.append(chosen)
            thread = thread_of(reply)
            for _ in range(self._chance.randrange(60)):
                self.stub.step(thread)
        return hit


class SecondClient:
    """gdb's connection: it stays open, and is served only while it is its turn."""

    def __init__(self, listen_path):
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(listen_path)
        self._listener.listen(1)
        self._client = None

    def close(self):
        if self._client:
            self._client.socket.close()
        self._listener.close()

    def serve_until(self, done, stub, wake):
        """Answers reads until done() says so; `wake` is a file that becomes readable when it may be so."""
        end = limits.step_end()
        while not done():
            if time.monotonic() > end:
                raise ProxyError("gdb takes too long")
            sources = [self._client.socket if self._client else self._listener, wake]
            ready = select.select(sources, [], [], 1)[0]
            if self._listener in ready:
                self._client = Client(self._listener.accept()[0], stub.supported)
            elif self._client and self._client.socket in ready:
                requests = self._client.packets()
                if requests is None:
                    raise ProxyError("gdb has gone")
                for request in requests:
                    if request.startswith((b"Z", b"z")):
                        self._client.send(b"OK")
                    elif request.startswith(b"G") or request.startswith(b"P") or request.startswith(b"M"):
                        self._client.send(b"E01")  # it only looks
                    else:
                        self._client.answer(request, stub)
