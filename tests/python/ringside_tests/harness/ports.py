"""TCP ports of this machine."""
import socket


def free_port():
    """The number of a port at which nobody listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
