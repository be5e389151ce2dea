# SPDX-License-Identifier: Apache-2.0
"""The reader of clang's syntax tree (gen/instrument/clang_ast.py), on what clang prints."""

import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "gen", "instrument"))

import clang_ast  # noqa: E402
import rewrite  # noqa: E402
import run_command  # noqa: E402

# One function of about 20 lines, whose dump is about 440 KB.
FUNCTION = """
int work_%(n)d(int a, int b) {
    int sum = 0;
    for (int i = 0; i < a; i++) {
        if (i %% 3 == 0 && (b > i || a < b)) {
            sum += i * b + (a << 2) - b / (i + 1);
        } else if (i %% 5) {
            sum -= b * b + a * a - i * i + sum %% 7;
        } else {
            sum ^= (a + b) * (a - b) + i;
        }
        switch (sum & 3) {
        case 0:
            sum += a * b + i * 2 + (sum >> 3);
            break;
        default:
            sum = sum * 3 + a - b + i;
        }
    }
    return sum + a * b - (a ^ b);
}
"""


class Reader(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def functions(self, path, *arguments, files=None):
        result = []
        with clang_ast.dump(CLANG, list(arguments) + [path], files or [path]) as nodes:
            for node in nodes:
                result += clang_ast.functions(node)
        return result

    def text_at(self, path, begin, end):
        with open(path, "rb") as file:
            return file.read()[begin:end].decode()

    def test_declaration(self):
        path = self.write("a b \u00e9.c", """/* \u00e9 */
#include <stdio.h>
static inline __attribute__((const, noinline)) int add(int a, const char *b) {
    return a + *b;
}
extern int log_line(const char *format, ...);
""")
        add, log = self.functions(path)
        self.assertEqual((add.name, add.place.line(), add.storage, add.inline, add.variadic),
                         ("add", 3, "static", True, False))
        self.assertEqual(add.type, "int (int, const char *)")
        self.assertEqual(add.result, "int")
        self.assertEqual([(p.name, p.type) for p in add.parameters],
                         [("a", "int"), ("b", "const char *")])
        self.assertEqual(sorted(add.attributes), ["Const", "NoInline"])
        self.assertEqual(self.text_at(path, add.place.offset, add.place.after), "add")
        self.assertEqual(self.text_at(path, add.body.begin.offset, add.body.end.after),
                         "{\n    return a + *b;\n}")
        self.assertTrue(log.variadic)
        self.assertIsNone(log.body)
        self.assertEqual(log.storage, "extern")

    def test_files_across_headers(self):
        # clang names a file only where it changes: what is left out counts.
        first = self.write("first.h", "static int one(void) { return 1; }\n")
        self.write("second.h", "\n\n#include \"first.h\"\nint two(void);\n")
        path = self.write("main.c", "#include \"second.h\"\nint three(void) { return one(); }\n"
                                    "#include <errno.h>\nint four(void);\n")
        self.assertEqual([(f.name, f.place.line()) for f in self.functions(path)],
                         [("three", 2), ("four", 4)])
        self.assertEqual([f.name for f in self.functions(path, files=[first])], ["one"])
        everything = []
        with clang_ast.dump(CLANG, [path]) as nodes:
            for node in nodes:
                for function in clang_ast.functions(node):
                    everything.append((function.name, os.path.basename(function.place.file)))
        for expected in [("one", "first.h"), ("two", "second.h"), ("three", "main.c")]:
            self.assertIn(expected, everything)

    def test_macros(self):
        self.write("m.h", "#define RETURN_IF(c) if (c) return 1\n")
        path = self.write("a.c", "#include \"m.h\"\nint f(int a) {\n    RETURN_IF(a > 3);\n"
                                 "    if (a) a++;\n    return a;\n}\n")
        function, = self.functions(path)
        inside, plain, last = list(function.body.children())
        self.assertEqual((inside.kind, plain.kind, last.kind), ("IfStmt", "IfStmt", "ReturnStmt"))
        self.assertTrue(inside.begin.macro)
        self.assertFalse(inside.begin.argument)
        self.assertEqual((inside.begin.file, inside.begin.line()), (path, 3))
        self.assertEqual(os.path.basename(inside.begin.spelling.file), "m.h")
        condition = next(inside.children())
        self.assertTrue(condition.begin.argument)
        self.assertEqual((condition.begin.spelling.file, condition.begin.spelling.offset),
                         (path, self.text_at(path, 0, None).index("a > 3")))
        # The file of the location printed before was the header's.
        self.assertFalse(plain.begin.macro)
        self.assertEqual((plain.begin.file, plain.begin.line(), last.begin.line()), (path, 4, 5))

    def test_statements(self):
        path = self.write("a.c", "int f(int n) {\n    for (;;) {\n        break;\n    }\n"
                                 "    return ({ int q = n; q; });\n}\n")
        function, = self.functions(path)
        loop, back = list(function.body.children())
        self.assertEqual([child and child.kind for child in loop.children()],
                         [None, None, None, None, "CompoundStmt"])
        self.assertTrue(back.contains("StmtExpr"))
        self.assertFalse(loop.contains("StmtExpr"))
        self.assertEqual([n.kind for n in function.body.walk({"BreakStmt", "DeclStmt"})],
                         ["BreakStmt", "DeclStmt"])

    def test_cpp(self):
        path = self.write("a.cpp", """namespace a { namespace b {
namespace { }
class c { public: int m() const { return 1; } c() {} };
template <class T> T twice(T t) { return t + t; }
} int g() { return b::twice(2) + (int)b::twice(2.0); } }
extern "C" { int plain(); }
extern "C" int single();
int operator+(a::b::c, int) { return 3; }
""")
        found = [f for f in self.functions(path) if not f.implicit]
        self.assertEqual([f.qualified for f in found],
                         ["a::b::c::m", "a::b::c::c", "a::b::twice", "a::g", "plain", "single",
                          "operator+"])
        self.assertEqual(found[4].mangled, "plain")
        self.assertEqual(found[0].kind, "CXXMethodDecl")

    def test_a_string_that_looks_like_a_field(self):
        path = self.write("a.c", "const char *s = \"\\\"file\\\": \\\"x.c\\\",\\n    }\";\n"
                                 "int f(void) { return 0; }\n")
        function, = self.functions(path)
        self.assertEqual(function.place.file, path)

    def test_an_error_is_one_line(self):
        path = self.write("a.c", "int f(void) { return x; }\n")
        with self.assertRaises(clang_ast.AstError) as caught:
            self.functions(path)
        self.assertRegex(str(caught.exception), r"a\.c:1:22: error: use of undeclared")
        with self.assertRaises(clang_ast.AstError):
            clang_ast.find_clang(["no-such-compiler"])

    def test_only_what_is_asked_for_is_decoded(self):
        """The name of a file once; not the hundreds of declarations of headers, and what is in bodies."""
        path = self.write("a.c", "#include <stdio.h>\n#include <stdlib.h>\n" + FUNCTION % {"n": 1})
        with mock.patch.object(clang_ast, "decode", wraps=clang_ast.decode) as decode:
            self.assertEqual([f.name for f in self.functions(path)], ["work_1"])
        self.assertLess(decode.call_count, 100)

    def test_leaving_early(self):
        path = self.write("a.c", "#include <stdio.h>\n" + FUNCTION % {"n": 1} * 1)
        with clang_ast.dump(CLANG, [path]) as nodes:
            next(nodes)

    def test_large_declarations_are_read_the_same(self):
        """They are kept in another form, without what is not asked for: the copies must not
        differ."""
        corpus = os.path.join(ROOT, "tests", "instrument")
        names = ["corpus/%s.c" % name for name in (
            "attribute_statement", "declarations", "function_pointer", "generic", "macro_loop",
            "statement_expression", "switch_declaration", "utf8", "vla_goto")]
        names += ["corpus_cxx/%s.cpp" % name for name in ("if_constexpr", "lambda", "while_declaration")]
        for name in names:
            path = os.path.join(corpus, name)
            with open(path, encoding="utf-8") as file:
                self.assertNotIn("#include", file.read(), name + " would take long")
            for lines in (False, True):
                usual = self.copy_of(path, lines)
                with mock.patch.multiple(clang_ast, BLOCK=512, LARGE=256), \
                        mock.patch.multiple(run_command, PAUSE_S=0):
                    self.assertEqual(self.copy_of(path, lines), usual, name)

    def copy_of(self, path, lines):
        standard = "-std=gnu++17" if path.endswith(".cpp") else "-std=gnu11"
        copy = rewrite.rewrite(CLANG, path, [standard], ["*"], lines)
        self.assertTrue(copy.done)
        left_out = [(name, str(place), reason) for name, place, reason in copy.left_out]
        return dict(vars(copy), left_out=left_out, files=[file.text() for file in copy.files])

    def test_memory_and_every_function_of_10000_lines(self):
        path = self.write("large.c", "".join(FUNCTION % {"n": n} for n in range(480)))
        script = ("import sys; sys.path.insert(0, %r); import clang_ast, resource\n"
                  "n = 0\n"
                  "with clang_ast.dump(%r, [%r], [%r]) as nodes:\n"
                  "    for node in nodes:\n"
                  "        for f in clang_ast.functions(node):\n"
                  "            assert f.begin.line() == 2 + 21 * n, f.begin.line()\n"
                  "            n += 1\n"
                  "print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
                  % (os.path.dirname(clang_ast.__file__), CLANG, path, path))
        out = subprocess.run([sys.executable, "-B", "-c", script], check=True,
                             stdout=subprocess.PIPE, universal_newlines=True).stdout.split()
        self.assertEqual(int(out[0]), 480)
        self.assertLess(int(out[1]), 500 * 1024)


if __name__ == "__main__":
    try:
        CLANG = clang_ast.find_clang()
    except clang_ast.AstError as e:
        print("skipped:", e)
        sys.exit(77)
    unittest.main()
