"""A guest that every engine can attach to: QEMU with the plugin, a gdb stub of its own, and a monitor."""
import pathlib
import shutil

from ringside_tests.harness import launched, limits, linux_guest, machine

ENGINES = ("tcg", "gdb", "qmp")


def default_engines(arch):
    """All of them where the monitor prints all that a stack needs: of aarch64 no system registers, of riscv64 no
    privilege mode (docs/capture.md)."""
    return ENGINES if arch in ("amd64", "i386") else ("tcg", "gdb")


def add_options(parser):
    parser.add_argument("--ringside", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--plugin", type=pathlib.Path, help="libringside-tcg.so (default: of ringside's build)")
    parser.add_argument("--arch", choices=sorted(linux_guest.ARCHES), default="amd64")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--engines", type=_engines, help="such as tcg,gdb (default: all that suit the architecture)")
    parser.add_argument("--interval", type=float, default=5,
                        help="ms between samples of an engine that stops the guest (default 5)")
    parser.add_argument("--plugin-interval", type=float, default=2, help="ms between the plugin's samples (default 2)")
    limits.add_option(parser)
    parser.add_argument("--append", action="append", default=[], help="a further word of a Linux kernel's command line")
    parser.add_argument("--record-option", action="append", default=[], help="a further option of ringside record")


def _engines(text):
    names = tuple(text.split(","))
    if set(names) - set(ENGINES):
        raise ValueError(text)
    return names


def plugin_options(options, folder):
    """QEMU's options that load the plugin, where an engine needs it; its ring is in the folder."""
    if "tcg" not in options.engines:
        return []
    plugin = options.plugin or options.ringside.parent / "plugin" / "libringside-tcg.so"
    return ["-plugin", f"{plugin.resolve()},ring={folder}/ring"]


def boot_bundled(options, folder):
    """The bundled kernel at work."""
    guest = machine.Machine(options.kernel, f"workload={options.workload} seconds=0", cpus=options.cpus, memory=256,
                            extra=plugin_options(options, folder))
    try:
        guest.wait_serial("ringside-demo: ready", limits.STEP)
        return guest
    except BaseException:
        guest.close()
        raise


def boot_linux(options, folder, paths, cpu=None):
    """Debian's kernel at work. paths: as linux_guest.fetch() gives them; cpu: QEMU's model."""
    if not shutil.which(paths["QEMU"]):
        raise linux_guest.NoNetwork(f"there is no {paths['QEMU']}")
    return linux_guest.boot(paths, options.workload, options.cpus, extra=plugin_options(options, folder), kaslr=True,
                            cpu=cpu, words=options.append)


def attach_options(engine, guest, folder):
    """ringside's options that attach that engine; the qmp engine samples by what the monitor prints."""
    return {"tcg": ["--ring", f"{folder}/ring", "--qmp", guest.monitor],
            "gdb": ["--engine", "gdb", "--gdb", guest.gdb],
            "qmp": ["--engine", "qmp", "--qmp", guest.monitor, "--leave-stub"]}[engine]


def record(options, engine, guest, kernel, folder, deadline, until):
    """One recording by one engine, of the guest with that kernel file (None: none is given); returns its path. until: when
    it ends."""
    recording = folder / f"{engine}.data"
    interval = options.plugin_interval if engine == "tcg" else options.interval
    file = ["--kernel", str(kernel)] if kernel else []
    launched.read_back(options.ringside, deadline, "record", *attach_options(engine, guest, folder), *file,
                       "--interval", f"{interval:g}ms", *until, "-o", str(recording), *options.record_option)
    return recording
