"""Profiles in disk images (`import --disk`): formats, partitions, file systems, names."""
import json
import shutil

import cli_case
from cli_case import DONE, FAILED, WRONG_USAGE
from disk_case import FIRST, SECOND, DiskCase
from ringside_tests.harness import disk_images

NAMES = ["plain", "Mixed", "with blanks", "qu'o\"te", "ünï-cödé", "日本—€.folded", "br[1]ack]et", "per%cent $HOME `x`;&", "back\\slash", "-dash"]
FAT_NAMES = [name for name in NAMES if not set(name) & set('"\\日')]


class DiskImages(DiskCase):
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

    def test_the_image_is_not_written(self):
        disk = disk_images.ext(self.folder / "e.img", self.tree())
        disk_images.leave_in_journal(disk, "plain", SECOND.encode())
        fat = disk_images.fat(self.folder / "f.img", self.tree())
        for image in (disk, fat):
            image.chmod(0o444)
            before = image.read_bytes(), image.stat().st_mtime_ns
            self.assertSays(self.take(image, "/plain"), DONE)
            self.assertEqual((image.read_bytes(), image.stat().st_mtime_ns), before)

    def test_closed_standard_streams(self):
        disk = disk_images.ext(self.folder / "e.img", self.tree())
        for closed in ("<&-", ">&-", "<&- >&-"):
            with self.subTest(closed=closed):
                self.assertTakes(FIRST, disk, "/plain", before=("sh", "-c", f'exec "$0" "$@" {closed}'))
        disk_images.leave_in_journal(disk, "plain", SECOND.encode()[:1024])
        self.take(disk, "/plain", before=("sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-'))
        self.assertIn("main;second", self.ringside("export", "--format", "folded", "out.data").stdout)

    def test_a_disk_that_was_not_unmounted_is_copied_once(self):
        ext = disk_images.ext(self.folder / "e.img", self.tree(("plain", "other")))
        disk_images.leave_in_journal(ext, "plain", SECOND.encode()[:1024])
        result = self.take(ext, "/plain", "/other")
        self.assertEqual(result.said.count("was not unmounted"), 1, result.said)

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
        out = self.folder / "out.data"
        self.assertEqual(out.read_bytes(), recording.read_bytes())
        # As every recording: for its owner alone, never through a link, and an older one is kept.
        self.assertEqual(out.stat().st_mode & 0o777, 0o600)
        out.write_text("older")
        self.assertSays(self.ringside("import", "-o", "out.data", "--disk", "e.img", "--path", "/ringside.data"), DONE)
        self.assertEqual((self.folder / "out.data.old").read_text(), "older")
        out.unlink()
        out.symlink_to("precious")
        self.assertSays(self.ringside("import", "-o", "out.data", "--disk", "e.img", "--path", "/ringside.data"), WRONG_USAGE,
                        "symbolic link")
        for options in (["--kernel", "none.elf"], ["--cpu-freq", "2"], ["--load-bias", "0x1000"]):
            result = self.ringside("import", "-o", "no.data", "--disk", "e.img", "--path", "/ringside.data", *options)
            self.assertSays(result, WRONG_USAGE, "e.img:/ringside.data is a recording")
            self.assertFalse((self.folder / "no.data").exists())

    def test_a_recording_on_a_bare_disk_is_copied_without_what_is_behind_it(self):
        contents = self.recording().read_bytes()
        for behind in (b"", b"\0" * 300, contents):  # that of an older recording, too
            disk = disk_images.blank(self.folder / "bare.raw", 4)
            disk_images.write_at(disk, 0, contents + behind)
            self.assertSays(self.take(disk), DONE)
            self.assertEqual((self.folder / "out.data").read_bytes(), contents)

    def test_messages_about_contents_name_the_image(self):
        whole = json.dumps({"stack_traces": [{"0": ["spin", "main"]}] * 3})
        disk = disk_images.ext(self.folder / "e.img", self.tree(("cut",), whole[:-20]))
        self.assertSays(self.take(disk, "/cut"), DONE, f"{disk}:/cut", "offset 0x")
        disk = disk_images.ext(self.folder / "e.img", self.tree(("words",), "words\n"))
        self.assertRefuses(FAILED, disk, ["/words"], f"{disk}:/words is not a recording")
        disk = disk_images.ext(self.folder / "e.img", self.tree(("cut",), "RINGSMPL" + "x" * 99))
        self.assertRefuses(FAILED, disk, ["/cut"], f"{disk}:/cut")


if __name__ == "__main__":
    cli_case.main()
