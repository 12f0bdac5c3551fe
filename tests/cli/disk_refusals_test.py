"""Disk images that `import --disk` refuses or cannot read: damaged, held by QEMU, of other systems; tools and room."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import cli_case
from cli_case import DONE, FAILED, WRONG_USAGE
from disk_case import FIRST, SECOND, DiskCase
from ringside_tests.harness import disk_images, limits


class DiskRefusals(DiskCase):
    def test_what_is_no_file(self):
        tree = self.tree()
        (tree / "folder").mkdir()
        (tree / "folder" / "x").write_text(SECOND)
        (tree / "empty").touch()
        disk = disk_images.fat(self.folder / "f.img", tree)
        self.assertRefuses(FAILED, disk, ["/folder"], f"{disk}:/folder: this is a folder")
        self.assertRefuses(FAILED, disk, ["/empty"], f"{disk}:/empty: this file is empty")
        (tree / "link").symlink_to("plain")
        (tree / "short").symlink_to("folder")
        (tree / "absolute").symlink_to("/folder")
        os.mkfifo(tree / "pipe")
        disk = disk_images.ext(self.folder / "e.img", tree)
        self.assertTakes(SECOND, disk, "/short/x")
        self.assertTakes(SECOND, disk, "/absolute/x")
        self.assertRefuses(FAILED, disk, ["/link"], f"{disk}:/link: this is a symbolic link to plain; name the file itself")
        for path, text in (("/folder", "a folder"), ("/", "a folder"), ("/empty", "empty"), ("/pipe", "no regular file"),
                           ("/plain/x", "no such file"), ("/none/x", "no such file")):
            self.assertRefuses(FAILED, disk, [path], text, f"{disk}:{path}")
        for path in ("", "a\nb"):
            self.assertRefuses(WRONG_USAGE, disk, [path], "--path")
        for other in ("/dev/null", ".", "tree"):
            self.assertRefuses(WRONG_USAGE, other, ["/plain"], "no regular file")
        self.assertRefuses(FAILED, "none:1", ["/plain"], "none: there is no such disk image")
        self.assertRefuses(WRONG_USAGE, f"{disk}:x", ["/plain"], "number of a partition")
        self.assertRefuses(WRONG_USAGE, f"{disk}:1", ["/plain"], "no partitions")
        self.assertRefuses(WRONG_USAGE, disk, [], "holds ext4", "--path")

    def test_words_that_do_not_go_together(self):
        disk = disk_images.ext(self.folder / "e.img", self.tree())
        for words in ([], ["--path", "/plain"], ["--disk", disk, "file", "--path", "/plain"]):
            self.assertSays(self.ringside("import", *words), WRONG_USAGE, "--disk")
        before = disk.read_bytes()
        self.assertSays(self.ringside("import", "--disk", disk, "--path", "/plain", "-o", disk), WRONG_USAGE, "this is the input")
        self.assertEqual(disk.read_bytes(), before)

    def test_redoxfs_is_recognized(self):
        header = b"RedoxFS\0" + (8).to_bytes(8, "little")
        alone = disk_images.blank(self.folder / "redox.img", 4)
        disk_images.write_at(alone, 0, header)
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        for disk in (alone, disk_images.partitioned(self.folder / "g.raw", "gpt", [None, alone, ext])):
            self.assertRefuses(FAILED, disk, ["/profiling-0"], "holds RedoxFS", "copy the file out", "redoxfs")
        self.assertRefuses(FAILED, alone, [], "holds RedoxFS")
        self.assertTakes(FIRST, "g.raw", "/plain")

    def test_other_file_systems_are_named(self):
        disk = disk_images.blank(self.folder / "x.img", 4)
        disk_images.run("mkswap", "-q", disk)
        self.assertRefuses(FAILED, disk, ["/plain"], "holds swap", "copy the file out")

    def test_damaged_images(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        raw = disk_images.partitioned(self.folder / "g.raw", "dos", [None, ext])
        os.truncate(raw, 5 << 20)
        self.assertRefuses(FAILED, f"{raw}:2", ["/plain"], f"{raw}:2", "cut off")
        self.assertRefuses(FAILED, raw, ["/plain"], "it ends behind the image")
        cut = disk_images.qcow2(self.folder / "cut.qcow2", ext)
        os.truncate(cut, cut.stat().st_size // 2)
        self.assertIn(self.take(cut, "/plain").returncode, (DONE, FAILED))
        noise = random.Random(1)
        for number in range(25):
            part = [ext, disk_images.fat(self.folder / "f.img", self.tree())][number % 2]
            bad = self.folder / "bad.img"
            contents = bytearray(part.read_bytes())
            for _ in range(200):
                contents[noise.randrange(1 << 16)] = noise.randrange(256)
            bad.write_bytes(contents)
            result = self.take(bad, "/plain")
            self.assertIn(result.returncode, (DONE, FAILED, WRONG_USAGE), result.said)
            self.assertTrue(result.said.startswith("ringside: "), result.said)
        two = disk_images.ext(self.folder / "two.img", self.tree(("there",), SECOND))
        disk_images.write_at(ext, 2048, b"\xff" * 64)  # the descriptors of its groups
        both = disk_images.partitioned(self.folder / "both.raw", "gpt", [ext, two])
        self.assertTakes(SECOND, both, "/there")
        self.assertRefuses(FAILED, both, ["/none"], f"{both}:1: debugfs cannot read this file system: ")
        (self.folder / "noise").write_bytes(noise.randbytes(1 << 20))
        self.assertRefuses(FAILED, "noise", ["/plain"], "no file system that is known")
        (self.folder / "noise.qcow2").write_bytes(b"QFI\xfb" + noise.randbytes(1 << 16))
        self.assertRefuses(FAILED, "noise.qcow2", ["/plain"], "noise.qcow2: qemu-img cannot read this image")

    def test_a_file_that_is_larger_than_its_file_system(self):
        disk = disk_images.ext(self.folder / "e.img", self.tree())
        disk_images.run("debugfs", "-w", "-R", f"set_inode_field /plain size {1 << 40}", disk)
        self.assertRefuses(FAILED, disk, ["/plain"], f"{disk}:/plain", f"{1 << 40} bytes", "damaged")

    def test_a_damaged_chain_of_clusters(self):
        text = FIRST + "y" * 3000 + " 1\n"
        disk = disk_images.fat(self.folder / "f.img", self.tree(("plain",), text))
        self.assertTakes(text, disk, "/plain")
        contents = bytearray(disk.read_bytes())
        sectors = int.from_bytes(contents[14:16], "little")  # before the first table of clusters
        entry = contents.index(b"PLAIN      ")
        first = int.from_bytes(contents[entry + 26:entry + 28], "little")
        for table in range(contents[16]):
            at = (sectors + table * int.from_bytes(contents[22:24], "little")) * disk_images.SECTOR + 2 * first
            contents[at:at + 2] = b"\xff\xff"  # the chain ends there
        disk.write_bytes(contents)
        self.assertRefuses(FAILED, disk, ["/plain"], f"{disk}:/plain: only 512 of the {len(text)} bytes")

    def test_images_that_are_their_own_backing_files(self):
        (self.folder / "in").mkdir()
        for name, backing in (("self.qcow2", "self.qcow2"), ("first.qcow2", "second.qcow2"), ("second.qcow2", "first.qcow2"),
                              ("long.qcow2", "in/../long.qcow2"), ("absolute.qcow2", self.folder / "absolute.qcow2")):
            disk_images.run("qemu-img", "create", "-q", "-f", "qcow2", self.folder / name, "8M")
            disk_images.run("qemu-img", "rebase", "-q", "-u", "-b", backing, "-F", "qcow2", self.folder / name)
        disk_images.run("qemu-img", "create", "-q", "-u", "-f", "qcow2", "-b", "self.qcow2", "-F", "qcow2",
                        self.folder / "over.qcow2", "8M")
        for name, backing in (("self", "self"), ("first", "second"), ("over", "self"), ("absolute", "absolute")):
            with self.subTest(name=name):
                begun = time.monotonic()
                self.assertRefuses(FAILED, f"{name}.qcow2", ["/plain"], f"{name}.qcow2: the backing file ",
                                   f"{backing}.qcow2 leads back to an image before it")
                self.assertLess(time.monotonic() - begun, limits.SOON)
        # A name that is another one each time ends where a path is too long.
        begun = time.monotonic()
        self.assertRefuses(FAILED, "long.qcow2", ["/plain"], "long.qcow2: qemu-img cannot read this image: … ",
                           "too long")
        self.assertLess(time.monotonic() - begun, limits.SOON)

    def test_an_image_that_names_a_file_without_being_named_as_its_format(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        image = self.folder / "guest.img"
        backing = ["-b", ext, "-F", "raw"]
        for kind, options, named in (("qcow2", backing, "e.img"), ("qed", backing, "e.img"),
                                     ("qcow2", ["-o", f"data_file={self.folder}/d.raw"], "d.raw"),
                                     ("vmdk", ["-o", "subformat=monolithicFlat"], "guest-flat.img")):
            disk_images.run("qemu-img", "create", "-q", "-f", kind, *options, image, "8M")
            with self.subTest(kind=kind, options=options):
                self.assertRefuses(WRONG_USAGE, image, ["/plain"], f"{image}: ", named, f"rename the image to end in .{kind}")
                if options == backing:
                    image.rename(self.folder / f"named.{kind}")
                    self.assertTakes(FIRST, self.folder / f"named.{kind}", "/plain")

    def test_an_image_that_a_running_qemu_holds(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        for disk in (ext, disk_images.qcow2(self.folder / "e.qcow2", ext)):
            with self.guest_with(disk, "raw" if disk == ext else "qcow2"):
                self.assertRefuses(WRONG_USAGE, disk, ["/plain"], f"{disk}: a running QEMU has this image open",
                                   "end that guest first", "drive_backup")
            self.assertTakes(FIRST, disk, "/plain")

    @contextlib.contextmanager
    def guest_with(self, disk, kind):
        """A QEMU that has the disk open and runs nothing."""
        with subprocess.Popen(["qemu-system-x86_64", "-S", "-nodefaults", "-display", "none", "-m", "32", "-monitor", "stdio",
                               "-drive", f"file={disk},format={kind},if=virtio"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as qemu:
            try:
                qemu.stdin.write(b"info status\n")  # its monitor answers when the disks are open
                qemu.stdin.flush()
                self.assertTrue(any(b"paused" in line for line in qemu.stdout))
                yield
            finally:
                qemu.kill()

    def test_tools_that_are_not_there(self):
        """Each is hidden in turn: PATH has links to the others, and debugfs is looked for in /usr/sbin, too."""
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        fat = disk_images.fat(self.folder / "f.img", self.tree())
        tools = self.folder / "tools"
        tools.mkdir()
        self.assertRefuses(FAILED, ext, ["/plain"], "cannot run qemu-img", "package qemu-utils", environment={"PATH": str(tools)})
        (tools / "qemu-img").symlink_to(shutil.which("qemu-img"))
        self.assertTakes(FIRST, ext, "/plain", environment={"PATH": str(tools)})
        self.assertRefuses(FAILED, fat, ["/plain"], "package mtools", environment={"PATH": str(tools)})

    def test_no_room_for_a_copy(self):
        disk = disk_images.qcow2(self.folder / "e.qcow2", disk_images.ext(self.folder / "e.img", self.tree()))
        before = self.qemu_img("[ $1 = measure ] && echo '{\"required\": 1152921504606846976}' && exit")
        self.assertRefuses(FAILED, disk, ["/plain"], f"a copy of {disk} needs 1048576.0 TiB", "set TMPDIR", environment=before)
        late = self.qemu_img("[ $1 = convert ] && echo 'error while writing: No space left on device' >&2 && exit 1")
        self.assertRefuses(FAILED, disk, ["/plain"], f"{disk}: ", "has no room", "set TMPDIR", environment=late)

    def test_nothing_is_left_when_it_is_interrupted(self):
        """With a copy that never ends: it is gone with ringside."""
        disk = disk_images.qcow2(self.folder / "e.qcow2", disk_images.ext(self.folder / "e.img", self.tree()))
        pid = self.folder / "pid"
        slow = self.qemu_img(f"[ $1 = convert ] && echo $$ >{pid}.new && mv {pid}.new {pid} && exec sleep 1000")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            pid.unlink(missing_ok=True)
            environment = {**os.environ, **slow, "TMPDIR": str(self.folder)}
            with subprocess.Popen([cli_case.program(), "import", "--disk", disk, "--path", "/plain", "-o", "out.data"],
                                  cwd=self.folder, env=environment, stderr=subprocess.DEVNULL) as ringside:
                self.assertTrue(limits.wait_until(pid.exists))
                ringside.send_signal(number)
                self.assertEqual(ringside.wait(limits.STEP), -number)
            child = int(pid.read_text())
            self.assertTrue(limits.wait_until(lambda: not pathlib.Path(f"/proc/{child}/exe").exists()))
            self.assertEqual({path.name for path in self.folder.iterdir()}, {"e.qcow2", "e.img", "tree", "tools", "pid"})


if __name__ == "__main__":
    cli_case.main()
