"""Files given with --kernel that are not what they should be."""
import re

import cli_case
import elf_files
import fake_stub
from cli_case import DONE, FAILED, WRONG_USAGE


class KernelFile(cli_case.CliCase):
    def record_with(self, content):
        path = self.folder / "given.elf"
        if content is not None:
            path.write_bytes(content)
        result, stub = self.record("--kernel", path, "--duration", "0.2")
        self.assertTrue(stub.running)
        return result

    def test_a_missing_file(self):
        self.assertSays(self.record_with(None), FAILED, "given.elf", "no such file")

    def test_an_empty_file(self):
        self.assertSays(self.record_with(b""), FAILED, "given.elf")

    def test_a_text_file(self):
        self.assertSays(self.record_with(b"#!/bin/sh\necho hello, world\n" * 20), FAILED, "given.elf", "ELF")

    def test_a_truncated_elf(self):
        whole = elf_files.elf()
        for size in (20, 63, 100, 150, len(whole) - 64):
            with self.subTest(size=size):
                result = self.record_with(whole[:size])
                self.assertSays(result, FAILED, "given.elf")
                (self.folder / "gdb").unlink()

    def test_an_elf_of_another_architecture(self):
        self.assertSays(self.record_with(elf_files.elf(elf_files.AARCH64)), FAILED, "given.elf", "aarch64", "x86_64")

    def test_a_compressed_linux_kernel(self):
        self.assertSays(self.record_with(elf_files.bzimage()), FAILED, "given.elf", "vmlinux")

    def test_a_kernel_without_symbols_gives_addresses_and_a_hint(self):
        self.assertSays(self.record_with(elf_files.elf()), DONE, "given.elf", "no symbols", "--kernel")
        stacks = self.ringside("export")
        self.assertSays(stacks, DONE)
        self.assertRegex(stacks.stdout, r"0x[0-9a-f]*80001004.* [1-9]\d*\n$")

    def symbols(self, name, address=fake_stub.CODE):
        path = self.folder / "System.map"
        path.write_text(f"{address:016x} T {name}\n{address + 0x100:016x} T next_one\n")
        return path

    def test_a_text_of_symbols_names_a_kernel_without(self):
        self.assertSays(self.record_with(elf_files.elf()), DONE, "no symbols")
        stacks = self.ringside("export", "--symbols", self.symbols("hot_loop"))
        self.assertSays(stacks, DONE)
        self.assertRegex(stacks.stdout, r"(?m)^(.*;)?hot_loop [1-9]\d*$")

    def test_a_recording_without_a_kernel_is_named_by_one_that_is_given_later(self):
        recording = self.recording()
        later = self.folder / "later.elf"
        later.write_bytes(elf_files.elf(function="hot_loop"))
        as_linked = self.ringside("export", "-i", recording, "--kernel", later)
        self.assertSays(as_linked, DONE, "at its link addresses", "later.elf")
        self.assertRegex(as_linked.stdout, r"(?m)^(.*;)?hot_loop [1-9]\d*$")
        later.write_bytes(elf_files.elf(function="hot_loop", address=fake_stub.CODE + 0x10000))
        asked = self.ringside("export", "-i", recording, "--kernel", later)
        self.assertSays(asked, DONE, "--load-bias", "later.elf")
        self.assertNotIn("hot_loop", asked.stdout)
        later.write_bytes(elf_files.elf(function="hot_loop"))
        for bias, name in (("0", "hot_loop"), ("0x1000", r"<unknown:0x[0-9a-f]+>"), ("-200", r"<unknown:0x[0-9a-f]+>")):
            with self.subTest(bias=bias):
                stacks = self.ringside("export", "-i", recording, "--kernel", later, f"--load-bias={bias}")
                self.assertSays(stacks, DONE)
                self.assertRegex(stacks.stdout, rf"(?m)^(.*;)?{name} [1-9]\d*$")
        self.assertSays(self.ringside("export", "-i", recording, "--load-bias", "0"), WRONG_USAGE, "--kernel")

    def test_a_text_of_symbols_names_before_the_kernels_own(self):
        self.assertSays(self.record_with(elf_files.elf(function="hot_loop")), DONE)
        stacks = self.ringside("export", "--symbols", self.symbols("other_name"))
        self.assertRegex(stacks.stdout, r"(?m)^(.*;)?other_name [1-9]\d*$")

    def test_a_text_of_symbols_that_is_none(self):
        self.assertSays(self.record_with(elf_files.elf()), DONE)
        text = self.folder / "System.map"
        text.write_text("kernel symbols\n")
        self.assertSays(self.ringside("export", "--symbols", text), FAILED, "System.map", "line 1")
        self.assertSays(self.ringside("export", "--symbols", self.folder / "x"), FAILED, "x", "No such file")

    def test_a_recording_without_a_kernel_is_named_by_symbols_that_are_given_later(self):
        stacks = self.ringside("export", "-i", self.recording(), "--symbols", self.symbols("hot_loop"))
        self.assertSays(stacks, DONE)
        self.assertRegex(stacks.stdout, r"(?m)^(.*;)?hot_loop [1-9]\d*$")

    def test_with_user_code_alone_nothing_is_said_of_the_kernels(self):
        later = self.folder / "later.elf"
        later.write_bytes(elf_files.elf(function="hot_loop"))
        result = self.ringside("report", "-i", self.recording(), "-u", "--kernel", later)
        self.assertSays(result, FAILED, "there is no sample", "leave out all")
        self.assertNotIn("no effect", result.said)

    def test_symbols_for_recording_without_a_kernel_need_its_code(self):
        result, _ = self.record("--symbols", self.symbols("hot_loop"), "--duration", "0.2")
        self.assertSays(result, DONE, "--symbols", "could not be read")
        (self.folder / "gdb").unlink()

    def test_symbols_for_recording_need_a_linux_image(self):
        path = self.folder / "given.elf"
        path.write_bytes(elf_files.elf())
        result, stub = self.record("--kernel", path, "--symbols", self.symbols("hot_loop"), "--duration", "0.2")
        self.assertTrue(stub.running)
        self.assertSays(result, FAILED, "_stext", "ringside report")
        path.write_bytes(elf_files.elf(function="hot_loop"))
        (self.folder / "gdb").unlink()
        result, _ = self.record("--kernel", path, "--symbols", self.symbols("hot_loop"), "--duration", "0.2")
        self.assertSays(result, WRONG_USAGE, "symbols of its own")

    def test_without_a_kernel_file_kernel_code_is_addresses_and_not_firmware(self):
        result, _ = self.record()
        self.assertSays(result, DONE, "--kernel")
        stacks = self.ringside("export").stdout
        self.assertNotIn("[firmware]", stacks)
        self.assertRegex(stacks, r"0x[0-9a-f]*80001004.* [1-9]\d*\n$")

    def test_a_kernel_with_symbols_gives_names(self):
        self.assertSays(self.record_with(elf_files.elf(function="hot_loop")), DONE, "kernel file: ", "given.elf")
        self.assertRegex(self.ringside("export").stdout, r"(?m)^(.*;)?hot_loop [1-9]\d*$")

    def test_a_relative_kernel_is_found_from_another_folder(self):
        (self.folder / "given.elf").write_bytes(elf_files.elf(function="hot_loop"))
        result, _ = self.record("--kernel", "given.elf", "--duration", "0.2")
        self.assertSays(result, DONE)
        stacks = self.ringside("export", "-i", self.folder / "ringside.data", before=["env", "-C", "/"])
        self.assertSays(stacks, DONE)
        self.assertRegex(stacks.stdout, r"(?m)^(.*;)?hot_loop [1-9]\d*$")
        self.assertEqual(re.sub(r"ringside: \d+ of \d+ vCPU ticks .* were lost, .*\n", "", stacks.said), "")


if __name__ == "__main__":
    cli_case.main()
