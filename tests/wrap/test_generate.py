# SPDX-License-Identifier: Apache-2.0
"""gen/instrument/wrap.py without CMake: what it writes, and what it says of what it cannot read."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GEN = Path(__file__).resolve().parents[2] / "gen" / "instrument"
sys.path.insert(0, str(GEN))
import clang_ast
import compile_flags

OPTIONS = argparse.Namespace(cc="cc", include="")


class Generate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.mkdtemp(prefix="wrap ü ")
        self.addCleanup(shutil.rmtree, folder)
        self.folder = Path(folder)
        self.header = self.folder / "some header.h"
        self.out = self.folder / "made"

    def generate(self, text, *more, globs=("*",), fails=False):
        """Standard error; the files are then in self.folder."""
        self.header.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", str(GEN / "wrap.py"), "generate",
                   "--header", str(self.header), "--out", str(self.out), *more]
        done = subprocess.run(command + ["--function=" + glob for glob in globs],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode != 0, fails, done.stderr)
        return done.stderr

    def functions(self):
        facts = json.loads(Path(str(self.out) + ".json").read_text(encoding="utf-8"))
        return {item["name"]: item for item in facts["functions"]}

    def code(self):
        return Path(str(self.out) + ".c").read_text(encoding="utf-8")

    def compile(self, *flags):
        command = [OPTIONS.cc, *flags, "-c", "-o", str(self.folder / "made.o"),
                   "-I" + OPTIONS.include, str(self.out) + ".c"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_types(self):
        """Every kind of type in a declaration comes back, for the compiler of the program too."""
        self.generate("""
            #include <stdarg.h>
            #include <stdbool.h>
            struct s { int a[100]; }; union u { float f; int i; }; enum e { A, B };
            typedef struct { double x; } t; typedef int (*cb)(const struct s *, ...);
            typedef float v4 __attribute__((vector_size(16)));
            struct s by_value(struct s a, union u b, enum e c, t d);
            t *const *pointers(const volatile t *const *a, void *restrict b, char *const argv[]);
            cb callbacks(cb a, void (*b)(int (*)[4], cb), int (*(*c)(int))(long));
            int (*(*deep(int (*a[])(void)))[3])(char);
            void arrays(int a[3], int n, int b[n][n], int (*c)[n], char d[static 2]);
            _Bool numbers(bool a, long double b, unsigned __int128 c, double _Complex d, v4 e);
            void list(const char *f, va_list a);
            void none(void);
            const char *const text(void);
            """)
        self.assertEqual([name for name, item in self.functions().items() if item["reason"]], [])
        self.compile("-Wall", "-Werror")
        self.compile("-std=c11", "-pedantic-errors", "-w")
        self.generate(self.header.read_text(encoding="utf-8"), "--preload", "--set=x")
        self.compile("-fPIC")

    def test_adapter(self):
        """The wrapper of each function of an adapter records the right values; here for a part of
        MPI."""
        self.generate("""
            typedef int MPI_Comm; typedef int MPI_Datatype; typedef int MPI_Op;
            typedef int MPI_Request; typedef int MPI_Status; typedef long long MPI_Count;
            int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm);
            int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
                            MPI_Comm comm);
            int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Status *status);
            int MPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root,
                               MPI_Comm comm, MPI_Request *request);
            int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            MPI_Comm comm);
            int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
            int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm);
            int MPI_Wait(MPI_Request *request, MPI_Status *status);
            int MPI_Comm_rank(MPI_Comm comm, int *rank);
            """, "--preload", "--adapter=mpi")
        code, fortran = self.code().split("static void stint_fortran_", 1)
        bodies = {text.split("(", 1)[0]: text for text in code.split(" stint_wrap_")
                  if ") {" in text}
        first = "stint_arg0, stint_arg1, stint_arg2"
        twice = first + ", " + first
        for name, comm, waits, size in (
                ("MPI_Send", 5, "", "stint_mpi_bytes(%s, stint_arg3)" % twice),
                ("MPI_Bcast_c", 4, "WAITING_FOR_ROOT",
                 "stint_mpi_bytes(%s, stint_mpi_root(stint_comm, stint_arg3))" % twice),
                ("MPI_Recv", 5, "WAITING", ""),
                ("MPI_Bcast_init", 4, "", ""),
                ("MPI_Scatter", 7, "WAITING_FOR_ROOT",
                 "stint_mpi_bytes(stint_arg3, stint_arg4, stint_arg5, %s, "
                 "stint_mpi_root(stint_comm, stint_arg6))" % first),
                ("MPI_Alltoallv", 8, "WAITING", ""),
                ("MPI_Reduce", 6, "ROOT_WAITING",
                 "stint_mpi_bytes(stint_arg1, stint_arg2, stint_arg3, stint_arg1, stint_arg2, "
                 "stint_arg3, stint_mpi_root(stint_comm, stint_arg5))"),
                ("MPI_Wait", None, "WAITING", ""),
                ("MPI_Comm_rank", 0, "", "")):
            body = bodies[name]
            found = "stint_mpi_comm_none()" if comm is None else \
                "stint_mpi_comm_find(stint_arg%d)" % comm
            self.assertIn("stint_comm = %s;" % found, body)
            self.assertIn("STINT_ROLE_%s, " % (waits or "NONE"), body)
            self.assertEqual("STINT_MPI_WAITING_SCOPE" in body, bool(waits), body)
            self.assertEqual("uint64_t stint_bytes = %s;" % size in body, bool(size), body)
            self.assertEqual("STINT_TIMER_BYTES" in body, bool(size), body)
        self.assertIn("stint_mpi_rank_see(stint_arg0, stint_arg1, stint_result);",
                      bodies["MPI_Comm_rank"])
        # MPICH's functions for Fortran that go past those for C, a function each.
        symbols = re.findall(r'__asm__\("(\w+)"\)', fortran)
        self.assertEqual(symbols, ["mpi_wait_f08_", "mpi_comm_rank_f08_"])
        error = self.generate("int f(void);", "--adapter=../mpi", fails=True)
        self.assertIn("unknown adapter '../mpi'; there is: mpi", error)

    def test_names(self):
        """Macros and labels that rename; a glob matches either name; two macros for one."""
        flags = self.folder / "flags"
        flags.write_text("-DPER_THREAD\n-I\n-D\nSHELL:-D'A=1' -O2 -fanalyzer\nstandard=99\n")
        text = """
            #define get get_v2
            #define GLUE_(a) a##_ptsz
            #ifdef PER_THREAD
            #define GLUE(a) GLUE_(a)
            #else
            #define GLUE(a) a
            #endif
            #define put GLUE(put)
            #define one both
            #define two both
            int get(int); int put(int); int both(void);
            int labelled(void) __asm__("real_label");
            """
        self.generate(text, "--flags", str(flags), globs=("get", "put_ptsz", "one", "label*"))
        found = {name: item["symbol"] for name, item in self.functions().items()}
        self.assertEqual(found, {"get": "get_v2", "put": "put_ptsz", "both": "both",
                                 "labelled": "real_label"})
        self.assertIn('__asm__("__wrap_real_label")', self.code())
        self.generate(text, globs=("put",))
        self.assertEqual(self.functions()["put"]["symbol"], "put")

    def test_left_out(self):
        self.generate("""
            #include <setjmp.h>
            #include <alloca.h>
            #include <stdlib.h>
            #include <dlfcn.h>
            #include <string.h>
            """, "--included", globs=("setjmp", "_setjmp", "longjmp", "alloca", "exit", "abort",
                                      "dlsym", "memcpy", "quick_exit"))
        reasons = {name: item["reason"] for name, item in self.functions().items()}
        self.assertEqual(reasons.pop("memcpy"), "")
        self.assertTrue(all(reasons.values()), reasons)
        self.assertIn("may replace calls", self.functions()["memcpy"]["notes"][0])

    def test_reserved(self):
        """A function that the recorder calls is not wrapped if its wrapper would reach the
        recorder."""
        source = self.folder / "recorder.c"
        source.write_text("extern int needed(void); int begin(void) { return needed(); }\n")
        recorder = self.folder / "recorder.a"
        subprocess.run([OPTIONS.cc, "-c", "-o", str(recorder), str(source)], check=True)
        self.generate("int needed(void); int other(void);", "--reserved", str(recorder),
                      "--nm", shutil.which("nm") or "nm")
        self.assertEqual({name: item["reason"] for name, item in self.functions().items()},
                         {"needed": "the timers themselves call it", "other": ""})

    def test_lto(self):
        """The list notes objects of gcc's -flto: their own calls may be resolved before --wrap."""
        sources = {"a.c": "int own(int); int main(void) { return own(0); }",
                   "b.c": "int own(int x) { return x; }"}
        objects = []
        for name, text in sources.items():
            (self.folder / name).write_text(text)
            objects.append(str(self.folder / (name + ".o")))
            subprocess.run([OPTIONS.cc, "-flto", "-ffat-lto-objects", "-w", "-c", "-o", objects[-1],
                            str(self.folder / name)], check=True)
        if b".gnu.lto_" not in Path(objects[0]).read_bytes():
            self.skipTest("not gcc")
        (self.folder / "objects").write_text("\n".join(objects) + "\n")
        self.generate("int own(int);")
        subprocess.run([sys.executable, "-B", str(GEN / "wrap.py"), "link", "--out", str(self.out),
                        "--nm", shutil.which("nm") or "nm",
                        "--objects", str(self.folder / "objects")], check=True, capture_output=True)
        self.assertIn("compiled with -flto", Path(str(self.out) + ".txt").read_text())
        self.assertEqual(Path(str(self.out) + ".rsp").read_text(), "-Wl,--wrap=own\n")

    def test_idempotent(self):
        text = "int a(void); int b(int); int a(void);"
        self.generate(text)
        first = self.code()
        time = os.stat(str(self.out) + ".c").st_mtime_ns
        self.generate(text)
        self.assertEqual(self.code(), first)
        self.assertEqual(os.stat(str(self.out) + ".c").st_mtime_ns, time)
        self.assertEqual(first.count("STINT_TIMER("), 2)

    def test_errors(self):
        """One line, with file, line and what it is about."""
        message = self.generate("int a(void);\nint b(undeclared x);\n", fails=True)
        self.assertRegex(message,
                         r"^stint_wrap: .*some header\.h:2:\d+: error: .*'undeclared'.*\n$")
        message = self.generate("int a(void);", globs=("a", "c*"), fails=True)
        self.assertRegex(message, r"^stint_wrap: .*some header\.h: no function matches 'c\*'\n$")
        message = self.generate("#include <stdlib.h>\nint a(void);", globs=("qsort",), fails=True)
        self.assertRegex(message, r"stdlib\.h:\d+ declares qsort: add INCLUDED\n$")
        message = self.generate("int a(void);", "--clang", "/none/clang", fails=True)
        self.assertEqual(message, "stint_wrap: /none/clang: No such file or directory\n")

    def test_standards(self):
        def standard(*words, language="C"):
            return compile_flags.standard_newest(words, language)
        self.assertEqual(standard(), "-std=gnu17")
        self.assertEqual(standard("standard=", language="CXX"), "-std=gnu++17")
        self.assertEqual(standard("standard=99", "feature=c_std_11", "feature=cxx_std_20"),
                         "-std=gnu11")
        self.assertEqual(standard("standard=98", "feature=cxx_std_11", language="CXX"),
                         "-std=gnu++11")
        self.assertEqual(standard("standard=11", "-std=c99"), "-std=c99")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", default=str(GEN.parents[1] / "include"))
    OPTIONS, rest = parser.parse_known_args()
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as error:
        print("skipped:", error)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + rest)
