# SPDX-License-Identifier: Apache-2.0
"""cmake/StintGen.cmake in a project of its own: an edited table rebuilds what depends on it, and
nothing is rebuilt otherwise."""

import os
import re
import shutil
import subprocess
import sys
import unittest

import support

PROJECT = """cmake_minimum_required(VERSION 3.21)
project(consumer LANGUAGES C)
include(${CMAKE_CURRENT_SOURCE_DIR}/cmake/StintGen.cmake)
stint_generate(STINT_GENERATED)
add_executable(consumer consumer.c ${STINT_GENERATED})
target_include_directories(consumer PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/gen
    ${SOURCE}/runtime ${SOURCE}/include)
"""
# The outputs that consumer.c needs: make, whose rules are the same, builds no others.
NEEDED = r"record_ids|measure_flags|row_percentiles|report_columns|status_\w+|unit_ids|env_help"
CMAKE = os.environ.get("CMAKE_COMMAND", "cmake")


class Rebuild(support.Case):
    def setUp(self):
        super().setUp()
        self.build = os.path.join(self.folder, "build")
        shutil.copytree(support.GEN, os.path.join(self.folder, "gen"))
        os.mkdir(os.path.join(self.folder, "cmake"))
        shutil.copy(os.path.join(support.ROOT, "cmake", "StintGen.cmake"),
                    os.path.join(self.folder, "cmake"))
        shutil.copy(os.path.join(support.HERE, "consumer.c"), self.folder)
        self.write("CMakeLists.txt", PROJECT)

    def run_cmake(self, *args):
        environment = {k: v for k, v in os.environ.items() if k != "CMAKE_GENERATOR"}
        result = subprocess.run([CMAKE] + list(args), stdout=subprocess.PIPE, env=environment,
                                stderr=subprocess.STDOUT, universal_newlines=True)
        return result.returncode, result.stdout

    def make(self):
        code, said = self.run_cmake("--build", self.build)
        self.assertEqual(code, 0, said)
        return said

    def times(self):
        """Returns the time at which each product was last written."""
        found = {}
        for folder, _, names in os.walk(self.build):
            for name in names:
                if name.endswith((".inc", ".stamp", ".o")) or name == "consumer":
                    found[name] = os.stat(os.path.join(folder, name)).st_mtime_ns
        files = support.read(self.folder, "cmake", "StintGen.cmake").count("_one(stamps ")
        self.assertEqual(len(found), 2 * files + 2, found)  # a stamp each; the program, its object
        return found

    def changed(self, before):
        after = self.times()
        return sorted(name for name in after if after[name] != before[name])

    def edit(self, name, old, new):
        text = support.read(self.folder, name)
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def output(self):
        return subprocess.run([os.path.join(self.build, "consumer")], stdout=subprocess.PIPE,
                              universal_newlines=True).stdout

    def check(self, generator):
        code, said = self.run_cmake("-G", generator, "-S", self.folder, "-B", self.build,
                                    "-DPython3_EXECUTABLE=" + sys.executable,
                                    "-DSOURCE=" + support.ROOT)
        self.assertEqual(code, 0, said)
        self.make()
        self.assertIn('"slowest info"', self.output())

        before = self.times()
        self.make()
        self.assertEqual(self.changed(before), [], "a second build has nothing to do")

        self.edit("gen/columns.ini", "title = slowest info", "title = worst note")
        self.make()
        self.assertIn('"worst note"', self.output())
        rules = support.rules(support.read(self.folder, "cmake", "StintGen.cmake"))
        stamps = [output + ".stamp" for output, tables in rules.items() if "columns.ini" in tables]
        self.assertEqual(self.changed(before),
                         sorted(["consumer", "consumer.c.o", "report_columns.inc"] + stamps))
        before = self.times()
        self.make()
        self.assertEqual(self.changed(before), [], "nor has one after an edit")

        self.edit("gen/status.ini", "[too_deep]", "# a comment\n[too_deep]")
        self.make()
        self.assertEqual(self.changed(before), ["status_ids.inc.stamp", "status_table.inc.stamp"])
        before = self.times()
        self.make()
        self.assertEqual(self.changed(before), [], "nor one after an edit without effect")

        self.edit("gen/env.py", "Environment:", "Variables:")
        self.make()
        self.assertIn("Variables:", self.output())

        self.edit("gen/env.ini", "kind = globs", "kind = balls")
        code, said = self.run_cmake("--build", self.build)
        self.assertNotEqual(code, 0)
        self.assertIn("env.ini: [STINT_FILTER]: unknown kind 'balls' (", said)

    @unittest.skipUnless(shutil.which("make"), "no make")
    def test_make(self):
        rules = support.read(self.folder, "cmake", "StintGen.cmake")
        rules = re.sub(r"    stint_generate_one\(stamps \S+ (?!(%s)\.inc)[^)]*\)\n" % NEEDED, "", rules)
        self.write("cmake/StintGen.cmake", rules)
        self.check("Unix Makefiles")

    @unittest.skipUnless(shutil.which("ninja"), "no ninja")
    def test_ninja(self):
        self.check("Ninja")

    def test_depends_on_all_modules(self):
        """The rule lists all modules of gen.py, except scripts of their own and those with other
        rules."""
        rule = support.read(self.folder, "cmake", "StintGen.cmake").split("DEPENDS")[1]
        listed = re.findall(r"\$\{source\}/(\w+\.py)", rule)
        there = [name for name in os.listdir(support.GEN) if name.endswith(".py")]
        others = ["amalgamate.py", "completion.py", "documents.py", "header.py",
                  "html.py", "link_names.py", "manual.py", "names.py"]
        self.assertEqual(sorted(listed + others), sorted(there))

    def test_no_python(self):
        """One line that says what to do."""
        code, said = self.run_cmake("-S", self.folder, "-B", self.build,
                                    "-DPython3_EXECUTABLE=" + os.path.join(self.folder, "none"))
        self.assertNotEqual(code, 0)
        self.assertIn("stint: building needs Python 3.8 or later", said)


if __name__ == "__main__":
    unittest.main()
