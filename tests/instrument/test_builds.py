# SPDX-License-Identifier: Apache-2.0
"""`stint instrument`: a build that works without it works with it.

    test_builds.py TOOL LIBRARY [unittest arguments]

Each command runs as it is and with the tool before it. Exit status and output must be the same, and
so must be the files that are there afterwards, but for the folder of the copies.
"""

import os
import shutil
import subprocess
import unittest

import wrapped
from wrapped import ARGUMENTS, CC, FLAGS, Wrapped

PROGRAM = "int main(void) { return 0; }\n"
MODES = ([], ["--lines"])
IS_CLANG = "clang" in subprocess.run([*CC.split(), "--version"], stdout=subprocess.PIPE, check=False,
                                     universal_newlines=True).stdout


class Folder(Wrapped):
    """Commands of CC."""

    def setUp(self):
        super().setUp()
        self.compiler = [*CC.split(), *FLAGS]

    def timed(self, *words, mode=(), options=(), stdin=None):
        return subprocess.run(
            [ARGUMENTS[0], "instrument", "--functions", "*", "--library", ARGUMENTS[1], *mode, *options, "--",
             *words], cwd=self.folder, check=False, input=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True)

    def files(self):
        found = []
        for folder, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name != ".stint"]
            found += [os.path.relpath(os.path.join(folder, name), self.folder) for name in names]
        return set(found)


