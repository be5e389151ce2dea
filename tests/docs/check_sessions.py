#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documents, with the library and the tool as they are installed.

    check_sessions.py --build BUILD --cc CC --cxx CXX [--config C] [--cmake CMAKE] [PAGE...]
    check_sessions.py ... --update     writes what the commands print into the documents

A comment on the line before a block says what it is:

    <!-- save: path -->              the block is this file, in the page's own folder
    <!-- shell -->                   commands, run there by sh -e, in the order of the page
    <!-- shell: in the source -->    the same, in a copy of the source with a built library
    <!-- shell: with git -->         the same as `shell`; if there is no git, the page ends here
<!-- settings: ./app --> each line is an assignment: ./app runs with it and has nothing to
                                     object
    <!-- cmake -->                   the end of a CMakeLists.txt that is configured; the targets and
                                     packages that it uses and does not make come before it
    <!-- cmake: with clang -->       the same, if there is a clang
    <!-- cmake: x.cmake -->          the same, in a folder that has this file, empty
    <!-- parsed: why -->             commands that are not run here; sh reads them
    <!-- prints 2-5 -->              what the commands before it print: lines 2 to 5 of it
    <!-- prepare: command -->        without a block: a command that the next blocks need

$HOME/stint is the installed stint. The folder of a page has an `app.c`, the sample `quickstart`,
until the page saves its own. Every block must have such a comment, or one of check_docs.py; those
of the language `text` are not checked, those of `python` are run by tests/python, those of `sql` by
tests/viewer. Output is compared as check_docs.py does; verdicts of `stint diff` are masked, because
they depend on the load of the machine.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    yaml = None  # not of the standard library: the syntax is then not checked

import check_docs
from check_docs import ROOT, check

TIMEOUT = 240  # seconds, of one block
CMAKE_TARGETS = {"app": "app.c", "program": "main.c parse.c"}  # those that pages add to


class Session:
    """One page: its folder, and what its last commands printed."""

    def __init__(self, page, scratch, env):
        self.page, self.env, self.said = page, env, None
        parts = page.relative_to(ROOT).with_suffix("").parts
        self.folder = scratch / "-".join(parts)
        self.folder.mkdir()
        shutil.copyfile(ROOT / "samples" / "quickstart.c", self.folder / "app.c")
        self.source = scratch / "source"
        self.projects = 0

    def save(self, block):
        path = self.folder / block.argument
        check(self.folder in path.resolve().parents, "%s: %s: outside" % (block.where, path))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")
        if block.language == "yaml" and yaml:
            try:
                yaml.safe_load(block.text)
            except yaml.YAMLError as error:
                check(False, "%s: %s" % (block.where, error))

    def has(self, program):
        return shutil.which(program, path=self.env["PATH"])

    def shell(self, block):
        argument = block.argument or ""
        check(re.match(r"(in the source|with [\w+-]+)?$", argument), "%s: unknown: %s" %
              (block.where, argument))
        if argument.startswith("with ") and not self.has(argument[5:]):
            print("%s: not run: there is no %s" % (block.where, argument[5:]))
            return False
        folder = self.source if argument == "in the source" else self.folder
        done = subprocess.run(["sh", "-ec", block.text], cwd=folder, env=self.env, timeout=TIMEOUT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        self.said = done.stdout
        check(done.returncode == 0,
              "%s: exit status %d\n%s" % (block.where, done.returncode, done.stdout))
        return done.returncode == 0

    def settings(self, block):
        for line in filter(None, (line.split("#")[0].strip() for line in block.text.split("\n"))):
            done = subprocess.run(["sh", "-ec", line + " " + block.argument], cwd=self.folder, env=self.env,
                                  timeout=TIMEOUT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, universal_newlines=True, check=False)
            refused = [said for said in done.stderr.split("\n") if "expected" in said or "unknown" in said]
            check(done.returncode == 0 and not refused, "%s: %s: exit status %d\n%s" % (
                block.where, line, done.returncode, done.stderr))

    def configure(self, block, cmake):
        """The targets and packages that the block uses and does not make come before it."""
        argument = block.argument or ""
        if argument.startswith("with ") and not self.has(argument[5:]):
            print("%s: not run: there is no %s" % (block.where, argument[5:]))
            return
        self.projects += 1
        folder = self.folder / ("project-%d" % self.projects)
        folder.mkdir()
        for name in ["main.c", "parse.c", "step.cpp"] + ([] if " " in argument else argument.split()):
            (folder / name).write_text("int main(void) { return 0; }\n" if name == "main.c" else "", "utf-8")
        shutil.copyfile(self.folder / "app.c", folder / "app.c")
        head = ["cmake_minimum_required(VERSION 3.21)", "project(page C CXX)"]
        if "FetchContent" in block.text and "include(FetchContent)" not in block.text:
            head += ["include(FetchContent)", "FetchContent_Declare(stint SOURCE_DIR ${source})"]
        if "FetchContent" not in block.text and not re.search(r"find_\w+\(stint", block.text):
            head.append("find_package(stint CONFIG REQUIRED)")
        for name, sources in CMAKE_TARGETS.items():
            if re.search(r"\(%s\b" % name, block.text) and "add_executable(%s " % name not in block.text:
                head.append("add_executable(%s %s)" % (name, sources))
        text = "\n".join(head) + "\n" + block.text
        (folder / "CMakeLists.txt").write_text(text.replace("${source}", str(self.source)), "utf-8")
        done = subprocess.run([cmake, "-S", ".", "-B", "build", "-DWITH_TIMER=ON",
                               "-DFETCHCONTENT_SOURCE_DIR_STINT=%s" % self.source], cwd=folder, env=self.env,
                              timeout=TIMEOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        check(done.returncode == 0, "%s: exit status %d\n%s" % (block.where, done.returncode, done.stdout))

    def parse(self, block):
        done = subprocess.run(["sh", "-n"], input=block.text, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        check(done.returncode == 0 and block.argument, "%s: %s" % (block.where, done.stdout))

    def prints(self, block, updates):
        first, last = block.lines
        said = "".join(l + "\n" for l in (self.said or "").splitlines()[first - 1:last or None])
        if updates is not None:
            updates.append((block, said))
        else:
            check(masked(said) == masked(block.text), "%s: printed is\n%s" % (block.where, said))


def masked(text):
    text = re.sub(r"(?m)^(\S.*?)  +(SLOWER|FASTER|SAME|UNSURE)\b.*$", r"\1 VERDICT", text)
    text = re.sub(r"(?m)^(name +verdict .* self)  +note$", r"\1", text)  # of an UNSURE row
    text = re.sub(r"(?m)^(machine:|stint cost).*\n(    .*\n)*", "", text)
    text = re.sub(r"(?m)^(total: |started ).*$", r"\1", text)
    lines = (line for line in check_docs.masked(text) if line)
    return [re.sub(r" #(?= |$)|(?<= )-(?= |$)", "", line) for line in lines]


def environment(scratch, options):
    """A user's: the installed prefix in all paths, and `cc` and `c++` are the build's compilers."""
    prefix, programs = scratch / "prefix", scratch / "programs"
    programs.mkdir()
    for name, command in (("cc", options.cc), ("c++", options.cxx)):
        if command:
            script = programs / name
            script.write_text('#!/bin/sh\nexec %s "$@"\n' % shlex.quote(command), "utf-8")
            script.chmod(0o755)
    make = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR")
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("STINT_", "GIT_", "GITHUB_")) and k not in make}
    env["PATH"] = "%s:%s:%s" % (programs, prefix / "bin", env["PATH"])
    env["CC"], env["CXX"], env["LC_ALL"] = "cc", "c++", "C"
    env["STINT_WAITS"] = "0"  # marks of scopes that wait may depend on the load
    env["CMAKE_PREFIX_PATH"] = str(prefix)
    (scratch / "home").mkdir()
    (scratch / "home" / "stint").symlink_to(prefix)
    env["HOME"] = str(scratch / "home")
    libraries = {str(path.parent) for path in prefix.rglob("libstint.*")}
    check(len(libraries) == 1, "the installed library is in %s" % sorted(libraries))
    library = libraries.pop() if libraries else ""
    env["PKG_CONFIG_PATH"] = library + "/pkgconfig"
    env["LD_LIBRARY_PATH"] = library
    return env


def install(scratch, options):
    command = [options.cmake, "--install", options.build, "--prefix", str(scratch / "prefix")]
    command += ["--config", options.config] if options.config else []
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, check=False)
    check(done.returncode == 0, "%s\n%s" % (" ".join(command), done.stdout))


