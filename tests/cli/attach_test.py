"""Attaching to what --gdb names, when that is no gdb stub or ends too early."""
import os
import signal
import subprocess
import time

import cli_case
import fake_stub
from cli_case import FAILED
from ringside_tests.harness import limits


class Attach(cli_case.CliCase):
    def test_a_good_stub_is_sampled_and_left_running(self):
        result, stub = self.record()
        self.assertSays(result, cli_case.DONE, "sampling 1 vCPU")
        self.assertTrue(stub.detached and stub.running)
        self.assertRegex(self.ringside("export").stdout, r" [1-9]\d*\n$")

    def test_no_socket(self):
        result = self.ringside("record", "--gdb", self.gdb)
        self.assertSays(result, FAILED, self.gdb, "-gdb")
        self.assertFalse((self.folder / "ringside.data").exists())

    def test_nobody_listens_on_the_port(self):
        self.assertSays(self.ringside("record", "--gdb", "127.0.0.1:1"), FAILED, "127.0.0.1:1", "-gdb")

    def test_a_server_that_is_no_gdb_stub(self):
        result, _ = self.record(greeting=fake_stub.HTTP_GREETING)
        self.assertSays(result, FAILED, "not a gdb stub", "HTTP/1.1 400")

    def test_a_qmp_monitor_is_reported_as_such(self):
        result, _ = self.record(greeting=fake_stub.QMP_GREETING)
        self.assertSays(result, FAILED, "not a gdb stub", "QMP")

    def qmp(self, *arguments, **fault):
        with fake_stub.FakeStub(str(self.folder / "qmp-socket"), **fault):
            return self.ringside("record", *arguments, "--duration", "0.2")

    def test_a_monitor_that_is_none(self):
        self.assertSays(self.qmp("--qmp", "qmp-socket", greeting=b"+$T05#b9\r\n"), FAILED, "no QMP socket", "T05")

    def test_a_monitor_is_searched_where_emerald_has_it(self):
        for arguments in (["--qmp"], ["--qmp-socket"], ["--engine", "qmp"]):
            with self.subTest(arguments=arguments):
                self.assertSays(self.ringside("record", *arguments), FAILED, "./qmp-socket", "-qmp")

    def test_a_monitor_that_another_client_has(self):
        self.assertSays(self.qmp("--qmp", silent=True), FAILED, "./qmp-socket", "one client at a time")

    def test_a_monitor_and_a_stub_are_two_ways(self):
        self.assertSays(self.ringside("record", "--qmp", "a", "--gdb", "b"), cli_case.WRONG_USAGE, "--gdb and --qmp")
        self.assertSays(self.ringside("record", "--qmp", "a", "--", "qemu"), cli_case.WRONG_USAGE, "--qmp", "attaches")

    def test_a_stub_is_left_alone_beside_a_monitor(self):
        for verb in ("record", "ps"):
            with self.subTest(verb=verb):
                self.assertSays(self.ringside(verb, "--gdb", "a", "--leave-stub"), cli_case.WRONG_USAGE, "--leave-stub", "--qmp")

    def test_the_messages_name_no_option_that_there_is_not(self):
        result, _ = self.record(greeting=fake_stub.QMP_GREETING)
        if "--qmp" in result.said:
            self.assertTrue("--qmp" in self.ringside("record", "--help").stdout, result.said)

    def test_a_socket_that_says_nothing(self):
        began = time.monotonic()
        result, _ = self.record(silent=True)
        self.assertSays(result, FAILED, "gdb stub", "in time")
        self.assertLess(time.monotonic() - began, limits.SOON)

    def test_a_stub_that_dies_while_it_is_sampled(self):
        result, stub = self.record("--interval", "5", "--duration", "10", "-o", "kept.data", dies_after=40)
        self.assertGreater(stub.rounds, 40)
        self.assertSays(result, FAILED, "closed the connection", "kept.data")
        kept = self.ringside("export", "-i", "kept.data")
        self.assertSays(kept, cli_case.DONE)
        self.assertRegex(kept.stdout, r" \d\d\n$")

    def test_a_stub_that_stops_answering(self):
        result, _ = self.record("--interval", "5", "--duration", "3.5", "-o", "kept.data", silent_after=40)
        self.assertSays(result, FAILED, "did not answer", "nothing was sampled in the last")
        self.assertSays(self.ringside("export", "-i", "kept.data"), cli_case.DONE)

    def test_a_slow_stub_does_not_outlast_the_duration(self):
        began = time.monotonic()
        result, _ = self.record("--duration", "1", delay=0.2)
        self.assertEqual(result.returncode, cli_case.DONE, result.said)
        self.assertLess(time.monotonic() - began, limits.SOON)

    def test_a_slow_stub_can_be_left_at_any_moment(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number), fake_stub.FakeStub(self.gdb, delay=0.2):
                command = [cli_case.program(), "record", "--gdb", self.gdb]
                with open(self.folder / "log", "wb") as log:
                    process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.DEVNULL, stderr=log)
                time.sleep(3)
                process.send_signal(number)
                try:
                    process.wait(limits.SOON)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    self.fail("ringside does not heed the signal: " + (self.folder / "log").read_text())
            os.unlink(self.gdb)

    def test_without_a_limit_the_guests_end_is_the_recordings(self):
        result, _ = self.record("--interval", "5", dies_after=40)
        self.assertSays(result, cli_case.DONE, "closed the connection")
        self.assertRegex(self.ringside("export").stdout, r" \d\d\n$")

    def test_a_stub_that_dies_at_the_first_sample(self):
        result, _ = self.record(dies_after=1)
        self.assertSays(result, FAILED, "closed the connection")

    def test_a_stub_that_dies_while_it_is_asked_what_it_has(self):
        result, _ = self.record(dies_after=-1)
        self.assertSays(result, FAILED, "closed the connection")


if __name__ == "__main__":
    cli_case.main()