class Builds(Folder):
    def build(self, *words, program="build/a", mode=()):
        """Compiles and links, without a message, and runs the program: the calls of each scope."""
        self.good(self.timed(*words, "-o", program, mode=mode))
        return self.calls(self.path(program))

    def test_byte_order_mark(self):
        with open(self.path("source/a.c"), "wb") as file:
            file.write(b"\xef\xbb\xbfint main(void) { return 0; }\n")
        for mode in MODES:
            _, calls = self.build(*self.compiler, "source/a.c", mode=mode)
            self.assertEqual(calls, {} if mode else {"main": 1})

    def test_language_of_the_sources_only(self):
        """-x is not for the library that is added."""
        self.write("source/a.c", PROGRAM)
        for mode in MODES:
            self.build(*self.compiler, "-x", "c", "source/a.c", mode=mode)
            self.build(*self.compiler, "-xc", "source/a.c", mode=mode)

    def test_assembler(self):
        self.write("source/a.c", "int one(void);\nint main(void) { return one() - 1; }\n")
        self.write("source/b.S", "#ifdef __x86_64__\n.globl one\none: mov $1, %eax\n ret\n#endif\n"
                                 "#ifdef __aarch64__\n.globl one\none: mov w0, 1\n ret\n#endif\n"
                                 ".section .note.GNU-stack,\"\",%progbits\n")
        for mode in MODES:
            _, calls = self.build(*self.compiler, "source/a.c", "source/b.S", mode=mode)
            self.assertEqual(calls, {} if mode else {"main": 1})

    def test_base_file(self):
        self.write("source/a.h", "static const char *base(void) { return __BASE_FILE__; }\n")
        self.write("source/a.c", "#include <stdio.h>\n#include \"a.h\"\n"
                                 "int main(void) { puts(__BASE_FILE__); puts(base()); return 0; }\n")
        strict = ["-Wall", "-Wextra", "-pedantic-errors", "-Werror"]
        for mode in MODES:
            out, _ = self.build(*self.compiler, *strict, "source/a.c", mode=mode)
            self.assertEqual(out, "source/a.c\nsource/a.c\n")

    def unity(self):
        os.makedirs(self.path("source/inc/deep"))
        self.write("source/inc/deep/leaf.c", "static int leaf(int x) {\n    return x + LEAF;\n}\n")
        self.write("source/inc/own.h", "#define LEAF 2\n")
        self.write("source/inc/other.h", "#define OTHER 1\n")
        self.write("source/other.h", "#define OTHER 40\n")
        self.write("source/inc/part.c", "#include \"own.h\"\n#include \"other.h\"\n"
                                        "#include \"deep/leaf.c\"\n"
                                        "int part(int x) {\n    return leaf(x) + OTHER;\n}\n")
        self.write("source/one.c", "#define NAME(x) one_##x\n#include \"form.c\"\n#undef NAME\n"
                                   "#define NAME(x) two_##x\n#include \"form.c\"\n"
                                   "int part(int x);\nint both(void) { return one_f() + two_f(); }\n")
        self.write("source/form.c", "static int NAME(f)(void) { return 1; }\n")
        self.write("source/all.c", "#include <stdio.h>\n# include \"inc/part.c\"\n#include \"one.c\"\n"
                                   "#include \"far.c\"\n"
                                   "int main(void) {\n"
                                   "    printf(\"%d %s %d\\n\", part(1) + both() + far(), far_name, __LINE__);\n"
                                   "    return 0;\n}\n")
        os.makedirs(self.path("apart"))
        self.write("apart/far.c", "static const char *far_name = __FILE__;\nstatic int far(void) { return 0; }\n")
        return [*self.compiler, "-Iapart", "source/all.c", "-MD", "-MF", "build/a.d"]

    def test_sources_that_include_sources(self):
        words = self.unity()
        self.good(self.run_in(*words, "-o", "build/plain"))
        plain = self.run_in("build/plain").stdout
        depends = set(self.read("build/a.d").replace("\\\n", " ").split()[1:])
        expected = {"main": 1, "part": 1, "leaf": 1, "both": 1, "one_f": 1, "two_f": 1, "far": 1}
        out, calls = self.build(*words)
        self.assertEqual((out, calls), (plain, expected))
        got = set(self.read("build/a.d").replace("\\\n", " ").split()[1:])
        self.assertEqual(depends - got, set())
        self.assertNotIn(".stint", " ".join(got))
        # The same from the folder of the sources, which the names then lack.
        for mode in MODES:
            self.good(self.in_source(mode))
            self.assertEqual(self.run_in("build/b").stdout, plain.replace("apart/", "../apart/"))

    def in_source(self, mode):
        words = [ARGUMENTS[0], "instrument", "--functions", "*", "--library", ARGUMENTS[1], *mode, "--",
                 *self.compiler, "-I../apart", "all.c", "-o", "../build/b"]
        return subprocess.run(words, cwd=self.path("source"), check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True)

    def test_lines_of_included_sources(self):
        self.build(*self.unity(), mode=["--lines"])
        self.run_in("build/a", env={"STINT_FILE": self.path("run.stint")})
        text = self.good(self.run_in(ARGUMENTS[0], "annotate", "run.stint"))
        for line in ("return leaf(x) + OTHER;", "return x + LEAF;"):
            self.assertRegex(text, r"(?m)^ +1 .*\b%s" % line.replace("(", r"\(").replace(")", r"\)").replace(
                "+", r"\+"))

    def test_a_static_program(self):
        self.write("source/a.c", PROGRAM)
        words = [*self.compiler, "-static", "source/a.c"]
        if self.run_in(*words, "-o", "build/plain").returncode:
            self.skipTest("no static programs here")
        if ARGUMENTS[1].endswith(".a"):
            self.assertEqual(self.build(*words)[1], {"main": 1})
            return
        done = self.timed(*words, "-o", "build/a")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"libstint\.a: no such file, which -static needs; .*\n.*source/a\.c: not "
                                      r"instrumented: the program is static, and there is no libstint\.a\n$")
        self.good(self.run_in("build/a"))

    def test_code_that_the_optimiser_removes(self):
        """It stays where a marker is in it, and what it calls does not exist."""
        self.write("source/a.c", """int __builtin_no_such(int);
static const int table[12] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4};
static int sum(void) {
    int s = 0;
    for (int i = 0; i < 12; i++) {
        if (table[i] > 10)
            s += __builtin_no_such(i);
        s += table[i];
    }
    return s;
}
int main(void) { return sum() - 30; }
""")
        words = [*self.compiler, "-O3", "-w", "source/a.c"]
        if self.run_in(*words, "-o", "build/plain").returncode:
            self.skipTest("the compiler does not remove it")
        for mode in MODES:
            for more in (["-o", "build/a"], ["-c", "-o", "build/a.o"]):
                done = self.timed(*words, *more, mode=mode, options=["--list", "list.txt"])
                self.assertEqual(done.returncode, 0, done.stderr)
                if mode:
                    self.assertRegex(done.stderr, r"^stint instrument: source/a\.c: not instrumented: with timers"
                                                  r".*__builtin_no_such.*\n$")
                    self.assertIn("1 file not instrumented", self.read("list.txt"))
        self.good(self.run_in("build/a"))

    def test_a_copy_that_does_not_compile(self):
        """The copy fails because of a warning that is an error. The compiler reports errors of the
        original as always."""
        self.write("source/a.c", "int f(void) { return 1; }\n")
        if IS_CLANG:
            self.skipTest("for gcc")
        done = self.timed(*self.compiler, "-Werror=frame-larger-than=8", "-O2", "-c", "source/a.c", "-o",
                          "build/a.o", options=["--list", "list.txt"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^stint instrument: source/a\.c: not instrumented: with timers: "
                                      r"source/a\.c:1:.*frame size.*\n$")
        self.assertRegex(self.read("list.txt"), r"1 file not instrumented\nsource/a\.c: not instrumented: ")
        self.write("source/b.c", "int f(void) { return 1; }\nint __thread broken[-1];\n")
        plain = self.run_in(*self.compiler, "-c", "source/b.c", "-o", "build/b.o")
        done = self.timed(*self.compiler, "-c", "source/b.c", "-o", "build/b.o")
        self.assertEqual(done.returncode, plain.returncode)
        self.assertTrue(done.stderr.endswith(plain.stderr), done.stderr)

    def test_a_link_that_fails_with_the_library(self):
        self.write("source/a.c", PROGRAM)
        self.good(self.run_in(*self.compiler, "-c", "source/a.c", "-o", "build/a.o"))
        done = subprocess.run([ARGUMENTS[0], "instrument", "--functions", "*", "--library", "/no/libstint.so",
                               "--", *self.compiler, "build/a.o", "-o", "build/a"], cwd=self.folder,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "^stint instrument: build/a: linked without the library: .*no/libstint.so")
        # An error of the program itself is that of the first try.
        self.write("source/b.c", "int f(void);\nint main(void) { return f(); }\n")
        done = self.timed(*self.compiler, "source/b.c", "-o", "build/b")
        self.assertEqual(done.returncode, 1)
        self.assertIn("undefined reference to `f'", done.stderr)

    def test_two_programs_of_one_source(self):
        self.write("source/a.c", "#include <stdio.h>\nint main(void) { printf(\"%d\", N); return 0; }\n")
        os.makedirs(self.path("source/deep"))
        self.write("source/deep/a.c", "int other(void) { return 1; }\n")
        for n in "12":
            self.build(*self.compiler, "-DN=" + n, "source/a.c", "source/deep/a.c", program="build/a" + n)
        self.assertEqual([self.run_in("build/a" + n).stdout for n in "12"], ["1", "2"])

    def test_no_temporary_files(self):
        self.write("source/a.c", PROGRAM)
        os.makedirs(self.path("temporary"))
        locked = self.path("build")
        self.write("build/.stint", "in the way of the folder")
        done = self.run_in(ARGUMENTS[0], "instrument", "--functions", "*", "--library", ARGUMENTS[1], "--",
                           *self.compiler, "-c", "source/a.c", "-o", os.path.join(locked, "a.o"),
                           env={"TMPDIR": self.path("temporary")})
        self.good(done)
        self.assertEqual(os.listdir(self.path("temporary")), [])

    def test_unquoted_globs(self):
        """A shell has put file names in their place."""
        self.write("a.c", PROGRAM)
        self.write("b.c", PROGRAM)
        for words in ((["a.c", "b.c"]), ["a.c"]):
            done = self.run_in(ARGUMENTS[0], "instrument", "--functions", *words, "--", CC, "a.c")
            self.assertEqual(done.returncode, 2)
            self.assertIn("a shell puts file names in place of an unquoted *: write --functions '*'",
                          done.stderr)
        # Quotes that no shell has removed.
        self.good(self.run_in(ARGUMENTS[0], "instrument", "--functions", "'m*'", "--list", "list.txt", "--",
                              *self.compiler, "-c", "a.c"))
        self.assertIn("1 function instrumented", self.read("list.txt"))


class Probes(Folder):
    """Questions of build systems to a compiler: the answer is the compiler's own."""

    def same(self, words, stdin=None, unchanged=True):
        """Runs it both ways in the same state; what it makes is removed in between."""
        before = self.files()
        plain = subprocess.run(words, cwd=self.folder, check=False, input=stdin, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, universal_newlines=True)
        made = self.files()
        for name in made - before:
            os.remove(self.path(name))
        for mode in MODES:
            done = self.timed(*words, mode=mode, options=["--list", "build/list.txt"], stdin=stdin)
            with self.subTest(" ".join(words)):
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (plain.returncode, plain.stdout, plain.stderr))
                listed = self.files() & {"build/list.txt"}
                self.assertEqual(self.files() - listed, made)
                if unchanged:
                    self.assertEqual(listed, set())
                    self.assertFalse(os.path.exists(self.path(".stint")))
            for name in (self.files() - before) | listed:
                os.remove(self.path(name))
            shutil.rmtree(self.path(".stint"), ignore_errors=True)

    def test_questions(self):
        """Asks as autoconf, libtool, CMake, Meson and the Makefiles of zlib, tcc, zstd, Linux
        do."""
        self.write("a.c", PROGRAM)
        for words in ("--version", "-v", "-V", "-qversion", "-dumpversion", "-dumpmachine", "-dumpspecs",
                      "-print-prog-name=ld", "-print-search-dirs", "-print-multi-os-directory",
                      "--print-file-name=libc.a", "-print-libgcc-file-name", "-E a.c", "-E -dM a.c", "-M a.c",
                      "-MM a.c", "-MM -MF a.d a.c", "-E -P a.c", "-fsyntax-only a.c", "--help=optimizers", ""):
            self.same([*CC.split(), *words.split()])

    def test_standard_input(self):
        for words in ("-x c -", "-x c - -o a", "-x c -c - -o a.o", "-E -", "-dM -E -x c -", "-E -x c - -P",
                      "-x c -S - -o -", "-xc - -o a", "-x c - -o a -lm", "-c -x c /dev/null -o /dev/null",
                      "-S -x c /dev/null -o a.s", "-Wno-such-warning -c -x c - -o /dev/null",
                      "-march=no-such -c -x c - -o /dev/null", "-x assembler -c - -o a.o"):
            text = "" if "assembler" in words or "-E" in words.split() else PROGRAM
            self.same([*CC.split(), *words.split()], stdin=text)

    def test_small_programs(self):
        """They are not in the list, and nothing is beside them."""
        cases = {
            "conftest.c": ["-c conftest.c", "-o conftest conftest.c", "-g -O2 -o conftest conftest.c -lm",
                           "conftest.c", "-pipe -c conftest.c", "-o conftest conftest.c -lno_such",
                           "-c -Werror -Wno-such conftest.c", "-c -fno-such-option conftest.c",
                           "-E conftest.c", "-c conftest.c -o conftest2.o", "-MD -c conftest.c",
                           "-shared -o conftest.so conftest.c", "-static -o conftest conftest.c",
                           "-r -o conftest.lo conftest.c"],
            "conftest1.c": ["-c conftest1.c"],
            "CMakeFiles/CMakeScratch/TryCompile-x/src.c": [
                "-o CMakeFiles/cmTC_1.dir/src.c.o -c CMakeFiles/CMakeScratch/TryCompile-x/src.c",
                "CMakeFiles/CMakeScratch/TryCompile-x/src.c -o cmTC_1"],
            "CMakeFiles/3.25.1/CompilerIdC/CMakeCCompilerId.c": [
                "CMakeFiles/3.25.1/CompilerIdC/CMakeCCompilerId.c -o id"],
            "build/meson-private/sanitycheckc.c": [
                "build/meson-private/sanitycheckc.c -o build/meson-private/sanitycheckc.exe -pipe"],
            "build/meson-private/tmp1/testfile.c": [
                "build/meson-private/tmp1/testfile.c -o build/meson-private/tmp1/output.obj -c -O0",
                "-E build/meson-private/tmp1/testfile.c -P"],
            ".conf_check_1/test.c": ["-c .conf_check_1/test.c -o .conf_check_1/test.c.1.o"],
            "null.c": ["null.c -o /dev/null", "-c null.c -o /dev/null"],
        }
        os.makedirs(self.path("CMakeFiles/cmTC_1.dir"))
        for name, commands in cases.items():
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, PROGRAM)
            for words in commands:
                self.same([*CC.split(), *words.split()])

    def test_commands_of_makefiles(self):
        """They compile sources, which have timers."""
        self.write("a.c", PROGRAM)
        self.write("b.c", "int f(void) { return 1; }\n")
        self.write("c.c", "int g(void) { return 1; }\n")
        self.write("a.h", "int f(void);\n")
        self.write("a.rsp", "-c b.c -o\n 'c d.o' \"-DX=\\\"y z\\\"\"")
        os.makedirs(self.path("deps"))
        for words in ("-c a.c", "a.c", "-c b.c c.c", "a.c b.c c.c -o a", "-pipe -O2 -c a.c -o a.o", "-S a.c",
                      "-S a.c -o a.s", "-c a.c -MD", "-c a.c -MD -MP -MF deps/a.d -o a.o",
                      "-c a.c -MMD -MT x.o -o a.o", "-Wp,-MD,deps/.a.d -c a.c -o a.o", "-MD a.c -o prog",
                      "-MD a.c b.c", "@a.rsp", "-r b.c c.c -o d.o -nostdlib", "-shared -fPIC b.c -o libb.so",
                      "-include a.h -c a.c", "-g -gsplit-dwarf -c a.c", "-fstack-usage -c a.c -o x.o",
                      "-save-temps -c a.c -o x.o", "-v -c a.c -fno-such-option", "a.h", "-x c-header a.h -o p.gch",
                      "-flto -O2 -c a.c", "--coverage -c a.c -o x.o"):
            if IS_CLANG and ("lto" in words or "coverage" in words or words.startswith("-r ")):
                continue
            self.same([*CC.split(), *words.split()], unchanged=False)

    def test_dependencies(self):
        """Dependency files of every form name the source, so that a change of it is seen."""
        self.write("source/a.h", "")
        self.write("source/a.c", "#include \"a.h\"\n" + PROGRAM)
        for words, name in (("-c -MD -o build/a.o", "build/a.d"), ("-c -MD -MF build/x.d -o build/a.o", "build/x.d"),
                            ("-c -Wp,-MD,build/y.d -o build/a.o", "build/y.d"),
                            ("-c -Wp,-MMD,build/y.d -o build/a.o", "build/y.d"),
                            ("-c -MMD", "a.d"), ("-MMD -MF build/z.d -o build/a", "build/z.d"),
                            ("-MD -o build/a", None)):
            for folder in (self.folder, self.path("build")):
                for old in os.listdir(folder):
                    if old.endswith(".d"):
                        os.remove(os.path.join(folder, old))
            self.good(self.timed(*self.compiler, *words.split(), "source/a.c"))
            if name is None:  # a compiler's own choice
                name = next("build/" + n for n in os.listdir(self.path("build")) if n.endswith(".d"))
            depends = self.read(name).replace("\\\n", " ").split()[1:]
            self.assertIn("source/a.c", depends, words)
            self.assertIn("source/a.h", depends, words)
            self.assertNotIn(".stint", " ".join(depends), words)

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_cmake(self):
        """A project with the tool as its compiler is configured as without."""
        self.write("source/CMakeLists.txt", """cmake_minimum_required(VERSION 3.10)
project(x C)
include(CheckFunctionExists)
include(CheckIncludeFile)
include(CheckCSourceRuns)
include(CheckTypeSize)
include(CheckCCompilerFlag)
find_package(Threads)
check_function_exists(printf HAVE_PRINTF)
check_function_exists(no_such HAVE_NO_SUCH)
check_include_file(no_such.h HAVE_NO_SUCH_H)
check_c_source_runs("int main(void) { return 0; }" RUNS)
check_type_size(long LONG)
check_c_compiler_flag(-fno-such FLAG)
add_executable(a a.c)
""")
        self.write("source/a.c", PROGRAM)
        facts = []
        tool = [ARGUMENTS[0], "instrument", "--functions=-no", "--library", ARGUMENTS[1],
                "--list=" + self.path("list.txt"), "--"]
        if any(" " in word for word in tool):
            os.symlink(self.folder, os.path.join(self.top.name, "link"))
            tool = [word.replace(self.folder, os.path.join(self.top.name, "link")) for word in tool]
        for name, compiler in (("plain", CC), ("timed", " ".join(tool + [CC]))):
            done = self.run_in("cmake", "-S", "source", "-B", name, "-G", "Unix Makefiles", env={"CC": compiler})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(self.path(name, "CMakeCache.txt"), encoding="utf-8") as file:
                facts.append([line for line in file.read().splitlines()
                              if line.startswith(("HAVE", "RUNS", "LONG", "FLAG", "CMAKE_HAVE"))])
        self.assertEqual(facts[0], facts[1])
        self.assertFalse(os.path.exists(self.path("list.txt")))
        self.good(self.run_in("cmake", "--build", "timed"))
        self.assertIn("total: 1 file, 1 function instrumented", self.read("list.txt"))


if __name__ == "__main__":
    wrapped.main()
