# SPDX-License-Identifier: Apache-2.0
"""`stint instrument -- nvcc`, and stint_instrument() for CUDA sources: host functions are
instrumented.

    test_cuda.py TOOL LIBRARY [unittest arguments]

The command lines are tested with a stand-in for nvcc, which writes its arguments down, and one for
clang, which reads the source as C++ because the stand-in's toolkit has no headers. The tests of the
class Real are skipped where nvcc is not installed; a GPU is not needed.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "gen", "instrument"))

import clang_ast  # noqa: E402

TOOL, LIBRARY = (sys.argv + ["", ""])[1:3]
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
SANITIZED = "-fsanitize" in os.environ.get("CFLAGS", "")
RECORD = """#!{python}
import json, sys
with open({path!r}, "a") as file:
    json.dump(sys.argv[1:], file)
    file.write("\\n")
{more}
"""
# Reads C++ in place of CUDA.
CLANG_MORE = """import os
words = "\\n".join(sys.argv[1:]).replace("-Xclang\\n-fcuda-allow-variadic-functions\\n", "").split("\\n")
words = [word for word in words if not word.startswith(("--cuda-", "-nocudalib"))]
words = ["c++" if word == "cuda" else word for word in words]
os.execv({clang!r}, [{clang!r}] + words)
"""
SOURCE = """#include <cstdio>
#include "times.h"
__device__ int on_device(int x) { return x + 1; }
__host__ __device__ int on_both(int x) { return x * 2; }
__global__ void kernel(int *p) { p[threadIdx.x] = on_device(1); }
template <class T> __global__ void kernel_of(T *p) { p[0] = 1; }
static int launch(int n) {
    kernel<<<1, TIMES>>>(nullptr);
    kernel_of<<<1, 1>>>(static_cast<float *>(nullptr));
    return on_both(n);
}
int main() {
    int sum = 0;
    for (int i = 0; i < TIMES; i++) {
        sum += launch(i);
    }
    std::printf("%d %s:%d\\n", sum, __FILE__, __LINE__);
    return 0;
}
"""


class Folder(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.folder = os.path.join(top.name, "a b, \u00e9")
        os.makedirs(self.path("source"))
        os.makedirs(self.path("build"))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_in(self, *words, **variables):
        return subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.PIPE, universal_newlines=True,
                              env=dict(os.environ, **variables))

    def instrument(self, options, words, **variables):
        return self.run_in(TOOL, "instrument", "-f", "*", "--list", "list.txt", "--library", LIBRARY,
                           *options, "--", *words, **variables)

    def good(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class CommandLines(Folder):
    """The command lines of nvcc and clang."""

    def setUp(self):
        super().setUp()
        self.nvcc = self.stand_in("toolkit/bin/nvcc", "")
        self.clang = self.stand_in("clang", CLANG_MORE.format(clang=clang_ast.find_clang()))
        self.write("toolkit/include/cuda_runtime.h", "")
        self.write("source/a.cu", "int f() { return 1; }\n")

    def stand_in(self, name, more):
        path = self.write(name, "")
        self.write(name, RECORD.format(python=sys.executable, path=path + ".calls", more=more))
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def called(self, path):
        """The arguments of the last call."""
        with open(path + ".calls", encoding="utf-8") as file:
            return json.loads(file.read().splitlines()[-1])

    def compile(self, *words, options=()):
        done = self.instrument(["--clang", self.clang, *options], [self.nvcc, *words])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.called(self.nvcc)

    def test_nvcc(self):
        mine = ["-O2", "-arch", "sm_90", "-Xcompiler", "-Wall,-fPIC", "-dc", "-o", "build/a.o"]
        for option, header in (([], "stint/instrument.h"), (["--lines"], "stint/lines.h")):
            words = self.compile(*mine, "source/a.cu", options=option)
            at = words.index("-O2")
            self.assertEqual(words[at:], mine + ["build/.stint/a.o.copy/a.cu"])
            self.assertEqual(words[:2], ["-Xcompiler", '-iquote,"source"'])
            self.assertEqual(words[2], "-I")
            self.assertTrue(os.path.exists(os.path.join(words[3], header)))
            self.assertEqual(words[4:at], ["-DWITH_TIMER=1"])
            self.assertRegex(self.read("build/.stint/a.o.copy/a.cu"),
                             r'(?s)#include <%s>.*#line 1 "source/a.cu"\nint f\(\) \{ STINT_' % header)

    def test_a_folder_is_quoted(self):
        """nvcc splits at commas and gives the rest to a shell."""
        self.write('source/a"b,$c/a.cu', "int f() { return 1; }\n")
        words = self.compile("-c", 'source/a"b,$c/a.cu', "-o", "build/a.o")
        self.assertEqual(words[:2], ["-Xcompiler", '-iquote,"source/a\\"b\\,\\$c"'])

    def test_clang(self):
        """clang gets those options of nvcc that change what it reads."""
        self.write("toolkit/include/cccl/x.h", "")
        self.compile("--std", "c++20", "--define-macro=A=2", "-DB", "--generate-code=arch=x,code=y",
                     "-gencode", "arch=x,code=y", "-Xptxas", "-v", "-Xcompiler=-fopenmp,-Wall",
                     "--expt-relaxed-constexpr", "-rdc=true", "-x", "cu", "-odir", "here", "-c",
                     "source/a.cu", "--output-file", "build/a.o")
        words = self.called(self.clang)
        at = words.index("-std=gnu++17")
        toolkit = self.path("toolkit")
        self.assertEqual([word for word in words[at:] if not word.startswith("-Wno-error")], [
            "-std=gnu++17", "-std=c++20", "-D", "A=2", "-DB", "-fopenmp", "-x", "cuda",
            "--cuda-host-only", "-nocudalib", "-Xclang", "-fcuda-allow-variadic-functions",
            "--cuda-path=" + toolkit, "-isystem", os.path.join(toolkit, "include", "cccl"),
            "-D__CLANG_CUDA_TEXTURE_INTRINSICS_H__", "-idirafter", words[-2], "source/a.cu"])
        self.assertTrue(os.path.exists(os.path.join(words[-2], "texture_fetch_functions.h")))
        self.write("toolkit/include/texture_fetch_functions.h", "")  # as toolkits before 12
        self.compile("-c", "source/a.cu", "-o", "build/a.o")
        self.assertFalse(any("TEXTURE" in word for word in self.called(self.clang)))

    def test_clang_as_the_compiler(self):
        toolkit = self.path("toolkit")
        compiler = self.stand_in("clang++", "")
        mine = ["--cuda-path=" + toolkit, "--cuda-gpu-arch=sm_80", "-c"]
        done = self.instrument(["--clang", self.clang], [compiler, *mine, "source/a.cu"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        words = self.called(compiler)
        self.assertEqual((words[:2], words[-4:]), (["-iquote", "source"], mine + [".stint/a.o.copy/a.cu"]))
        self.assertIn("--cuda-path=" + toolkit, self.called(self.clang))

    def test_what_compiles_no_host_code(self):
        for words in (["-ptx", "source/a.cu"], ["-dlink", "a.o", "-o", "b.o"], ["--version"],
                      ["-M", "source/a.cu"], ["--dryrun", "-c", "source/a.cu"]):
            self.assertEqual(self.compile(*words), words)
        self.assertFalse(os.path.exists(self.clang + ".calls"))

    def test_a_link(self):
        """The options for the linker have nvcc's names."""
        self.write("a.o", "")
        path = ["-Xlinker", "-rpath", "-Xlinker", "/l"]
        for library, expected in (("/l/libstint.so", ["/l/libstint.so", *path]),
                                  ("/l/libstint.so.2", ["-Xlinker", "/l/libstint.so.2", *path]),
                                  ("/l/libstint.a", ["/l/libstint.a", "-Xcompiler", "-pthread", "-ldl"])):
            self.assertEqual(self.compile("a.o", "-o", "a", options=["--library", library])[3:], expected)

    def test_why_not(self):
        """One line, and the original is compiled."""
        self.write("source/bad.cu", "int f() { return x; }\n")
        words = ["-c", "source/bad.cu"]
        done = self.instrument(["--clang", self.clang], [self.nvcc, *words])
        self.assertEqual((done.returncode, self.called(self.nvcc)), (0, words))
        self.assertRegex(done.stderr, r"^stint instrument: source/bad\.cu: not instrumented: .*error: .*\n$")
        self.assertRegex(self.read("list.txt"), r"(?m)^source/bad\.cu: not instrumented: ")

    @unittest.skipIf(os.path.exists("/usr/local/cuda/include/cuda_runtime.h"),
                     "the toolkit is where it is looked for")
    def test_no_toolkit(self):
        os.remove(self.path("toolkit/include/cuda_runtime.h"))
        done = self.instrument(["--clang", self.clang], [self.nvcc, "-c", "source/a.cu"],
                               CUDA_HOME="", CUDA_PATH="")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "stint instrument: source/a.cu: not instrumented: the headers of the "
                         "CUDA toolkit were not found; CUDA_HOME may name its folder\n")


