"""Runs `ringside record OPTIONS -- qemu-system-x86_64 …` to its end, and ringside's readers on what it recorded."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from ringside_tests.harness import folded, limits, linux_guest, machine

NO_SAMPLE = "there is no sample"


class Failed(Exception):
    """A step failed; the message is what to tell."""


class TookTooLong(Failed):
    """A step was not done in its time, which the machine's other work may have had."""


class HostTooBusy(Failed):
    """Recordings are wrong, and all of them say that the host has bent them."""


def record(ringside, options, qemu, folder, deadline, may_be_empty=False):
    """Records into the folder and returns the recording's path. qemu: the command without -pidfile. may_be_empty: a
    recording without a sample is no failure."""
    recording, log, pid_file = folder / "ringside.data", folder / "record.log", folder / "qemu.pid"
    command = [ringside, "record", *options, "-o", str(recording), "--then-quit", "--", *qemu,
               "-pidfile", str(pid_file)]
    with open(log, "wb") as log_file:
        process = subprocess.Popen(command, cwd=folder, env=machine.private_environment(folder), stdout=log_file,
                                   stdin=subprocess.DEVNULL, stderr=log_file, start_new_session=True)
        try:
            process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise TookTooLong(f"ringside record took too long; it said: {_tail(log)}") from error
        finally:
            _end(process, pid_file)
    is_empty = may_be_empty and "no sample was taken" in _tail(log)
    if process.returncode not in (0, machine.GUEST_ENDED) and not is_empty:
        raise Failed(f"ringside record ended with status {process.returncode}; it said: {_tail(log)}")
    return recording


def _end(process, pid_file):
    """Ends ringside by its process id and, should it have left QEMU behind, QEMU by its own."""
    machine.end_process(process)
    end_qemu(pid_file)


def end_qemu(pid_file):
    """Ends the QEMU that has written the file, if it runs."""
    try:
        qemu = int(pid_file.read_text())
        if b"-pidfile\0" + os.fsencode(pid_file) in pathlib.Path(f"/proc/{qemu}/cmdline").read_bytes():
            os.kill(qemu, signal.SIGKILL)
    except (OSError, ValueError):
        pass  # QEMU removes the file when it ends


def _tail(path):
    return path.read_text(errors="replace")[-1500:].strip() or "nothing"


def read_back(ringside, deadline, *arguments, may_be_empty=False):
    """The standard output of one of ringside's verbs; nothing for a recording without a sample, where that may be."""
    try:
        result = subprocess.run([ringside, *arguments], stdin=subprocess.DEVNULL, check=False, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                timeout=max(1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise TookTooLong(f"ringside {arguments[0]} took too long") from error
    if result.returncode and not (may_be_empty and NO_SAMPLE in result.stderr):
        raise Failed(f"ringside {arguments[0]} ended with status {result.returncode}: {result.stderr[-800:]}")
    return result.stdout


def folded_text(ringside, recording, deadline, *options, by="none"):
    """The recording's folded stacks, which begin with functions, or with what `by` says."""
    return read_back(ringside, deadline, "export", "--format", "folded", "--no-inline", "--by", by, *options, "-i",
                     str(recording), "-o", "-", may_be_empty=True)


def samples_in(function, ringside, recording, deadline):
    """How many samples of the recording have the function in their stack."""
    return folded.samples_in(function, folded.parse(folded_text(ringside, recording, deadline)))


def wait_for_samples(least, function, ringside, recording, limit):
    """Waits until that many such samples are in the recording, which grows: a busy machine that hardly runs the vCPUs
    has few. limit: in seconds."""
    deadline = time.monotonic() + limit
    while (count := samples_in(function, ringside, recording, deadline)) < least:
        if time.monotonic() > deadline:
            raise TookTooLong(f"{count} samples of {function} after {limit:g} s, {least} wanted")
        time.sleep(0.2)


BENT = "shares are bent by the host"  # what a recording says of itself
CROWDED = "shares are bent by the host: as many busy vCPUs as processors"
_NOT_RUN = "it did not run the vCPU"
SKIPPED = 77


def how_bent(report):
    """BENT, CROWDED or None, as the head of a report says."""
    return (BENT if _NOT_RUN in report else CROWDED) if BENT in report else None


def says_bent(ringside, recording, deadline):
    return how_bent(read_back(ringside, deadline, "report", "--header", "--stdio", "-i", str(recording)))


def too_busy(why):
    """The exit status of a test whose recordings the host bends: on a host that was idle before, that is a failure."""
    print(why)
    return 1 if limits.SCALE == 1 else SKIPPED


def truthful(prefix, options, run):
    """The exit status of a test of shares. run(options, folder, deadline) records and judges, and returns 0 where the
    profile tells the truth, else a text that says what is wrong: BENT or CROWDED where only shares are, and the recording
    itself says that they are bent (judges/findings.py). Such a one is made again, options.tries times at most. One that is
    wrong and silent fails at once. Where the host's other work bends all of them, the test is skipped; on a host that was
    idle (script/time-scale), and where there are only as many vCPUs as processors, it fails. Each try but the last has half of
    the time that is left."""
    machine.exit_on_signals()
    end = time.monotonic() + options.limit
    with tempfile.TemporaryDirectory(prefix=prefix) as folder:
        for attempt in range(1, options.tries + 1):
            print(f"try {attempt} of {options.tries}")
            now, hangs = time.monotonic(), False
            try:
                wrong = run(options, pathlib.Path(folder), end if attempt == options.tries else now + (end - now) / 2)
            except TookTooLong as error:
                wrong, hangs = BENT, True
                print(f"FAILED: {error}")
            except linux_guest.NoNetwork as error:
                print(f"skipped: {error}")
                return SKIPPED
            except (Failed, machine.GuestError, OSError, ValueError, subprocess.SubprocessError) as error:
                wrong = f"{type(error).__name__}: {error}"
            if wrong not in (BENT, CROWDED):
                print(f"{attempt - 1} of {attempt} recordings were wrong and said that their shares are bent")
                if wrong:
                    print(f"FAILED: {wrong}")
                return 1 if wrong else 0
    if hangs or wrong == CROWDED:
        print(f"FAILED: each recording is wrong: {wrong}")
        return 1
    return too_busy(f"all {options.tries} recordings said that their shares are bent: the host is too busy")
