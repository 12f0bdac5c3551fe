"""Profiles in disk images (`import --disk`): formats, partitions, file systems, names; and what is refused."""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess

import cli_case
import disk_images
from cli_case import DONE, FAILED, WRONG_USAGE, wait_until

# They have the length of a block, so that a block of the journal can take its place.
FIRST, SECOND, THIRD = (f"main;{name} 12\n{'x' * 1000} 1\n" for name in ("first", "second", "third"))
NAMES = ["plain", "Mixed", "with blanks", "qu'o\"te", "ünï-cödé", "日本—€.folded", "br[1]ack]et", "per%cent $HOME `x`;&", "back\\slash", "-dash"]
FAT_NAMES = [name for name in NAMES if not set(name) & set('"\\日')]


class DiskImages(cli_case.CliCase):
    def tree(self, names=("plain",), text=FIRST):
        """A folder of files with that text, for a file system."""
        tree = self.folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir()
        for name in names:
            (tree / name).write_text(text)
        return tree

    def take(self, disk, *paths, **more):
        (self.folder / "out.data").unlink(missing_ok=True)
        result = self.ringside("import", "-o", "out.data", "--disk", disk, *(f"--path={path}" for path in paths), **more)
        self.assertEqual((self.folder / "out.data").exists(), result.returncode == DONE, result.said)
        return result

    def assertTakes(self, text, disk, *paths, **more):
        result = self.take(disk, *paths, **more)
        self.assertSays(result, DONE)
        folded = self.ringside("export", "--format", "folded", "out.data").stdout
        self.assertEqual(sorted(folded.splitlines()), sorted(text.splitlines()))
        recording = (self.folder / "out.data").read_bytes()
        for internal in (b"/proc/self", str(self.folder).encode()):
            self.assertNotIn(internal, recording + result.said.encode())
        self.assertEqual(list(self.folder.glob("ringside-*")), [], "a temporary file is left")
        return result

    def assertRefuses(self, status, disk, paths, *texts, **more):
        result = self.take(disk, *paths, **more)
        self.assertSays(result, status, *texts)
        self.assertEqual(len(result.said.splitlines()), 1, result.said)
        self.assertNotIn("/proc/self", result.said)

    def test_names_of_any_kind_in_ext_and_fat(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree(NAMES))
        fat = disk_images.fat(self.folder / "f.img", self.tree(FAT_NAMES))
        for name in NAMES:
            with self.subTest(name=name):
                self.assertTakes(FIRST, ext, "/" + name)
                if name in FAT_NAMES:
                    self.assertTakes(FIRST, fat, "/" + name)
        self.assertTakes(FIRST, ext, "plain")  # from the root, too
        self.assertTakes(FIRST, fat, "/PLAIN")  # as FAT has it
        disk_images.rename_in_fat(fat, "Mixed", "日本—€é")
        self.assertTakes(FIRST, fat, "/日本—€é")
        for pattern in ("/-da*", "/-das?", "/[-]dash", "/*"):
            self.assertRefuses(FAILED, fat, [pattern], "no such file", pattern)
            self.assertRefuses(FAILED, ext, [pattern], "no such file", pattern)

    def test_each_version_of_the_file_systems(self):
        tree = self.tree()
        (tree / "deep").mkdir()
        (tree / "deep" / "er").write_text(SECOND)
        for kind in ("ext2", "ext3", "ext4"):
            self.assertTakes(SECOND, disk_images.ext(self.folder / "e.img", tree, kind), "/deep/er")
        for bits, mib in ((12, 4), (16, 8), (32, 40)):
            self.assertTakes(SECOND, disk_images.fat(self.folder / "f.img", tree, mib=mib, bits=bits), "/deep/er")

    def test_partitions_in_raw_and_qcow2(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree(("here", "both"), FIRST))
        fat = disk_images.fat(self.folder / "f.img", self.tree(("there", "both"), SECOND))
        for table in ("gpt", "dos"):
            raw = disk_images.partitioned(self.folder / f"{table}.raw", table, [None, ext, fat])
            for disk in (raw, disk_images.qcow2(self.folder / f"{table}.qcow2", raw, "-c")):
                with self.subTest(disk=disk.name):
                    self.assertTakes(FIRST, f"{disk}:2", "/both")
                    self.assertTakes(SECOND, f"{disk}:3", "/both")
                    self.assertTakes(FIRST, disk, "/here")  # the only one that has it
                    self.assertTakes(SECOND, disk, "/there")
                    self.assertRefuses(WRONG_USAGE, disk, ["/both"], "partitions 2 and 3 both have /both", f"{disk}:2")
                    list_of_all = ["1: no file system, 1.0 MiB", "2: ext4 'root', 8.0 MiB", "3: vfat 'EFI', 8.0 MiB"]
                    self.assertRefuses(FAILED, disk, ["/none"], "/none", *list_of_all)
                    self.assertRefuses(FAILED, f"{disk}:4", ["/both"], "no partition 4", *list_of_all)
                    self.assertRefuses(WRONG_USAGE, disk, [], "--path", *list_of_all)
                    self.assertRefuses(FAILED, f"{disk}:2", ["/there"], f"{disk}:2:/there: there is no such file")
                    self.assertRefuses(FAILED, f"{disk}:1", ["/there"], f"{disk}:1 holds no file system")

    def test_the_only_partition_and_logical_ones(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        self.assertTakes(FIRST, disk_images.partitioned(self.folder / "one.raw", "gpt", [ext]), "/plain")
        logical = disk_images.blank(self.folder / "l.raw", 16)
        disk_images.run("sfdisk", "-q", logical, text="label: dos\nstart=2048,type=5\nstart=4096,size=16384\n")
        disk_images.write_at(logical, 4096 * disk_images.SECTOR, ext.read_bytes())
        self.assertTakes(FIRST, f"{logical}:5", "/plain")

    def test_images_of_other_formats_and_with_a_backing_file(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        disk_images.run("qemu-img", "convert", "-O", "vmdk", ext, self.folder / "e.vmdk")
        self.assertTakes(FIRST, "e.vmdk", "/plain")
        disk_images.run("qemu-img", "create", "-q", "-f", "qcow2", "-b", "e.img", "-F", "raw", self.folder / "over.qcow2")
        self.assertTakes(FIRST, "over.qcow2", "/plain")
        ext.unlink()
        self.assertRefuses(FAILED, "over.qcow2", ["/plain"], "over.qcow2", "e.img")

    def test_colons_and_other_marks_in_the_name_of_an_image(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        gpt = disk_images.partitioned(self.folder / "g.raw", "gpt", [ext])
        for name in ("a:b", "disk:1", "json:{}", "nbd:x", "with, comma=x", "-o", "q?offset=5", "m@@5", "ünï"):
            shutil.copy(gpt, self.folder / name)
            disk_images.qcow2(self.folder / (name + ".qcow2"), gpt)
            for disk in (name, name + ":1", name + ".qcow2:1"):
                with self.subTest(disk=disk):
                    self.assertSays(self.ringside("import", "-o", "out.data", f"--disk={disk}", "--path=/plain"), DONE)

    def test_several_files_are_one_profile(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree(("one", "two")))
        self.assertRefuses(WRONG_USAGE, ext, ["/one", "/two"], f"{ext}:/two is one of several inputs")

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

    def test_the_image_is_not_written(self):
        disk = disk_images.ext(self.folder / "e.img", self.tree())
        disk_images.leave_in_journal(disk, "plain", SECOND.encode())
        fat = disk_images.fat(self.folder / "f.img", self.tree())
        for image in (disk, fat):
            image.chmod(0o444)
            before = image.read_bytes(), image.stat().st_mtime_ns
            self.assertSays(self.take(image, "/plain"), DONE)
            self.assertEqual((image.read_bytes(), image.stat().st_mtime_ns), before)

    def test_what_is_in_the_journal_only(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree())
        self.assertTakes(FIRST, ext, "/plain")
        disk_images.leave_in_journal(ext, "plain", SECOND.encode()[:1024])
        raw = disk_images.partitioned(self.folder / "g.raw", "gpt", [None, ext])
        for disk in (ext, f"{raw}:2", disk_images.qcow2(self.folder / "g.qcow2", raw)):
            result = self.take(disk, "/plain")
            self.assertSays(result, DONE, "was not unmounted")
            self.assertIn("main;second", self.ringside("export", "--format", "folded", "out.data").stdout)

    def test_bare_disks(self):
        text = FIRST.encode()
        captures = json.dumps({"stack_traces": [{"0": ["spin", "main"]}]}).encode()
        for contents, folded in ((text, FIRST), (captures, "main;spin 1\n")):
            disk = disk_images.blank(self.folder / "bare.raw", 4)
            disk_images.write_at(disk, 0, contents)
            self.assertTakes(folded, disk)
            self.assertTakes(folded, disk_images.qcow2(self.folder / "bare.qcow2", disk))
            part = disk_images.partitioned(self.folder / "part.raw", "gpt", [None, disk])
            self.assertTakes(folded, f"{part}:2")
        self.assertRefuses(FAILED, disk_images.blank(self.folder / "zeros.raw", 4), [], "zeros only")
        self.assertRefuses(FAILED, disk_images.blank(self.folder / "none.raw", 0), [], "zeros only")
        self.assertRefuses(FAILED, disk, ["/plain"], "no file system that is known", "--path")

    def test_a_recording_is_copied(self):
        recording = self.recording()
        tree = self.tree()
        shutil.copy(recording, tree / "ringside.data")
        self.assertSays(self.take(disk_images.ext(self.folder / "e.img", tree), "/ringside.data"), DONE)
        self.assertEqual((self.folder / "out.data").read_bytes(), recording.read_bytes())

    def test_messages_about_contents_name_the_image(self):
        whole = json.dumps({"stack_traces": [{"0": ["spin", "main"]}] * 3})
        disk = disk_images.ext(self.folder / "e.img", self.tree(("cut",), whole[:-20]))
        self.assertSays(self.take(disk, "/cut"), DONE, f"{disk}:/cut", "offset 0x")
        disk = disk_images.ext(self.folder / "e.img", self.tree(("words",), "words\n"))
        self.assertRefuses(FAILED, disk, ["/words"], f"{disk}:/words is not a recording")
        disk = disk_images.ext(self.folder / "e.img", self.tree(("cut",), "RINGSMPL" + "x" * 99))
        self.assertRefuses(FAILED, disk, ["/cut"], f"{disk}:/cut")

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
        (self.folder / "noise").write_bytes(noise.randbytes(1 << 20))
        self.assertRefuses(FAILED, "noise", ["/plain"], "no file system that is known")
        (self.folder / "noise.qcow2").write_bytes(b"QFI\xfb" + noise.randbytes(1 << 16))
        self.assertRefuses(FAILED, "noise.qcow2", ["/plain"], "noise.qcow2: qemu-img cannot read this image")

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

    def qemu_img(self, script):
        """Puts a qemu-img there that runs the lines of a shell script first; returns an environment that has it."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "qemu-img").write_text(f"#!/bin/sh\n{script}\nexec {shutil.which('qemu-img')} \"$@\"\n")
        (tools / "qemu-img").chmod(0o755)
        return {"PATH": f"{tools}:{os.environ['PATH']}"}

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
        self.assertRefuses(FAILED, disk, ["/plain"], f"{disk}: there is no room", "set TMPDIR", environment=late)

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
                self.assertTrue(wait_until(pid.exists))
                ringside.send_signal(number)
                self.assertEqual(ringside.wait(20), -number)
            child = int(pid.read_text())
            self.assertTrue(wait_until(lambda: not pathlib.Path(f"/proc/{child}/exe").exists()))
            self.assertEqual({path.name for path in self.folder.iterdir()}, {"e.qcow2", "e.img", "tree", "tools", "pid"})


if __name__ == "__main__":
    cli_case.main()
