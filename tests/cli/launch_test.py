"""`ringside record -- COMMAND` with a stand-in for QEMU in PATH."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import cli_case
import launch_case
from cli_case import FAILED, NOT_RECORDED
from ringside_tests.harness import limits
from ringside_tests.harness.ports import free_port


# Runs a command in a network of its own, in which nobody else listens on -s's port; 0x8914 is SIOCSIFFLAGS.
ALONE = ["unshare", "-rn", sys.executable, "-c",
         "import fcntl, os, socket, struct, sys; s = socket.socket(); "
         "fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'lo', 0x41)); os.execvp(sys.argv[1], sys.argv[1:])"]


def can_be_alone():
    return bool(shutil.which("unshare")) and subprocess.run([*ALONE, "true"], check=False,
                                                            stderr=subprocess.DEVNULL).returncode == 0


class Launch(launch_case.LaunchCase):
    def test_qemu_by_name(self):
        self.assertRecorded(self.launch("qemu-system-x86_64", "-m", "64"))
        self.assertEqual(self.options()[:2], ["-m", "64"])
        self.assertEqual(self.options().count("-gdb"), 1)

    def test_qemu_without_dashes(self):
        for options in (["--duration", "0.2", "--then-quit"], ["--then-quit", "-kF", "99", "--duration=0.2"]):
            with self.subTest(options=options):
                self.assertRecorded(self.ringside("record", *options, "qemu-system-x86_64", "-m", "64", "-k", "de",
                                                  environment=self.environment(2 * limits.STEP)))
                self.assertEqual(self.options()[:4], ["-m", "64", "-k", "de"])

    def test_qemu_by_its_path(self):
        self.assertRecorded(self.launch(self.bin / "qemu-system-x86_64", "-m", "64"))
        self.assertEqual(self.options().count("-gdb"), 1)

    def test_a_wrapper_gets_one_gdb_stub_in_a_private_folder(self):
        self.assertRecorded(self.launch("./run.sh", "-smp", "1"))
        options = self.options()
        self.assertEqual(options[:4], ["-m", "64", "-smp", "1"])
        self.assertEqual(options.count("-gdb"), 1)
        self.assertRegex(options[options.index("-gdb") + 1], f"^unix:{self.folder}/.*,server=on,wait=off$")
        self.assertEqual(list(self.folder.glob("ringside-*")), [], "the private folder is left")

    def test_a_folder_for_temporary_files_with_an_odd_name(self):
        odd = self.folder / "a,b=c:d e"
        odd.mkdir()
        for place in ("TMPDIR", "XDG_RUNTIME_DIR"):
            for command in (["qemu-system-x86_64"], ["./run.sh"]):
                with self.subTest(place=place, command=command):
                    result = self.ringside("record", "--duration", "0.2", "--then-quit", "--", *command,
                                           environment={**self.environment(2 * limits.STEP), place: str(odd)})
                    self.assertRecorded(result)
                    self.assertEqual(list(odd.iterdir()), [])

    def test_options_with_spaces_and_quotes_arrive_as_they_are(self):
        text = "console=ttyS0 a='b c' \"$HOME\" \\ *"
        self.assertRecorded(self.launch("./run.sh", "-append", text))
        self.assertEqual(self.options()[3], text)

    def test_a_gdb_stub_of_the_users_own_is_used(self):
        own = f"unix:{self.folder}/own,server=on,wait=off"
        result = self.launch("./run.sh", "-gdb", own)
        self.assertRecorded(result)
        self.assertEqual(self.options(), ["-m", "64", "-gdb", own])
        self.assertIn("already has", result.said)

    def test_a_gdb_stub_on_a_port_is_used(self):
        own = f"tcp:127.0.0.1:{free_port()}"
        self.assertRecorded(self.launch("./run.sh", "-gdb", own))
        self.assertEqual(self.options(), ["-m", "64", "-gdb", own])

    @unittest.skipUnless(can_be_alone(), "no network namespaces here, and port 1234 may be somebody's guest")
    def test_s_is_used_as_it_is(self):
        self.assertRecorded(self.launch("./run.sh", "-s", before=ALONE))
        self.assertEqual(self.options(), ["-m", "64", "-s"])

    def test_S_is_reported(self):
        result = self.launch("./run.sh", "-S", seconds=1)
        self.assertEqual(self.options()[2], "-S")
        self.assertEqual(self.options().count("-gdb"), 1)
        self.assertIn("started with -S", result.said)

    def test_a_question_to_qemu_is_not_taken_for_the_guest(self):
        self.script(self.folder / "run.sh", "qemu-system-x86_64 --version; qemu-system-x86_64 -m 64")
        self.assertRecorded(self.launch("./run.sh"))
        self.assertEqual(self.options()[:3], ["--version", "-m", "64"])

    def test_a_command_that_starts_no_qemu(self):
        self.assertSays(self.launch("true"), NOT_RECORDED, "'true'", "no QEMU", "--gdb")

    def test_a_command_that_fails(self):
        result = self.launch("sh", "-c", "exit 7")
        self.assertSays(result, 7, "'sh -c exit 7' ended (exit status 7) before it started a QEMU")
        self.assertEqual(result.said.count("\n"), 1)

    def test_a_command_that_is_not_there(self):
        self.assertSays(self.launch("no-such-command"), NOT_RECORDED, "no-such-command", "no such file")

    def test_a_qemu_that_is_not_there(self):
        result = self.launch("qemu-system-nothing")
        self.assertSays(result, NOT_RECORDED, "cannot start qemu-system-nothing: it is not in PATH; install QEMU")
        self.assertEqual(result.said.count("\n"), 1)

    def test_a_qemu_that_ends_at_once(self):
        result = self.launch("qemu-system-x86_64", seconds=0)
        self.assertSays(result, FAILED, "QEMU ended")

    def test_ringside_stays_until_qemu_ends(self):
        began = time.monotonic()
        result = self.launch("qemu-system-x86_64", options=("--duration", "0.2"), seconds=3)
        self.assertRecorded(result)
        self.assertIn("runs on", result.said)
        self.assertGreater(time.monotonic() - began, 3)

    def test_then_quit_ends_qemu(self):
        self.assertRecorded(self.launch("qemu-system-x86_64", seconds=2 * limits.STEP))  # ringside() waits for one

    def test_an_output_that_cannot_be_written_starts_nothing(self):
        result = self.launch("qemu-system-x86_64", options=("-o", "nowhere/x.data"))
        self.assertSays(result, NOT_RECORDED, "nowhere/x.data")
        self.assertFalse(self.log.exists(), "QEMU was started for nothing")

    def test_a_kernel_file_that_is_not_there_starts_nothing(self):
        self.assertSays(self.launch("qemu-system-x86_64", options=("--kernel", "gone.elf")), NOT_RECORDED, "gone.elf")
        self.assertFalse(self.log.exists(), "QEMU was started for nothing")

    def test_an_unknown_architecture_starts_nothing(self):
        self.script(self.bin / "qemu-system-s390x", f'exec {sys.executable} -B {cli_case.HERE}/fake_stub.py "$@"')
        result = self.launch("qemu-system-s390x", "-m", "64", options=())
        self.assertSays(result, NOT_RECORDED, "s390x", "qemu-system-x86_64")
        self.assertFalse(self.log.exists(), "QEMU was started for nothing")
        doctor = self.ringside("doctor", "--", "qemu-system-s390x", "-m", "64", environment=self.environment(1))
        self.assertSays(doctor, FAILED, result.said.strip())

    def test_a_kernel_for_qemu_that_is_not_there_starts_nothing(self):
        result = self.launch("./run.sh", "-kernel", "gone.elf", options=())
        self.assertSays(result, NOT_RECORDED, "-kernel", "gone.elf")
        self.assertNotIn("runs on", result.said)
        self.assertFalse(self.log.exists(), "QEMU was started for nothing")

    def test_ctrl_c_before_qemu_starts(self):
        started, said = self.folder / "started", self.folder / "said"
        command = [cli_case.program(), "record", "--", "sh", "-c", f"touch {started}; sleep 3600"]
        # No pipe: a shell between two commands may lose the SIGINT, and would hold the pipe open.
        with open(said, "wb") as stderr:
            process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stderr=stderr,
                                       start_new_session=True)
        try:
            self.assertTrue(limits.wait_until(started.exists))
            os.killpg(process.pid, signal.SIGINT)
            process.wait(timeout=limits.STEP)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.assertEqual(process.returncode, NOT_RECORDED, said.read_text())
        self.assertRegex(said.read_text(), "no QEMU|before a QEMU|before it started a QEMU|saw a QEMU; .* process [0-9]+, runs on")


if __name__ == "__main__":
    cli_case.main()