def link_source(scratch, options):
    """The source's files, and the build's library at the place that README names."""
    source = scratch / "source"
    (source / "build" / "demo").mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name not in ("build", ".git"):
            (source / path.name).symlink_to(path)
    (source / "build" / "demo" / "runtime").symlink_to(pathlib.Path(options.build).resolve() / "runtime")


def run_page(page, blocks, scratch, env, cmake, updates):
    session = Session(page, scratch, env)
    for block in blocks:
        if block.kind == "save":
            session.save(block)
        elif block.kind in ("shell", "prepare"):
            if not session.shell(block):
                return
        elif block.kind == "settings":
            session.settings(block)
        elif block.kind == "cmake":
            session.configure(block, cmake)
        elif block.kind == "parsed":
            session.parse(block)
        elif block.kind == "prints":
            session.prints(block, updates)


def check_marks(blocks):
    for block in blocks:
        check(block.kind or block.language in ("text", "python", "sql"),
              "%s: a block without a comment before it that says what it is" % block.where)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--config", default="")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="*", help="for example tutorial; default: all")
    options = parser.parse_args()
    for tool in ("pkg-config", "make"):
        if not shutil.which(tool):
            print("there is no", tool)
            sys.exit(77)
    updates = [] if options.update else None
    count = 0
    with tempfile.TemporaryDirectory(prefix="stint-sessions-") as name:
        scratch = pathlib.Path(name)
        install(scratch, options)
        env = environment(scratch, options)
        link_source(scratch, options)
        for page in check_docs.documents():
            blocks = check_docs.blocks(page)
            check_marks(blocks)
            if page.name != "CHANGELOG.md" and (not options.pages or page.stem in options.pages):
                count += sum(block.kind == "shell" for block in blocks)
                run_page(page, blocks, scratch, env, options.cmake, updates)
    check(count > 0, "no commands found: is the pattern right?")
    for block, said in reversed(updates or []):  # an update moves what is below
        check_docs.update(block, said)
    for failure in check_docs.failures:
        print("FAILED:", failure)
    sys.exit(bool(check_docs.failures))


if __name__ == "__main__":
    main()
