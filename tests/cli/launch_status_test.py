"""The exit status of `ringside record -- COMMAND` and of `profile`: QEMU's own, and what an empty recording makes of it."""
import signal

import cli_case
import launch_case
from cli_case import DONE, FAILED, NOT_RECORDED
from ringside_tests.harness import limits

QEMU = "qemu-system-x86_64"


class LaunchStatus(launch_case.LaunchCase):
    def run_qemu(self, *options, verb="record", command=(QEMU,), seconds=1, status=0, halted=False):
        environment = {**self.environment(seconds), "FAKE_QEMU_STATUS": str(status)}
        if halted:
            environment["FAKE_QEMU_HALTED"] = "1"
        return self.ringside(verb, *options, "--", *command, environment=environment)

    def test_the_status_of_a_qemu_that_ends_by_itself(self):
        for status in (0, 1, 33, 35):
            for options in ((), ("--then-quit",), ("--duration", "0.2")):
                with self.subTest(status=status, options=options):
                    self.assertSays(self.run_qemu(*options, status=status), status, "samples are in ringside.data")

    def test_through_a_wrapper(self):
        self.script(self.folder / "run.sh", f"{QEMU} -m 64")
        self.assertSays(self.run_qemu(command=["./run.sh"], status=33), 33)
        # The wrapper's own status counts.
        self.script(self.folder / "run.sh", f"{QEMU} -m 64; test $? -eq 33")
        self.assertSays(self.run_qemu(command=["./run.sh"], status=33), DONE)

    def test_profile_passes_it_on(self):
        self.assertSays(self.run_qemu(verb="profile", status=33), 33)

    def test_a_signal(self):
        self.assertSays(self.run_qemu(status=-signal.SIGSEGV), 128 + signal.SIGSEGV, "killed by signal 11")

    def test_ended_by_ringside(self):
        result = self.run_qemu("--duration", "0.2", "--then-quit", seconds=2 * limits.STEP, status=33)
        self.assertSays(result, DONE, "samples are in ringside.data")

    def test_an_empty_recording_is_a_failure_where_qemu_has_none(self):
        idle = "found the vCPU idle"
        self.assertSays(self.run_qemu(halted=True), FAILED, "no sample was taken", idle, "--halted")
        self.assertSays(self.run_qemu(halted=True, status=33), 33, "no sample was taken", idle)
        self.assertSays(self.run_qemu(verb="profile", halted=True), DONE)

    def test_a_text_that_never_comes(self):
        result = self.run_qemu("--after", "ready now", command=[QEMU, "-serial", "file:serial"])
        self.assertSays(result, FAILED, "no sample was taken: 'ready now' has not come", "on which nothing came")

    def test_what_cannot_be_recorded(self):
        self.assertSays(self.run_qemu(command=["true"]), NOT_RECORDED)
        self.assertSays(self.run_qemu(command=["false"]), 1, "before it started a QEMU")
        self.assertSays(self.run_qemu("-o", "nowhere/x.data"), NOT_RECORDED)


if __name__ == "__main__":
    cli_case.main()
