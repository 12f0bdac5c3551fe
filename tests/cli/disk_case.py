"""Base of the tests of `import --disk`."""
import os
import shutil

import cli_case
from cli_case import DONE

# They have the length of a block, so that a block of the journal can take its place.
FIRST, SECOND = (f"main;{name} 12\n{'x' * 1000} 1\n" for name in ("first", "second"))


class DiskCase(cli_case.CliCase):
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

    def qemu_img(self, script):
        """Puts a qemu-img there that runs the lines of a shell script first; returns an environment that has it."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "qemu-img").write_text(f"#!/bin/sh\n{script}\nexec {shutil.which('qemu-img')} \"$@\"\n")
        (tools / "qemu-img").chmod(0o755)
        return {"PATH": f"{tools}:{os.environ['PATH']}"}