@unittest.skipIf(SANITIZED, "nvcc links no sanitizer")
@unittest.skipUnless(NVCC, "nvcc is not installed")
class Real(Folder):
    """Builds with a CUDA toolkit. Launches fail without a GPU, and are not checked."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as top:
            source, program = os.path.join(top, "empty.cu"), os.path.join(top, "empty")
            with open(source, "w", encoding="utf-8") as file:
                file.write("int main() { return 0; }\n")
            done = subprocess.run([NVCC, source, "-o", program], stdout=subprocess.DEVNULL, check=False)
            if done.returncode or subprocess.run([program], check=False).returncode:
                raise unittest.SkipTest("nvcc builds no program here")

    def setUp(self):
        super().setUp()
        self.write("source/times.h", "#define TIMES 3\n")
        self.write("source/a.cu", SOURCE)

    def build(self, *options):
        done = self.instrument(options, [NVCC, "-c", "source/a.cu", "-o", "build/a.o"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if "not instrumented" in done.stderr:
            self.skipTest(done.stderr)
        self.good(self.instrument(options, [NVCC, "build/a.o", "-o", "build/a"]))
        return self.good(self.run_in("build/a", STINT_FILE=self.path("run.stint")))

    def test_functions(self):
        self.assertEqual(self.build(), "6 source/a.cu:17\n")
        rows = json.loads(self.good(self.run_in(TOOL, "export", "run.stint", "--to", "json")))["stats"]
        self.assertEqual({row["name"]: row["calls"] for row in rows}, {"main": 1, "launch": 3})
        self.assertEqual(self.read("list.txt").splitlines(), [
            "total: 1 file, 2 functions instrumented, 4 left out",
            "source/a.cu: 2 functions instrumented, 4 left out",
            "source/a.cu:3: on_device: left out: compiled for the device",
            "source/a.cu:4: on_both: left out: compiled for the device",
            "source/a.cu:5: kernel: left out: a kernel",
            "source/a.cu:6: kernel_of: left out: a kernel"])

    def test_lines(self):
        self.assertEqual(self.build("--lines"), "6 source/a.cu:17\n")
        rows = json.loads(self.good(self.run_in(TOOL, "export", "run.stint", "--to", "json")))["lines"]
        self.assertEqual({row["line"]: row["hits"] for row in rows},
                         {8: 3, 9: 3, 10: 3, 13: 1, 14: 4, 15: 3, 17: 1, 18: 1})

    @unittest.skipUnless(shutil.which("cmake"), "no cmake")
    def test_cmake(self):
        """The targets of the package are replaced by the library of this build."""
        self.write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.18)
project(x LANGUAGES CXX CUDA)
set(WITH_TIMER ON)
add_library(stint::stint INTERFACE IMPORTED)
target_link_libraries(stint::stint INTERFACE "${LIBRARY}")
target_include_directories(stint::stint INTERFACE "${ROOT}/include")
target_compile_definitions(stint::stint INTERFACE WITH_TIMER=1)
set_property(GLOBAL PROPERTY STINT_INSTRUMENT_DIR "${ROOT}/gen/instrument")
include("${ROOT}/cmake/stintInstrument.cmake")
add_executable(a source/a.cu)
stint_instrument(a FUNCTIONS launch)
""")
        configured = self.run_in("cmake", "-S", ".", "-B", "build", "-DROOT=" + ROOT,
                                 "-DLIBRARY=" + LIBRARY, "-DCMAKE_CUDA_COMPILER=" + NVCC,
                                 "-DCMAKE_CUDA_ARCHITECTURES=75")
        self.good(configured)
        built = self.good(self.run_in("cmake", "--build", "build"))
        if "not instrumented" in built:
            self.skipTest(built)
        self.assertRegex(self.read("build/a.stint.txt"), r"a\.cu: 1 function instrumented, 0 left out")
        self.assertRegex(self.good(self.run_in("build/a", STINT_REPORT="table")), r"^6 ")


if __name__ == "__main__":
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as e:
        print("skipped:", e)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
