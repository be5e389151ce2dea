# SPDX-License-Identifier: Apache-2.0
"""Files of the corpus, instrumented, under sanitizers and valgrind: they report nothing, and the
program says the same as without instrumentation.

    test_sanitizers.py TOOL LIBRARY c|c++ [unittest arguments]

A tool that the machine lacks, or that does not run there, skips its test.
"""

import os
import shutil
import sys
import tempfile
import unittest

import test_corpus
from test_corpus import CXX, LANGUAGE, ROOT, Build, run

import clang_ast

# Programs whose semantics depend on more than the copied text: jumps, unwinding, stack,
# initialisation, threads. Those after the first five take as long again, and run with CORPUS=all in
# the environment.
SUBTLE = {
    "c": ["computed_goto", "goto_out", "statement_expression", "threads", "vla_goto",
          "cleanup", "recursion_mutual", "switch_declaration", "variadic", "vla"],
    "c++": ["exceptions_again", "local_static", "thread_objects", "unwinding", "while_declaration",
            "constructor", "exceptions", "method", "range_for", "virtual_functions"],
}["c++" if LANGUAGE is CXX else "c"]
if os.environ.get("CORPUS") != "all":
    SUBTLE = SUBTLE[:5]
MODES = {"functions": [], "lines": ["--lines"]}
SUPPRESSIONS = os.path.join(ROOT, "packaging", "tsan.supp")


class Sanitizers(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        top = tempfile.TemporaryDirectory()
        cls.addClassCleanup(top.cleanup)
        cls.folder = top.name
        cls.plain = Build(cls.folder, "plain", names=SUBTLE).done

    def needs(self, flag):
        source = os.path.join(self.folder, "empty" + LANGUAGE.suffix)
        with open(source, "w", encoding="utf-8") as file:
            file.write("int main(void) { return 0; }\n")
        program = os.path.join(self.folder, "empty")
        built = run([LANGUAGE.compiler, flag, source, "-o", program])
        if built.returncode or run([program]).returncode:
            self.skipTest("no program with %s runs here" % flag)

    def same(self, done):
        self.assertEqual((done.stderr, done.returncode, done.stdout), ("", 3, self.plain.stdout))

    def sanitized(self, flag, **variables):
        self.needs(flag)
        for mode, options in MODES.items():
            with self.subTest(mode):
                build = Build(self.folder, mode + flag, [flag, "-g"], options, names=SUBTLE)
                self.same(build.execute(**variables))

    def test_address_and_undefined(self):
        self.sanitized("-fsanitize=address,undefined")

    def test_thread(self):
        self.sanitized("-fsanitize=thread", TSAN_OPTIONS="suppressions=" + SUPPRESSIONS)

    def test_valgrind(self):
        if not shutil.which("valgrind"):
            self.skipTest("no valgrind")
        for mode, options in MODES.items():
            with self.subTest(mode):
                build = Build(self.folder, mode, ["-g"], options, names=SUBTLE)
                self.same(build.execute(["valgrind", "-q", "--leak-check=full"]))


if __name__ == "__main__":
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as e:
        print("skipped:", e)
        sys.exit(77)
    if ".so" not in os.path.basename(test_corpus.LIBRARY):
        print("skipped: with the shared library")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
