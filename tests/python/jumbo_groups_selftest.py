"""Tests of what decides which source files are compiled as one, and of the rule about includes."""
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "cmake"), str(ROOT / "tests")]

import include_rule  # noqa: E402
from jumbo_groups import groups_of, violations  # noqa: E402
from source_names import Sources, declarations  # noqa: E402


class Declarations(unittest.TestCase):
    def test_finds_names_at_namespace_scope_only(self):
        names = declarations("""
            namespace ringside::unwind {
            namespace {
            constexpr std::uint64_t kPage = 4096;
            const char* const kNames[] = {"a", "b"};
            enum Letter { kA, kB = 7 };
            enum class Word : int { kInside };
            struct Entry { int member = 0; int method() { return member; } };
            template <class T, int N = (1 > 2)> std::vector<T> made(T value) { int local = 0; return {}; }
            using Table = std::map<int, Entry>;
            using profile::Profile;
            Entry entry{1};
            [[nodiscard]] int attributed(int from);
            }  // namespace
            Result<void> Reader::open(int flags) { return {}; }
            int shared(int x) { return x; }
            }  // namespace ringside::unwind
            """)
        self.assertEqual(set(names), {"kPage", "kNames", "Letter", "kA", "kB", "Word", "Entry", "made", "Table", "Profile",
                                      "entry", "attributed", "shared"})


class InFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Groups(InFiles):
    """Each test: names of the files of each group, of files that are given in that order."""

    def groups(self, *files, most=8):
        return [[path.stem for path in group.files] for group in groups_of(Sources(self.root), list(files), most)]

    def test_files_without_a_name_in_common_go_together(self):
        a = self.put("a.cpp", "namespace r { int one() { return 1; } }\n")
        b = self.put("b.cpp", "namespace r { int two() { return 2; } }\n")
        self.assertEqual(self.groups(a, b), [["a", "b"]])
        self.assertEqual(self.groups(a, b, most=1), [["a"], ["b"]])

    def test_constant_that_would_hide_one_of_a_namespace_further_out(self):
        """Compiled as one, b() would be 1 and no compiler would warn."""
        self.put("registers.h", "#pragma once\nnamespace r { constexpr int kRegister = 2; }\n")
        own = "namespace r::x { namespace { constexpr int kRegister = 1; } int a() { return kRegister; } }\n"
        a = self.put("a.cpp", '#include "registers.h"\n' + own)
        b = self.put("b.cpp", '#include "registers.h"\nnamespace r::x { int b() { return kRegister; } }\n')
        self.assertEqual(self.groups(a, b), [["a"], ["b"]])

    def test_definition_of_what_a_header_declares(self):
        """It adds no name: whoever mentions one has it from the header."""
        self.put("a.h", "#pragma once\nnamespace r { [[nodiscard]] int one(int x); }\n")
        a = self.put("a.cpp", '#include "a.h"\nnamespace r { int one(int x) { return x; } }\n')
        b = self.put("b.cpp", '#include "a.h"\nnamespace r { int two() { return one(2); } }\n')
        self.assertEqual(self.groups(a, b), [["a", "b"]])
        # An overload of its own might be chosen, and the same in another file's header is another function.
        c = self.put("c.cpp", '#include "a.h"\nnamespace r { namespace { int one(long x) { return 1; } } }\n')
        self.assertEqual(self.groups(c, b), [["c"], ["b"]])
        c = self.put("c.cpp", '#include "a.h"\nnamespace r { static int one(long x) { return 1; } }\n')
        self.assertEqual(self.groups(c, b), [["c"], ["b"]])
        c = self.put("c.cpp", '#include "a.h"\nnamespace r { static int one(long x); int one(int x) { return x; } }\n')
        self.assertEqual(self.groups(c, b), [["c"], ["b"]])
        d = self.put("d.cpp", '#include "a.h"\nnamespace r::x { int one(int x) { return x; } }\n')
        self.assertEqual(self.groups(d, b), [["d"], ["b"]])  # another namespace than the header's
        e = self.put("e.cpp", "namespace r { int two() { return one(2); } }\n")
        self.assertEqual(self.groups(a, e), [["a"], ["e"]])  # it means another one: it has not the header
        self.put("f.h", "#pragma once\nnamespace r { inline int three() { return one(3); } }\n")
        f = self.put("f.cpp", '#include "f.h"\n')
        self.assertEqual(self.groups(a, f), [["a"], ["f"]])  # nor has f.h

    def test_order_matters(self):
        """Only a name that stands in front can change what another one means."""
        a = self.put("a.cpp", "namespace r { namespace { constexpr int kOwn = 1; } }\n")
        b = self.put("b.cpp", "namespace r { int b(int kOwn) { return kOwn; } }\n")
        self.assertEqual(self.groups(a, b), [["a"], ["b"]])
        self.assertEqual(self.groups(b, a), [["b", "a"]])

    def test_header_that_would_see_the_name(self):
        self.put("user.h", "#pragma once\nnamespace r { inline int user() { return kOwn; } }\n")
        self.put("other.h", "#pragma once\n")
        own = "namespace r { namespace { constexpr int kOwn = 1; } }\n"
        a = self.put("a.cpp", '#include "other.h"\n' + own)
        b = self.put("b.cpp", '#include "user.h"\n')
        self.assertEqual(self.groups(a, b), [["a"], ["b"]])
        c = self.put("c.cpp", '#include "user.h"\n' + own)
        self.assertEqual(self.groups(c, b), [["c", "b"]])  # read before the name is there

    def test_files_that_include_most_come_first(self):
        self.put("one.h", "#pragma once\n")
        a = self.put("a.cpp", "namespace r { int a(); }\n")
        b = self.put("b.cpp", '#include "one.h"\n')
        self.assertEqual(self.groups(a, b), [["b", "a"]])

    def test_members_and_names_of_other_namespaces_are_no_mention(self):
        a = self.put("a.cpp", "namespace r { namespace { int read() { return 1; } } }\n")
        b = self.put("b.cpp", "namespace r { int b(S& s, S* p) { return s.read() + p->read() + other::read(); } }\n")
        self.assertEqual(self.groups(a, b), [["a", "b"]])

    def test_namespaces(self):
        self.put("own.h", "#pragma once\nnamespace r::testing {\nclass Fake;\n}\n")
        a = self.put("a.cpp", '#include "own.h"\n')
        b = self.put("b.cpp", "namespace r { class B : public testing::Test {}; }\n")
        self.assertEqual(self.groups(a, b), [["a"], ["b"]])

    def test_what_is_no_mention_of_a_namespace(self):
        self.put("own.h", "#pragma once\nnamespace r::memory {\nclass Fake;\n}\nnamespace r {\n}\n")
        a = self.put("a.cpp", '#include "own.h"\n')
        b = self.put("b.cpp", "#include <memory>\nnamespace r { int b(M& memory) { return memory.read(); } }\n")
        self.assertEqual(self.groups(a, b), [["a", "b"]])  # a header of a library, and a variable
        self.put("apart.h", "#pragma once\nnamespace r {\nnamespace memory {\nclass Fake;\n}\n}\n")
        d = self.put("d.cpp", '#include "apart.h"\n')
        e = self.put("e.cpp", "namespace r { int e() { return memory::size(); } }\n")
        self.assertEqual(self.groups(d, e), [["d"], ["e"]])
        c = self.put("c.cpp", "int c() { return r::two(); }\n")
        self.assertEqual(self.groups(a, c), [["a", "c"]])  # no other namespace has that one inside

    def test_using(self):
        one = "namespace r { using other::Name; }\n"
        a, b = self.put("a.cpp", one), self.put("b.cpp", one + "r::Name name();\n")
        self.assertEqual(self.groups(a, b), [["a", "b"]])
        c = self.put("c.cpp", "namespace r { using third::Name; }\n")
        d = self.put("d.cpp", "namespace r { Name name(); }\n")
        self.assertEqual(self.groups(a, c), [["a"], ["c"]])
        self.assertEqual(self.groups(a, d), [["a"], ["d"]])
        e = self.put("e.cpp", "namespace r { using namespace other; }\n")
        f = self.put("f.cpp", "namespace r { int f(); }\n")
        self.assertEqual(self.groups(e, f), [["e"], ["f"]])  # other's names are in no header

    def test_using_directive_shows_what_the_headers_declare(self):
        self.put("registers.h", "#pragma once\nnamespace r::registers {\nconstexpr int kRegister = 2;\n}\n")
        self.put("more.h", "#pragma once\nnamespace r::registers {\nconstexpr int kMore = 2;\n}\n")
        a = self.put("a.cpp", '#include "registers.h"\nnamespace r { using namespace registers; }\n')
        b = self.put("b.cpp", "namespace r { int b(); }\n")
        self.assertEqual(self.groups(a, b), [["a", "b"]])
        c = self.put("c.cpp", "namespace r { int c() { return kRegister; } }\n")
        self.assertEqual(self.groups(a, c), [["a"], ["c"]])
        d = self.put("d.cpp", '#include "more.h"\nnamespace r { int d() { return kMore; } }\n')
        self.assertEqual(self.groups(a, d), [["a"], ["d"]])  # its own header adds to what the directive shows
        self.put("user.h", "#pragma once\nnamespace r { inline int user() { return kRegister; } }\n")
        e = self.put("e.cpp", '#include "user.h"\n')
        self.assertEqual(self.groups(a, e), [["a"], ["e"]])
        f = self.put("f.cpp", "namespace r { using namespace std::string_literals; }\n")
        self.assertEqual(self.groups(f, c), [["f", "c"]])

    def test_groups_of_a_build(self):
        a = self.put("a.cpp", "namespace r { namespace { constexpr int kOwn = 1; } }\n")
        b = self.put("b.cpp", "namespace r { int b(int kOwn) { return kOwn; } }\n")
        for files, faults in (((a, b), 1), ((b, a), 0)):
            unity = self.put("x/Unity/unity_0.cxx", "".join(f'#include "{file}"\n' for file in files))
            self.put("compile_commands.json", json.dumps([{"file": str(unity)}, {"file": str(a)}]))
            self.assertEqual(len(violations(Sources(self.root), self.root)), faults)

    def test_macros_stay_alone(self):
        a = self.put("a.cpp", "#define LIMIT 5\n")
        b = self.put("b.cpp", "namespace r { int b(); }\n")
        c = self.put("c.cpp", "namespace r { int c(); }\n")
        self.assertEqual(self.groups(b, a, c), [["b", "c"]])


class Includes(InFiles):
    def found(self, text):
        self.put("src/elf/file.h", "#pragma once\nnamespace ringside::elf {\nclass File;\nint bits_of(int x);\n}\n")
        self.put("src/unwind/use.cpp", text)
        return "\n".join(include_rule.violations(self.root))

    def test_what_is_included(self):
        self.assertEqual(self.found('#include "elf/file.h"\n#include <vector>\nelf::File& f(std::vector<int> v);\n'), "")

    def test_what_is_not(self):
        self.assertIn("use.cpp uses File", self.found("elf::File& f();\n"))
        self.assertIn("use.cpp uses bits_of", self.found("int f() { return elf::bits_of(1); }\n"))
        self.assertIn("use.cpp uses std::vector", self.found("std::vector<int> f();\n"))

    def test_own_names(self):
        self.assertEqual(self.found("struct File {}; File f();\n// elf::File\n"), "")


if __name__ == "__main__":
    unittest.main()
