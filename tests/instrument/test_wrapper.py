# SPDX-License-Identifier: Apache-2.0
"""`stint instrument`: functions timed without a change of their sources.

    test_wrapper.py TOOL LIBRARY [unittest arguments]
"""

import os
import shutil
import sys
import unittest

import wrapped
from wrapped import ARGUMENTS, CC, CXX, FLAGS, ROOT, Wrapped

import rewrite


class Wrapper(Wrapped):
    def test_a_program(self):
        self.write("source/rel.h", "#define TIMES 7\n")
        self.write("build/rel.h", "#error the folder of the copy is searched first\n")
        self.write("source/a.c", """#define _GNU_SOURCE
#include <stdio.h>
#include "rel.h"
static int add(a, b) int a; int b; {
    int x = a;
    int y;
    y = b;
    return x + y;
}
__inline__ int more(int x) { return x + 1; }
extern int more(int x);
int main(void) {
    int s = 0, i;
    for (i = 0; i < TIMES; i++) s = add(s, i) + more(1);
    printf("%d %s:%d %s %d\\n", s, __FILE__, __LINE__, program_invocation_short_name ? "gnu" : "",
           __COUNTER__);
    return 0;
}
""".replace("#define _GNU_SOURCE\n", "#define _GNU_SOURCE\n#include <errno.h>\n"))
        # add() has parameters without types in its parentheses, which newer compilers warn of.
        flags = [*FLAGS, "-std=gnu11", "-Wno-strict-prototypes"]
        plain = self.run_in(CC, "source/a.c", *flags, "-o", "plain")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        for mode in (["-std=gnu90", "-pedantic-errors", "-Wdeclaration-after-statement"],
                     ["-std=gnu11"], ["-O2", "-g"]):
            self.good(self.instrument(CC, *flags, *mode, "-Wall", "-Wextra", "-Wshadow",
                                      "-Wconversion", "-Werror", "-c", "source/a.c", "-o",
                                      "build/a.o"))
            self.good(self.instrument(CC, *flags, "build/a.o", "-o", "build/a"))
            out, calls = self.calls(self.path("build/a"))
            self.assertEqual(out, self.run_in("./plain").stdout)
            self.assertEqual(calls, {"main": 1, "add": 7, "more": 7})
        # Compiled and linked at once, and without -o.
        self.good(self.instrument(CC, *flags, "source/a.c", "-o", "build/once"))
        self.assertEqual(self.calls(self.path("build/once"))[1]["add"], 7)
        self.good(self.instrument(CC, *flags, "-c", "source/a.c"))
        self.assertTrue(os.path.exists(self.path("a.o")))

    def test_dependencies_name_the_original(self):
        self.write("source/a.h", "")
        self.write("source/a.c", "#include \"a.h\"\nint f(void) { return 1; }\n")
        self.good(self.instrument(CC, "-MD", "-c", "source/a.c", "-o", "build/a.o"))
        self.good(self.run_in(CC, "-MD", "-c", "source/a.c", "-o", "build/plain.o"))
        got = self.read("build/a.d").replace("\\\n", " ").split()
        plain = self.read("build/plain.d").replace("\\\n", " ").split()
        self.assertEqual(set(plain[1:]) - set(got), set())
        self.assertNotIn(".stint/", " ".join(got))
        self.assertTrue(any(name.endswith("instrument.h") for name in got))

    def test_messages_name_the_original(self):
        self.write("source/a.c", "int f(void) {\n    int unused;\n    return 1;\n}\n")
        done = self.instrument(CC, "-Wall", "-c", "source/a.c", "-o", "build/a.o")
        self.assertIn("source/a.c:2:", done.stderr)
        self.assertNotIn(".stint/", done.stderr)

    def test_the_copy_is_stable(self):
        self.write("source/a.c", "int f(void) { return 1; }\n")
        for _ in range(2):
            self.good(self.instrument(CC, "-c", "source/a.c", "-o", "build/a.o"))
            name = "build/.stint/a.o.copy/a.c"
            first = getattr(self, "first", (self.read(name), os.stat(self.path(name)).st_mtime_ns))
            self.first = first
            self.assertEqual((self.read(name), os.stat(self.path(name)).st_mtime_ns), first)
        self.assertEqual(first[0].partition("#line")[2].count("\n"), 2)

    def test_globs(self):
        self.write("source/a.c", "int aa(void) { return 1; }\nint ab(void) { return 1; }\n"
                                 "int main(void) { return aa() + ab() - 2; }\n")
        for globs, expected in (("a*", {"aa", "ab"}), ("*,-a*", {"main"}), ("-ab", {"aa", "main"}),
                                ("a*,-ab*", {"aa"})):
            self.good(self.instrument(CC, *FLAGS, "source/a.c", "-o", "build/a",
                                      options=("--functions", globs)))
            self.assertEqual(set(self.calls(self.path("build/a"))[1]), expected)

    def test_what_is_left_out(self):
        self.write("source/a.c", """#include <setjmp.h>
#define BODY { return 1; }
static jmp_buf at;
int jumps(void) { return setjmp(at); }
__attribute__((pure)) int pure(int x) { return x; }
__attribute__((const)) int constant(int x) { return x; }
__attribute__((no_instrument_function)) int refuses(int x) { return x; }
int in_a_macro(void) BODY
static int taken(void) { return 1; }
static void *chosen(void) { return (void *)taken; }
int by_the_loader(void) __attribute__((ifunc("chosen")));
int main(void) { return !taken(); }
__attribute__((naked)) void bare(void) { __asm__("ret"); }
""")
        self.good(self.instrument(CC, "-c", "source/a.c", "-o", "build/a.o",
                                  options=("--functions", "*", "--list", "list.txt")))
        lines = self.read("list.txt").splitlines()
        self.assertEqual(lines[:2], ["total: 1 file, 2 functions instrumented, 7 left out",
                                     "source/a.c: 2 functions instrumented, 7 left out"])
        self.assertRegex("\n".join(lines), "(?s)a.c:4: jumps: left out: it calls _?setjmp, which "
                         "returns twice.*:5: pure: left out: pure:.*:6: constant: left out: const:"
                         ".*:7: refuses: .*:8: in_a_macro: left out: its body begins or ends in a "
                         "macro expansion.*:10: chosen: left out: ifunc.*:13: bare: left out: naked")
        # Again, and of a second file: each is there once.
        self.write("source/b.c", "int f(void) { return 1; }\n")
        for name in "aba":
            self.good(self.instrument(CC, "-c", "source/%s.c" % name, "-o", "build/%s.o" % name,
                                      options=("--functions", "*", "--list", "list.txt")))
        again = self.read("list.txt").splitlines()
        self.assertEqual(len(again), len(lines) + 1)
        self.assertEqual(again[0], "total: 2 files, 3 functions instrumented, 7 left out")

    def test_addresses_are_those_of_the_functions(self):
        """Comparing them decides as before, with functions and constants of units that are not
        copied."""
        self.write("source/a.c", """int first(int x) { return x + 1; }
static int second(int x) { return x + 1; }
extern int (*const of_others[2])(int);
int (*const table[])(int) = {first, second};
static int kind(int (*f)(int)) {
    if (f == first) return 1;
    return f != second && f == of_others[1] ? 3 : 2;
}
int main(void) {
    return !(kind(of_others[0]) == 1 && kind(table[1]) == 2 && kind(of_others[1]) == 3
             && of_others[0] == table[0] && first != second);
}
""")
        self.write("source/b.c", """int first(int x);
static int third(int x) { return x + 1; }
int (*const of_others[2])(int) = {first, third};
""")
        for mode in ([], ["--lines"]):
            for level in ("-O0", "-O2"):
                self.good(self.run_in(CC, *FLAGS, level, "-c", "source/b.c", "-o", "build/b.o"))
                self.good(self.instrument(CC, *FLAGS, level, "source/a.c", "build/b.o", "-o", "build/a",
                                          options=("--functions", "*", *mode)))
                self.good(self.run_in("build/a"))

    def test_functions_of_headers_are_listed(self):
        self.write("source/own.h", "static inline int own(int x) { return x; }\n"
                                   "static inline int other(int x) { return x; }\n")
        os.makedirs(self.path("system"))
        self.write("system/far.h", "static inline int own_far(int x) { return x; }\n")
        self.write("source/a.c", "#include <stdlib.h>\n#include \"own.h\"\n#include <far.h>\n"
                                 "int main(void) { return own(0) + other(0) + own_far(0); }\n")
        self.good(self.instrument(CC, "-isystem", "system", "-c", "source/a.c", "-o", "build/a.o",
                                  options=("--functions", "*,-other", "--list", "list.txt")))
        self.assertEqual(self.read("list.txt").splitlines(), [
            "total: 1 file, 1 function instrumented, 0 left out, 1 in headers",
            "source/a.c: 1 function instrumented, 0 left out, 1 in headers",
            "source/a.c: own: left out: defined in source/own.h:1, and only sources themselves are copied"])

    @unittest.skipUnless(CXX and shutil.which(CXX.split()[0]), "no C++ compiler")
    def test_coroutines_are_left_alone(self):
        """Either clang reads them, and they are left out, or the original is compiled."""
        self.write("source/a.cpp", """#include <coroutine>
struct task { struct promise_type {
    int value = 0;
    task get_return_object() { return {this}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(int n) { value = n; }
    void unhandled_exception() {}
}; promise_type *promise; };
task run(int n) { co_await std::suspend_never{}; co_return n + 1; }
int main() { return run(2).promise->value - 3; }
""")
        if self.run_in(*CXX.split(), "-std=c++20", "-fsyntax-only", "source/a.cpp").returncode:
            self.skipTest("no coroutines")
        for mode in ([], ["--lines"]):
            done = self.instrument(*CXX.split(), "-std=c++20", "source/a.cpp", "-o", "build/a",
                                   options=("--functions", "*", "--list", "list.txt", *mode))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(self.read("list.txt"),
                             r"run: left out: a coroutine|a\.cpp: not instrumented: ")
            self.assertEqual(self.run_in("build/a").returncode, 0)

    def test_without_clang_the_original_is_compiled(self):
        self.write("source/a.c", "int main(void) { return 0; }\n")
        done = self.instrument(CC, *FLAGS, "source/a.c", "-o", "build/a",
                               options=("--functions", "*", "--clang", "/no/such/clang"))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
        self.assertIn("source/a.c: not instrumented: /no/such/clang: No such file", done.stderr)
        self.assertEqual(self.run_in("build/a").returncode, 0)

    def test_the_compiler_says_what_is_wrong(self):
        self.write("source/a.c", "int f(void) { return x; }\n")
        done = self.instrument(CC, "-c", "source/a.c", "-o", "build/a.o")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("stint instrument: source/a.c: not instrumented: source/a.c:1:22: error:",
                      done.stderr)
        self.assertFalse(os.path.exists(self.path("build/a.o")))

    def test_what_compiles_nothing_is_passed_on(self):
        self.write("source/a.c", "int f(void) { return 1; }\n")
        for words in (["--version"], ["-E", "source/a.c"], ["-dumpmachine"],
                      ["-MM", "source/a.c"]):
            self.assertEqual(self.good(self.instrument(CC, *words)),
                             self.good(self.run_in(CC, *words)))
        self.assertFalse(os.path.exists(self.path(".stint")))
        self.assertEqual(self.instrument("/no/such/cc", "-c", "source/a.c").returncode, 127)

    def test_off_is_the_original(self):
        self.write("source/a.c", "int f(void) { return 1; }\n")
        off = ("--functions", "*", "--only-if-on")
        self.good(self.run_in(CC, "-c", "source/a.c", "-o", "build/plain.o"))
        for switch in ("-Da", "-DWITH_TIMER=0", "-DWITH_TIMER=OFF"):
            self.good(self.instrument(CC, switch, "-c", "source/a.c", "-o", "build/a.o", options=off))
            with open(self.path("build/a.o"), "rb") as a, open(self.path("build/plain.o"), "rb") as b:
                self.assertEqual(a.read(), b.read())
        self.assertFalse(os.path.exists(self.path("build/.stint")))
        self.good(self.instrument(CC, "-DWITH_TIMER", "-c", "source/a.c", "-o", "build/a.o",
                                  options=off))
        self.assertTrue(os.path.exists(self.path("build/.stint")))

    def test_large_files(self):
        """The memory that docs/codegen.md states is tested. The time is not, as it depends on the
        machine."""
        function = """int f%d(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (i %% 3 == 0)
            s += i;
        else
            s -= i;
    }
    return s;
}
"""
        script = self.write("peak.py", """import resource, sys
sys.path.insert(0, sys.argv[1])
import clang_ast, rewrite
copy = rewrite.rewrite(clang_ast.find_clang(), sys.argv[2], [], ["*"], sys.argv[3] == "lines")
print(len(copy.done), copy.files[0].text().count(b"STINT_"),
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
""")
        statements = "        s += a[i] * 3 + (s >> 3) - a[i & 7];\n" * 8000
        one = "int f%d(int *a, int i) {\n    int s = 0;\n" + statements + "    return s;\n}\n"
        for text, mode, count, markers in ((function, "functions", 10000, 1),
                                           (function, "lines", 1000, 9),
                                           (one, "lines", 1, 8003)):
            self.write("source/large.c", "".join(text % i for i in range(count)))
            done = self.run_in(sys.executable, "-B", script, os.path.join(ROOT, "gen", "instrument"),
                               "source/large.c", mode)
            functions, marks, megabytes = map(int, self.good(done).split())
            self.assertEqual((functions, marks), (count, markers * count))
            self.assertLess(megabytes, 250)

    def test_start(self):
        """It starts for each source of a build: without modules that few commands need, and without the
        environment of a build that is for another Python."""
        for name in ("re", "site", "sitecustomize"):
            self.write("source/%s.py" % name, "raise ImportError('%s of the build')\n" % name)
        self.write("source/a.c", "int main(void) { return 0; }\n")
        os.makedirs(self.path("bin"))
        self.write("bin/python3", "#!/bin/sh\nexec '%s' -X importtime \"$@\"\n" % sys.executable)
        os.chmod(self.path("bin/python3"), 0o755)
        done = self.run_in(ARGUMENTS[0], "instrument", "--functions", "*", "--", CC, *FLAGS, "-c", "source/a.c",
                           "-o", "build/a.o",
                           env={"PYTHONPATH": self.path("source"),
                                "PATH": self.path("bin") + ":" + os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
        modules = {line.split("|")[-1].strip() for line in done.stderr.splitlines() if "|" in line}
        self.assertIn("rewrite", modules)
        heavy = {"argparse", "hashlib", "shutil", "site", "subprocess", "tempfile", "typing"}
        self.assertEqual(modules & heavy, set())

    @unittest.skipIf("-fsanitize" in " ".join(FLAGS) or "--coverage" in FLAGS, "the code is larger")
    def test_markers_are_small(self):
        """Inlined, they take the compiler several times as long as the code that they are in."""
        statements = 1000
        self.write("source/a.c", "int a[8];\nvoid f(int i) {\n" + "    a[i] ^= i + a[i / 2];\n" * statements + "}\n")
        sizes = {}
        for mode in ("plain", "lines"):
            command = [CC, *FLAGS, "-O2", "-c", "source/a.c", "-o", "build/a.o"]
            if mode == "lines":
                self.good(self.instrument(*command, options=("--functions", "*", "--lines")))
            else:
                self.good(self.run_in(*command))
            sizes[mode] = int(self.good(self.run_in("size", "build/a.o")).splitlines()[1].split()[0])
        bytes_each = (sizes["lines"] - sizes["plain"]) / statements
        self.assertGreater(bytes_each, 4)
        self.assertLess(bytes_each, 48)

    def test_wrong_usage(self):
        for words, expected in (([], "--functions is missing"),
                                (["--functions", "*", "--"], "the command of a compiler is missing")):
            done = self.run_in(ARGUMENTS[0], "instrument", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)

    @unittest.skipUnless(CXX and shutil.which(CXX.split()[0]), "no C++ compiler")
    def test_cpp(self):
        self.write("source/a.cpp", """#include <cstdio>
#include <stdexcept>
namespace a { struct c {
    int value;
    explicit c(int v) : value(v) {}
    int get() const { return value; }
}; }
template <class T> T twice(T t) { return t + t; }
constexpr int known() { return 3; }
static int thrown(int x) { if (x) throw std::runtime_error("x"); return 0; }
extern "C" int plain(void) { return 4; }
int main() {
    auto f = [](int x) { return x; };
    int s = a::c(known()).get() + twice(2) + (int)twice(2.0) + plain() + f(1);
    try { thrown(1); } catch (const std::exception &) { s++; }
    std::printf("%d\\n", s);
}
""")
        flags = os.environ.get("CXXFLAGS", "").split()
        self.good(self.instrument(*CXX.split(), *flags, "-Wall", "-Wextra", "-Werror",
                                  "source/a.cpp", "-o", "build/a"))
        out, calls = self.calls(self.path("build/a"))
        self.assertEqual(out, "17\n")
        self.assertEqual(calls, {"main": 1, "a::c::c": 1, "a::c::get": 1, "twice": 2, "plain": 1,
                                 "thrown": 1})

    def test_globs_themselves(self):
        globs = rewrite.Globs(["a*,-ab*", "abc"])
        self.assertEqual([name for name in ("a", "ab", "abc", "b") if globs.match(name)],
                         ["a", "abc"])


if __name__ == "__main__":
    wrapped.main()
