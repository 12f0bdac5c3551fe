"""Records one guest with two engines at the same time: what the guest puts into its rings, and the plugin's samples."""
import os
import signal
import time

from ringside_tests.harness import every_engine, launched, machine, program


def add_options(parser):
    """Those that record() needs, and how far shares may be apart."""
    every_engine.add_options(parser)
    parser.set_defaults(engines=("tcg",), plugin_interval=1)  # beside the guest's own
    parser.add_argument("--seconds", type=float, default=8, help="of recording (default 8)")
    parser.add_argument("--busy", type=int, default=1500, help="samples wanted of each engine (default 1500)")
    parser.add_argument("--points", type=float, default=2.0, help="how far shares may be apart")
    parser.add_argument("--tries", type=int, default=1, help="at most, where those before say that they are bent")


def record(options, qemu, kernel, ready, folder, deadline):
    """The recordings by engine. Ringside starts the guest with the engine ring; another one comes when the guest has written
    `ready`, and goes before the first. options: of add_options(); qemu: the command without the plugin; kernel: the file
    that it boots."""
    second = folder / "second"
    command = [*qemu, *every_engine.plugin_options(options, folder), "-qmp", f"unix:{second},server=on,wait=off"]
    recordings = {engine: folder / f"{engine}.data" for engine in ("ring", "tcg")}
    first = [options.ringside, "record", "--engine", "ring", "--after", ready, *options.record_option,
             "-o", recordings["ring"], "--then-quit", "--", *command]
    attach = ["record", "--ring", f"{folder}/ring", "--qmp", str(second), "--kernel", str(kernel),
              "--interval", f"{options.plugin_interval:g}ms", "--duration", f"{options.seconds:g}",
              *options.record_option, "-o", str(recordings["tcg"])]
    with program.Program(list(map(str, first)), folder / "record.log",
                         machine.private_environment(folder).items()) as run:
        if not run.wait_said(ready, deadline - time.monotonic()):
            raise launched.Failed(f"the guest is not ready; ringside said: {run.said()[-1500:]}")
        launched.read_back(options.ringside, deadline, *attach)
        os.kill(run.process.pid, signal.SIGTERM)  # however long the other one took to come
        status = run.wait_end(deadline - time.monotonic())
        if status is None:
            raise launched.TookTooLong(f"ringside record took too long; it said: {run.said()[-1500:]}")
        if status:
            raise launched.Failed(f"ringside record ended with status {status}; it said: {run.said()[-1500:]}")
    return recordings
