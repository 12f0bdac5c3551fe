"""Tests the results of `cmake --install` and `cpack`: stripped programs, debug information, places."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
PLUGINS = ("libringside-tcg.so", "libringside-tcg-6.so", "libringside-tcg-7.so")
LARGEST_PROGRAM = 12 << 20
LARGEST_DEB = 5 << 20
_options = argparse.Namespace()


def output_of(*command, **options):
    result = subprocess.run(list(map(str, command)), check=False, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}: status {result.returncode}\n{result.stdout}")
    return result.stdout


def sections(file):
    return set(re.findall(r"^ *\[ *\d+\] (\S+)", output_of("readelf", "-SW", file), re.M))


def build_id(file):
    return re.search(r"Build ID: ([0-9a-f]+)", output_of("readelf", "-n", file)).group(1)


class Installed(unittest.TestCase):
    """Checks of programs below a root, whichever way they came there."""

    def setUp(self):
        if not shutil.which("readelf"):
            self.skipTest("needs readelf (apt install binutils)")
        folder = tempfile.TemporaryDirectory(prefix="ringside-package-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_split(self, file, debug_root):
        found = sections(file)
        self.assertFalse([name for name in found if name.startswith(".debug_") or name == ".symtab"], file)
        self.assertIn(".gnu_debuglink", found)
        self.assertLess(file.stat().st_size, LARGEST_PROGRAM)
        name = build_id(file)
        self.assertEqual(len(name), 40)
        debug = debug_root / "lib/debug/.build-id" / name[:2] / f"{name[2:]}.debug"
        self.assertTrue(debug.is_file(), f"{file} has no {debug}")
        self.assertIn(".debug_info", sections(debug))
        self.assertEqual(build_id(debug), name)

    def assert_runs(self, prefix, plugin_folder):
        """The program runs, and finds the plugin that is installed with it."""
        program = prefix / "bin/ringside"
        self.assertRegex(output_of(program, "--version"), r"\Aringside \d+\.\d+\.\d+\n\Z")
        qemu = self.folder / "path/qemu-system-x86_64"
        qemu.parent.mkdir()
        shutil.copy2(_options.stand_in, qemu)
        path = output_of(program, "doctor", "--plugin", cwd=self.folder, env={
            "PATH": f"{qemu.parent}:/usr/bin:/bin", "XDG_CACHE_HOME": str(self.folder / "cache"),
            "FAKE_QEMU_PYTHON": sys.executable, "FAKE_QEMU": str(TREE / "tests/cli/fake_stub.py"),
            "FAKE_QEMU_VERSION": "11.0.0", "FAKE_QEMU_PLUGIN_API": "6 6"})
        self.assertEqual(path, f"{plugin_folder}/libringside-tcg-6.so\n")

    def assert_completions(self, share, zsh_folder):
        for shell, file in (("bash", "bash-completion/completions/ringside"),
                            ("zsh", f"zsh/{zsh_folder}/_ringside"),
                            ("fish", "fish/vendor_completions.d/ringside.fish")):
            self.assertEqual((share / file).read_text(),
                             output_of(_options.build / "ringside", "--completion", shell))


class CmakeInstall(Installed):
    def test_stripped_below_any_prefix(self):
        root = self.folder / "root"
        for _ in range(2):  # over what is there
            output_of("cmake", "--install", _options.build, "--prefix", "/opt/ringside",
                      cwd=self.folder, env={**os.environ, "DESTDIR": str(root)})
        prefix = root / "opt/ringside"
        self.assertEqual([path.name for path in root.iterdir()], ["opt"])
        program = prefix / "bin/ringside"
        self.assert_split(program, prefix)
        self.assertEqual(program.stat().st_mode & 0o777, 0o755)
        found = {path.name: path for path in prefix.glob("lib/**/*.so")}
        self.assertEqual(sorted(found), sorted(PLUGINS))
        for plugin in found.values():
            self.assert_split(plugin, prefix)
        self.assert_runs(prefix, found[PLUGINS[0]].parent)
        self.assert_completions(prefix / "share", "site-functions")
        self.assertEqual((prefix / "share/doc/ringside/LICENSE").read_bytes(),
                         (TREE / "LICENSE").read_bytes())


class Deb(Installed):
    @classmethod
    def setUpClass(cls):
        for tool in ("dpkg-deb", "dpkg-shlibdeps", "file"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"needs {tool} (apt install dpkg-dev file)")
        folder = tempfile.TemporaryDirectory(prefix="ringside-deb-")
        cls.addClassCleanup(folder.cleanup)
        made = pathlib.Path(folder.name)
        output_of("cpack", "--config", _options.build / "CPackConfig.cmake", "-B", made,
                  "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
        cls.deb, = made.glob("ringside_*.deb")
        cls.dbgsym, = made.glob("ringside-dbgsym_*.ddeb")
        cls.root = made / "root"
        for package in (cls.deb, cls.dbgsym):
            output_of("dpkg-deb", "-x", package, cls.root)
        cls.triplet = output_of("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()

    def field(self, name, package=None):
        return output_of("dpkg-deb", "-f", package or self.deb, name).strip()

    def test_control(self):
        version = output_of(_options.build / "ringside", "--version").split()[1]
        self.assertEqual((self.field("Package"), self.field("Version")), ("ringside", version))
        self.assertRegex(self.field("Maintainer"), r"\A[^<]+ <[^@> ]+@[^@> ]+>\Z")
        self.assertEqual(self.field("Recommends").split(" | ")[0], "qemu-system-x86")
        self.assertRegex(self.field("Suggests"), "qemu-system-arm.*qemu-system-misc.*libdebuginfod1.*qemu-utils.*mtools")
        for library in ("libc6", "libelf1", r"libcapstone\d", "libglib2.0-0"):
            self.assertRegex(self.field("Depends"), rf"\b{library}")
        synopsis, _, text = self.field("Description").partition("\n")
        self.assertRegex(synopsis, r"\A(?!(an?|the) )[a-z].{20,78}[^.]\Z")
        self.assertGreater(len(text), 200)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertEqual(self.field("Depends", self.dbgsym), f"ringside (= {version})")

    def test_files(self):
        listed = output_of("dpkg-deb", "-c", self.deb).splitlines()
        for line in listed:
            mode, owner, _, _, _, path = line.split(maxsplit=5)
            self.assertEqual(owner, "root/root", line)
            executable = path.endswith("/") or path.startswith("./usr/bin/")
            self.assertEqual(mode[1:], "rwxr-xr-x" if executable else "rw-r--r--", line)
            self.assertTrue(path.startswith("./usr/"), line)
        paths = {line.split(maxsplit=5)[5] for line in listed}
        self.assertLessEqual({"./usr/bin/ringside", "./usr/share/doc/ringside/copyright",
                              "./usr/share/doc/ringside/README.md",
                              "./usr/share/doc/ringside/guest/ringside_guest.c",
                              "./usr/share/doc/ringside/guest/ringside_guest.h"}, paths)
        self.assertEqual({path for path in paths if path.endswith((".so", ".debug", "/LICENSE"))},
                         {f"./usr/lib/{self.triplet}/ringside/{plugin}" for plugin in PLUGINS})
        self.assert_completions(self.root / "usr/share", "vendor-completions")
        self.assertLess(self.deb.stat().st_size, LARGEST_DEB)

    def test_manual_pages(self):
        """One of each command, which man shows without a complaint."""
        pages = {path.name for path in (self.root / "usr/share/man/man1").iterdir()}
        commands = re.findall(r"(?m)^  (?!ringside)([a-z]+) ", output_of(_options.build / "ringside", "--help"))
        self.assertLessEqual({"ringside.1.gz", "ringside-case-list.1.gz", *(f"ringside-{name}.1.gz" for name in commands)},
                             pages)
        if not shutil.which("man"):
            self.skipTest("needs man (apt install man-db)")
        for page in pages:
            with self.subTest(page=page):
                shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", self.root / "usr/share/man/man1" / page],
                                       check=True, text=True, capture_output=True, env={**os.environ, "MANWIDTH": "80"})
                self.assertEqual(shown.stderr, "")
                self.assertIn("NAME", shown.stdout)
                self.assertIn("--help", shown.stdout)

    def test_links_between_documents(self):
        documents = self.root / "usr/share/doc/ringside"
        for page in documents.rglob("*.md"):
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                self.assertTrue((page.parent / link).exists(), f"{page.relative_to(documents)}: {link}")

    def test_lintian(self):
        if not shutil.which("lintian"):
            self.skipTest("needs lintian (apt install lintian)")
        checked = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", self.deb], check=False, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_stripped_with_debug_information_apart(self):
        for file in ("bin/ringside", *(f"lib/{self.triplet}/ringside/{plugin}" for plugin in PLUGINS)):
            self.assert_split(self.root / "usr" / file, self.root / "usr")

    def test_the_program_finds_its_plugin(self):
        self.assert_runs(self.root / "usr", self.root / "usr/lib" / self.triplet / "ringside")

    def test_copyright(self):
        text = (self.root / "usr/share/doc/ringside/copyright").read_text()
        paragraphs = [dict(re.findall(r"^([A-Z][A-Za-z-]*): *(.*)", paragraph, re.M))
                      for paragraph in text.split("\n\n")]
        self.assertIn("copyright-format/1.0", paragraphs[0]["Format"])
        files = {paragraph["Files"]: paragraph for paragraph in paragraphs if "Files" in paragraph}
        self.assertIn("Version 2.0, January 2004", (TREE / "LICENSE").read_text())
        self.assertEqual(files["*"]["License"], "Apache-2.0")
        texts = {paragraph["License"] for paragraph in paragraphs
                 if "Files" not in paragraph and "License" in paragraph}
        for paragraph in files.values():
            self.assertTrue(paragraph["Copyright"])
            for name in paragraph["License"].split(" and "):
                self.assertIn(name, texts)
        for path in re.findall(r"/usr/share/common-licenses/[A-Z0-9.a-z-]*[0-9a-z]", text):
            self.assertTrue(os.path.exists(path), path)

    def test_copyright_names_each_static_library(self):
        text = (self.root / "usr/share/doc/ringside/copyright").read_text()
        link = output_of("ninja", "-C", _options.build, "-t", "commands", "-s", "ringside")
        linked = set(re.findall(r"/usr/\S*/(lib[\w+-]+)\.a\b", link))
        self.assertIn("libiberty", linked)
        for library in linked:
            self.assertTrue(f"external/{library}/" in text, f"cmake/copyright does not name {library}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the folder of the build")
    parser.add_argument("--stand-in", required=True, type=os.path.abspath,
                        help="the program of tests/cli/stand_in.cpp")
    _, rest = parser.parse_known_args(namespace=_options)
    _options.build = _options.build.resolve()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
