#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the words that shells complete after `stint`: each shell is asked, by its own means.

    completion_test.py FOLDER CASE

FOLDER holds the generated files; a case is skipped without its shell.
"""
import pathlib
import re
import shutil
import sys

from cases import ALL_FORMATS as FORMATS, ROOT, SKIPPED, main, need, run

FOLDER = pathlib.Path(sys.argv[1])
TABLE = (ROOT / "gen" / "options.ini").read_text()
COMMANDS = [name for name in re.findall(r"(?m)^\[(\w+)\]", TABLE) if name != "stint"]


def options_of(command):
    """The options of a command, read from the table without the generator."""
    return ["--" + name for name in re.findall(r"(?m)^\[%s --([\w-]+)\]" % command, TABLE)] + ["--help"]


BASH = r"""
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_stint stint "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def bash(*words, cwd=None):
    done = run("bash", "--norc", "-c", BASH, "bash", str(FOLDER / "stint.bash"), "stint", *words,
               cwd=cwd)
    need(done.returncode == 0 and not done.stderr, words, done)
    return done.stdout.split("\n")[:-1] if done.stdout != "\n" else []


def case_bash(folder):
    if not shutil.which("bash"):
        print("skipped: no bash")
        return SKIPPED
    (folder / "my run.stint").touch()
    need(set(bash("")) == {*COMMANDS, "--help", "--version"}, bash(""))
    need(bash("rep") == ["report"] and bash("zzz") == [], bash("rep"))
    for command in COMMANDS:
        need(sorted(bash(command, "-")) == sorted(options_of(command)), command, bash(command, "-"))
    need(bash("export", "--to", "") == FORMATS, bash("export", "--to", ""))
    need(bash("export", "-t", "prom") == ["prometheus"])
    need(bash("export", "--to", "=", "c") == [name for name in FORMATS if name[0] == "c"], "at the =")
    need(bash("export", "--to", "=") == FORMATS, "at the =")
    need("table" in bash("report", "--view", "") and bash("report", "--top", "") == [])
    for words in (["report", "m"], ["export", "--to", "csv", "m"], ["merge", "-o", "m"],
                  ["diff", "--raw", "m"]):
        need(bash(*words, cwd=folder) == ["my run.stint"], words, bash(*words, cwd=folder))
    need(set(bash("help", "")) == {*COMMANDS, "env", "views"}, bash("help", ""))
    for words in (["run"], ["run", "--"], ["run", "--report", "tree"], ["run", "--keep"],
                  ["run", "--report", "=", "tree"]):
        need("env" in bash(*words, "en"), words, bash(*words, "en"))
    need(bash("run", "--report", "t") == ["table", "tree", "threads"], bash("run", "--report", "t"))
    need("--report" in bash("run", "--re") and bash("run", "cat", "--re", cwd=folder) == [])
    need(bash("run", "cat", "m", cwd=folder) == ["my run.stint"], "arguments of the program")
    return 0


def fish(line, cwd=None):
    done = run("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]",
               str(FOLDER / "stint.fish"), line, cwd=cwd)
    need(done.returncode == 0 and not done.stderr, line, done)
    return [entry.split("\t")[0] for entry in done.stdout.split("\n")[:-1]]


def case_fish(folder):
    if not shutil.which("fish"):
        print("skipped: no fish")
        return SKIPPED
    (folder / "mine.stint").touch()
    need(set(COMMANDS) <= set(fish("stint ")), fish("stint "))
    need(fish("stint rep") == ["report"], fish("stint rep"))
    for command in COMMANDS:
        have = set(fish("stint %s --" % command))
        need(set(options_of(command)) <= have, command, have)
    need(set(fish("stint export --to ")) == set(FORMATS), fish("stint export --to "))
    need(fish("stint report m", cwd=folder) == ["mine.stint"], fish("stint report m", cwd=folder))
    need({"env", "views"} <= set(fish("stint help ")), fish("stint help "))
    need("env" in fish("stint run en"), fish("stint run en"))
    return 0


def case_zsh(folder):
    """Its syntax, and that the function is what the file defines."""
    del folder
    if not shutil.which("zsh"):
        print("skipped: no zsh")
        return SKIPPED
    file = str(FOLDER / "_stint")
    done = run("zsh", "-n", file)
    need(done.returncode == 0 and not done.stderr, done)
    # _arguments gets the specifications in `line`; without a terminal they are what can be asked.
    script = """
compdef() { }
_arguments() { case $* in (*'->command'*) state=$asked ;; (*) print -rl -- "$@" ;; esac }
_describe() { print -rl -- $commands }
. $1
asked=$2 words=($3) CURRENT=2
_stint
"""
    done = run("zsh", "-f", "-c", script, "zsh", file, "command", "")
    need(done.returncode == 0 and not done.stderr and
         [line.split(":")[0] for line in done.stdout.split("\n")[:-1]] == COMMANDS, done)
    for command in COMMANDS:
        done = run("zsh", "-f", "-c", script, "zsh", file, "argument", command)
        have = set(re.findall(r"(?m)^(?:\([^)]*\))?(--[\w-]+)=?\[", done.stdout))
        need(done.returncode == 0 and not done.stderr and have == set(options_of(command)),
             command, done)
    done = run("zsh", "-f", "-c", script, "zsh", file, "argument", "export")
    need(":(%s)\n" % " ".join(FORMATS) in done.stdout, done.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[2]))
