# SPDX-License-Identifier: Apache-2.0
"""Programs that others wrote, built with `stint instrument` in front of the compiler and nothing else
changed, from the source packages of Debian. Skipped where these cannot be had.

    test_programs.py TOOL LIBRARY lua|tcc|redis|zstd
"""

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "gen", "instrument"))

import clang_ast  # noqa: E402
from debian_source import fetch, run, skip  # noqa: E402

CC = os.environ.get("CC", "cc")
TOOL, LIBRARY, PROGRAM = (sys.argv + ["", "", ""])[1:4]
PACKAGES = {"lua": "lua5.4", "tcc": "tcc", "redis": "redis", "zstd": "libzstd"}
SECONDS = 3  # of load
ZSTD_BLOCK = 128 << 10  # bytes, the largest of the format
ZSTD_BLOCKS = 16

LUA_SCRIPT = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local x = 0
for i = 1, 20000000 do x = (x ~ i) + 1 end
print(fib(20), x)
"""


class Program(unittest.TestCase):
    def setUp(self):
        self.source = SOURCE
        self.run_file = os.path.join(TOP, "run.stint")

    def wrapped(self, *options):
        """The compiler, as a Makefile gets it."""
        return " ".join([TOOL, "instrument", "--functions=-no_such_function", "--library", LIBRARY, *options,
                         "--", CC])

    def good(self, words, **more):
        done = run(words, **more)
        self.assertEqual(done.returncode, 0, " ".join(words) + "\n" + done.stdout[-3000:])
        return done.stdout

    def make(self, *words):
        return self.good(["make", "-j2", *words], cwd=self.source)

    def exported(self):
        return json.loads(self.good([TOOL, "export", self.run_file, "--to", "json"]))


class Lua(Program):
    def test_self_time_of_recursion(self):
        """The loop of the interpreter has the most time of its own, although it calls itself."""
        # Without luac, and without optimization, which takes a third of the time.
        self.make("-C", "src", "lua", "SYSCFLAGS=-DLUA_USE_LINUX", "SYSLIBS=-Wl,-E -ldl",
                  "MYCFLAGS=-O0", "CC=" + self.wrapped())
        script = os.path.join(TOP, "load.lua")
        with open(script, "w", encoding="utf-8") as file:
            file.write(LUA_SCRIPT)
        out = self.good(["src/lua", script], cwd=self.source, env=dict(os.environ, STINT_FILE=self.run_file))
        self.assertTrue(out.startswith("6765\t"), out)
        rows = self.exported()["stats"]
        first = max(rows, key=lambda row: row["self_ns"])
        self.assertEqual(first["name"], "luaV_execute")


class Tcc(Program):
    def test_own_tests(self):
        """test3: the compiler, instrumented, compiles itself three times over, and the last one compiles its
        test program, whose output is compared with that of the machine's compiler."""
        self.good(["./configure", "--cc=" + CC], cwd=self.source)
        listed = os.path.join(TOP, "list.txt")
        self.make("CC=" + self.wrapped("--list", listed))
        with open(listed, encoding="utf-8") as file:
            total = re.match(r"total: \d+ files?, (\d+) functions instrumented", file.read())
        self.assertGreater(int(total.group(1)), 300)
        self.good(["make", "-C", "tests", "test3"], cwd=self.source,
                  env=dict(os.environ, STINT_FILE=self.run_file))


class Redis(Program):
    def test_killed_under_load(self):
        self.make("-C", "src", "redis-server", "MALLOC=libc", "OPTIMIZATION=-O1", "CC=" + self.wrapped())
        path = os.path.join(TOP, "redis.sock")
        began = time.monotonic()
        server = subprocess.Popen(["src/redis-server", "--port", "0", "--unixsocket", path, "--save", ""],
                                  cwd=self.source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env=dict(os.environ, STINT_FILE=self.run_file))
        try:
            self.load(path)
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()
        true_s = time.monotonic() - began
        wall_s = self.exported()["run"]["wall_ns"] / 1e9
        self.assertLess(abs(wall_s - true_s), 1, "%.3f s for %.3f s" % (wall_s, true_s))

    def load(self, path):
        """Requests, one after the other."""
        client = socket.socket(socket.AF_UNIX)
        self.addCleanup(client.close)
        while client.connect_ex(path):
            time.sleep(0.01)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            client.sendall(b"SET key value\r\n")
            self.assertEqual(client.recv(64), b"+OK\r\n")


class Zstd(Program):
    def setUp(self):
        super().setUp()
        if not os.environ.get("CFLAGS"):
            os.environ.pop("CFLAGS", None)  # the Makefile takes an empty one, too, instead of its -O3
        self.plain = os.path.join(TOP, "plain.txt")
        with open(self.plain, "wb") as file:
            file.write(some_text(ZSTD_BLOCKS * ZSTD_BLOCK))

    def test_compresses_to_the_same_bytes(self):
        """The Makefile's questions to the compiler, some of them with a source on standard input, have the
        answers that the compiler alone gives, and the program's output is that of the plain build."""
        wrapped = self.wrapped()
        self.assertEqual(self.answers(wrapped), self.answers(CC))
        expected = self.compressed(CC)
        self.assertEqual(self.compressed(wrapped), expected)
        calls = {row["name"]: row["calls"] for row in self.exported()["stats"]}
        self.assertEqual(calls["main"], 1)
        self.assertEqual(calls["ZSTD_compressBlock_internal"], ZSTD_BLOCKS)
        again = os.path.join(TOP, "again.txt")
        self.zstd("-d", os.path.join(TOP, "packed.zst"), "-o", again)
        self.assertEqual(md5(again), md5(self.plain))

    def answers(self, compiler):
        """The flags that the Makefile takes from its questions: it hands them to itself."""
        out = self.good(["make", "-n", "-C", "programs", "zstd", "CC=" + compiler], cwd=self.source)
        flags = dict(re.findall(r'([A-Z]+FLAGS|LDLIBS)="([^"]*)"', out))
        self.assertEqual(set(flags), {"CPPFLAGS", "CFLAGS", "LDFLAGS", "LDLIBS"}, out)
        return flags

    def compressed(self, compiler):
        self.make("-C", "programs", "zstd", "CC=" + compiler)
        packed = os.path.join(TOP, "packed.zst")
        self.zstd("-12", self.plain, "-o", packed)
        return md5(packed)

    def zstd(self, *words):
        if os.path.exists(self.run_file):
            os.remove(self.run_file)
        self.good(["programs/zstd", "-q", "-f", *words], cwd=self.source,
                  env=dict(os.environ, STINT_FILE=self.run_file))


def some_text(size):
    """The same words each time, some of them often."""
    words = [hashlib.md5(b"%d" % i).hexdigest()[:3 + i % 9] for i in range(2000)]
    out = []
    state = 1
    length = 0
    while length <= size:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(words[(state >> 33) % (1 + (state >> 20) % len(words))])
        length += len(out[-1]) + 1
    return " ".join(out).encode()[:size]


def md5(path):
    with open(path, "rb") as file:
        return hashlib.md5(file.read()).hexdigest()


if __name__ == "__main__":
    try:
        clang_ast.find_clang()
    except clang_ast.AstError as e:
        skip(e)
    with tempfile.TemporaryDirectory() as TOP:
        SOURCE = fetch(TOP, PACKAGES[PROGRAM])
        unittest.main(argv=[sys.argv[0], PROGRAM.capitalize(), *sys.argv[4:]], exit=True)
