#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stint ab as its users run it: on programs whose clock only they advance.

    ab_test.py TOOL FAKE_PROGRAM LAYOUT_PROGRAM CASE

A run of FAKE_PROGRAM (diff_program.c) always takes the same time, so that each comparison ends as
soon as an interval exists, on any machine.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree

from cases import SKIPPED, environment, main, need, run

TOOL, FAKE, LAYOUT = sys.argv[1:4]
SAME = [FAKE, "-1", "10"]
SLOW = [FAKE, "7", "10"]


def ab(folder, *arguments, rc=0, shell="", **more):
    """shell: commands of the shell that executes the tool."""
    return run("sh", "-c", shell + 'exec "$@"', "sh", TOOL, "ab", *arguments, rc=rc, cwd=folder, **more)


def script(folder, name, text):
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def case_same(folder):
    """A program against itself: every scope is decided, none is slower; the files are kept."""
    done = ab(folder, "--seed", 5, "--output", "runs", "--", *SAME, "--", *SAME)
    need("pairs in random order, seed 5; ASLR: " in done.stdout, done.stdout)
    need(re.search(r"\nthese runs can show a change of [01].\d % or more in half of the rows\n", done.stdout) and
         "did not alternate" not in done.stdout, done.stdout)
    need("a false verdict in at most 5.0 % of such comparisons" in done.stdout, done.stdout)
    need(re.search(r"(?m)^total: 0 slower, 0 faster, 2\d same, 0 unsure, 0 new, 0 gone", done.stdout),
         done.stdout)
    need("not judged" in done.stdout, "copy is below 1 %", done.stdout)
    pairs = int(re.search(r"(?m)^(\d+) pairs", done.stdout).group(1))
    need(2 <= pairs <= 10, done.stdout)
    files = {"%s-%d.stint" % (side, i) for side in ("old", "new") for i in range(1, pairs + 1)}
    need({p.name for p in (folder / "runs").iterdir()} == files, "only run files are kept")
    need("undecided 20 of 20: round, " in done.stderr and "undecided 0 of 20" in done.stderr, done.stderr)


def case_slower(folder):
    """A tenth more in one scope: exit status 1, and no other scope has a verdict but SAME."""
    done = ab(folder, "--", *SAME, "--", *SLOW, rc=1)
    need(re.search(r"(?m)^scope 7 +SLOWER .*\+(9|10)\.\d %", done.stdout), done.stdout)
    need("total: 1 slower, 0 faster" in done.stdout, done.stdout)
    done = ab(folder, "--", *SLOW, "--", *SAME)
    need(re.search(r"(?m)^scope 7 +FASTER ", done.stdout), done.stdout)


def case_zero(folder):
    """A scope of 0 ns, and one that one side alone has, have their numbers; --fail-on."""
    def moved(us, side=SAME):
        return [*side, "1", "moved", us]
    only = ["--only", "moved"]
    done = ab(folder, *only, "--", *moved(0), "--", *moved(1000), rc=1)
    need(re.search(r"(?m)^moved +SLOWER +0 ns +(\d+\.\d+ \w+) +\+\1 ", done.stdout), done.stdout)
    done = ab(folder, *only, "--", *moved(1000), "--", *moved(0))
    need(re.search(r"(?m)^moved +FASTER .* 0 ns +-100\.0 % ", done.stdout), done.stdout)
    done = ab(folder, *only, "--", *SAME, "--", *moved(1000))
    need(re.search(r"(?m)^6 pairs", done.stdout) and
         re.search(r"(?m)^moved +NEW +- +(9\d\d\.\d us|1\.0\d\d ms) +- +- +0 -> 150$", done.stdout), done.stdout)
    need(re.search(r"wall SLOWER: .* -> .* \(\+\d+\.\d % \+/- ", done.stdout), done.stdout)
    ab(folder, *only, "-x", "new", "--", *SAME, "--", *moved(1000), rc=1)
    ab(folder, *only, "-x", "slower,gone", "--", *SAME, "--", *moved(1000))
    ab(folder, *only, "-x", "gone", "--", *moved(1000), "--", *SAME, rc=1)
    ab(folder, "--only", "scope 7", "-x", "slower,wall", "--", *SAME, "--", *moved(1000), rc=1)
    ab(folder, "-x", "wall", "--", *SAME, "--", *SAME)
    ab(folder, *only, "--pairs", 3, "--", *SAME, "--", *moved(1000), rc=3)


def case_only(folder):
    """--only chooses, whatever the share of the time; --mde is what SAME refers to."""
    done = ab(folder, "--only", "copy,scope 7", "--mde", "20%", "--", *SAME, "--", *SLOW)
    need(re.search(r"(?m)^scope 7 +SAME ", done.stdout), done.stdout)
    need(re.search(r"(?m)^copy +SAME ", done.stdout), done.stdout)
    need("round" not in done.stdout, done.stdout)
    done = ab(folder, "--only", "nothing", "--", *SAME, "--", *SAME, rc=2)
    need("no scope that --only names has a time" in done.stderr, done.stderr)


def case_budget(folder):
    """A budget ends an open comparison: exit status 3, and the reason."""
    done = ab(folder, "--pairs", 2, "--", *SAME, "--", *SAME, rc=3)
    need("undecided: 20 rows, because all pairs of the budget were run (--pairs)" in done.stdout, done.stdout)
    done = ab(folder, "--time", "0.000001s", "--", *SAME, "--", *SAME, rc=3)
    need("1 pair in random order" in done.stdout, done.stdout)
    need("because the time of the budget is spent (--time)" in done.stdout, done.stdout)
    done = ab(folder, "--warmup", 2, "--output", "runs", "--", *SAME, "--", *SAME)
    need("; 2 warm-up pairs left out; " in done.stdout, done.stdout)
    need((folder / "runs" / "new-warmup-2.stint").exists(), "the warm-ups are kept, too")


def case_formats(folder):
    """The formats of stint diff."""
    shown = json.loads(ab(folder, "--format", "json", "--seed", 9, "--", *SAME, "--", *SLOW, rc=1).stdout)
    need(shown["schema"] == "stint.diff/1" and shown["ab"]["seed"] == 9, shown)
    need(shown["ab"]["undecided"] == 0 and shown["ab"]["alpha"] == 0.05, shown)
    need(shown["rows"][0]["verdict"] == "SLOWER" and shown["rows"][0]["name"] == "scope 7", shown)
    text = ab(folder, "--format", "junit", "--", *SAME, "--", *SLOW, rc=1).stdout
    suite = xml.etree.ElementTree.fromstring(text)
    need(suite.get("name") == "stint ab" and suite.get("failures") == "1", text)
    text = ab(folder, "--format", "github", "--", *SAME, "--", *SLOW, rc=1).stdout
    need(text.startswith("::error title=stint ab of scope 7 SLOWER::"), text)
    need(ab(folder, "--format", "markdown", "--", *SAME, "--", *SAME).stdout.startswith("**stint ab**: A is "))
    need(ab(folder, "--format", "csv", "--", *SAME, "--", *SAME).stdout.startswith("name,set,gpu,verdict"))


def case_layout(folder):
    """The environment and the name of the working directory differ from pair to pair, and are the
    same for both sides; relative paths stay what they are; the order is that of the seed."""
    here = folder / "here"
    here.mkdir()
    (here / "input").write_text("")
    record = ('test -f input || exit 9\ntest "$(cd "$PWD" && pwd -P)" = "%s" || exit 8\n'
              'printf "%%s %%s %%s\\n" %s ${#PWD} ${#AB_PADDING} >>%s\nexec %s -1 10\n')
    def both(log):
        return [script(folder, name, record % (here.resolve(), name, folder / log, FAKE))
                for name in ("a", "b")]
    def pairs(log, seed):
        a, b = both(log)
        ab(here, "--seed", seed, "--", a, "--", b)
        lines = [line.split() for line in (folder / log).read_text().splitlines()]
        return list(zip(lines[::2], lines[1::2]))
    one = pairs("one", 1)
    need(len(one) >= 4, one)
    for first, second in one:
        need({first[0], second[0]} == {"a", "b"} and first[1:] == second[1:], one)
    need(len({first[1] for first, _ in one}) > 1 and len({first[2] for first, _ in one}) > 1, one)
    need([f[0] for f, _ in one] == [f[0] for f, _ in pairs("again", 1)], "the seed repeats the order")
    orders = {tuple(f[0] for f, _ in pairs("seed%d" % seed, seed)) for seed in range(2, 8)}
    need(len(orders) > 1, orders)
    need(not [p for p in here.iterdir() if p.is_symlink()], "no link is left")


def case_name_effect(folder):
    """Why the name varies in PWD only: the environment moves the stack of a program, the name of
    its directory does not. LAYOUT prints where its stack begins, without address randomisation."""
    def stack(here, **env):
        here.mkdir(exist_ok=True)
        done = subprocess.run([LAYOUT], env=env, cwd=str(here), stdout=subprocess.PIPE, check=False)
        return done.returncode, done.stdout
    short, long = folder / "d", folder / ("d" * 200)
    rc, one = stack(short)
    if rc == SKIPPED:
        print("skipped: personality() is not permitted")
        return SKIPPED
    need(rc == 0 and one and stack(short) == (rc, one), "the layout repeats", one)
    need(stack(long) == (rc, one), "the directory moves the stack", one, stack(long))
    need(stack(short, PWD=str(long))[1] != stack(short, PWD=str(short))[1], "PWD does not", one)
    return 0


def case_faults(folder):
    """Each fault of a program or of the command line is one line, and exit status 2."""
    def fails(line, *arguments):
        done = ab(folder, *arguments, rc=2)
        need(re.search(line, done.stderr), line, done.stderr)
        need(not done.stdout, done.stdout)
    crash = script(folder, "crash", "echo why; kill -SEGV $$\n")
    fails(r"stint: ab: new, pair 1: .*crash: Segmentation fault; its output is in .*new-1\.txt",
          "--output", "crashed", "--", *SAME, "--", crash)
    need("why" in (folder / "crashed" / "new-1.txt").read_text())
    fails(r"stint: ab: (old|new), pair 1: false: exit status 1; its output is not kept: it is empty",
          "--", "false", "--", "false")
    fails(r"stint: ab: (old|new), pair 1: sleep: still running after 0\.2 s \(--limit\), killed",
          "--limit", "0.2", "--", "sleep", 1000, "--", "sleep", 1000)
    fails(r"stint: ab: (old|new), pair 1: true: wrote no statistics: compile with -DWITH_TIMER",
          "--", "true", "--", "true")
    small = script(folder, "small", "ulimit -f 1; exec %s -1 10\n" % FAKE)
    fails(r"stint: ab: (old|new), pair 1: .*small: wrote no statistics: STINT_FILE: cannot write .*/runs/.*: File "
          r"too large; this run has no file; its output is in ", "-o", "runs", "--", small, "--", small)
    fails(r"stint: ab: cannot run ./nothing: No such file", "--", "./nothing", "--", *SAME)
    fails(r"stint: ab: crashed exists; --output needs a new folder", "--output", "crashed", "--",
          *SAME, "--", *SAME)
    for wrong in (SAME, ["--", *SAME], ["--", *SAME, "--"], ["--", *SAME, "--", "a", "--", "b"]):
        fails(r"stint: ab: two commands are needed: ", *wrong)
    for wrong in (["--mde", "0"], ["--time", "5x"], ["--pairs", "0"], ["--limit", "-1"]):
        fails(r"stint: ab: .*expected|stint: .*" + wrong[0], *wrong, "--", *SAME, "--", *SAME)


def case_one_file(folder):
    """A command that sets STINT_FILE itself is named before the comparison begins, with the
    file."""
    (folder / "elsewhere").mkdir()
    here, elsewhere = folder / "both.stint", folder / "elsewhere" / "both.stint"
    rule = ": STINT_FILE is set by ab, and a command must not change it\n"

    def fails(line, a, b, runs):
        count = folder / "count"
        count.write_text("")
        counted = [["sh", "-c", "echo >>%s; exec \"$@\"" % count, "sh", *side] for side in (a, b)]
        done = ab(folder, "--", *counted[0], "--", *counted[1], rc=2)
        need(done.stderr == line + rule and not done.stdout, line, done.stderr)
        need(len(count.read_text()) == runs, "no more than the first pair", count.read_text())

    for file, name in ((here, "both.stint"), (here, here), (elsewhere, "elsewhere/both.stint")):
        same = ["env", "STINT_FILE=%s" % name, *SAME]
        fails("stint: ab: both sides write the run file %s" % file, same, same, 2)
    need(not list(folder.glob("stint-ab-*")), "an empty folder is left")
    hidden = script(folder, "hidden", "STINT_FILE=both.stint exec %s -1 10\n" % FAKE)
    fails("stint: ab: both sides write the run file %s" % here, [hidden], [hidden], 2)
    fails("stint: ab: new writes the run file %s" % here, SAME, [hidden], 2)
    shell = ["sh", "-c", "STINT_FILE='elsewhere/both.stint' exec %s -1 10" % FAKE]
    fails("stint: ab: both sides write the run file %s" % elsewhere, shell, shell, 2)
    one = ["env", "STINT_FILE=elsewhere/one.stint", *SAME]
    done = ab(folder, "--", *one, "--", *shell, rc=2)
    need("ab: old writes the run file %s/one.stint" % elsewhere.parent in done.stderr and
         "ab: new writes the run file %s" % elsewhere in done.stderr, done.stderr)


def case_environment(folder):
    """A variable that has no effect is named in one line; the programs have the others."""
    shown = script(folder, "shown", 'env >env.txt; exec "$@"\n')
    given = {"STINT_FILE": "x.stint", "STINT_OUTPUT": "out.txt", "STINT_UNIT": "us"}
    options = ("--", shown, *SAME, "--", *SAME)
    done = ab(folder, *options, **given, STINT_LABEL="a label")
    lines = [line for line in done.stderr.splitlines() if "has no effect" in line]
    need([line.split(" has ")[0] for line in lines] ==
         ["stint: ab: %s=%s" % pair for pair in given.items()], done.stderr)
    text = (folder / "env.txt").read_text()
    need("STINT_LABEL=a label\n" in text and "STINT_OUTPUT=out.txt\n" in text, text)
    need(not (folder / "x.stint").exists() and not (folder / "out.txt").exists(), list(folder.iterdir()))
    done = ab(folder, *options, STINT_OUTPUT="own.txt", STINT_REPORT="table")
    need("has no effect" not in done.stderr and "stint table" in (folder / "own.txt").read_text(), done.stderr)


def is_running(pid):
    try:
        return pathlib.Path("/proc/%s/stat" % pid).read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


# Leaves four processes: in the background, one that SIGTERM does not end, one in a session of its
# own, and there the child of one that has ended. Their numbers are in a new file left.*.
LEAVE = """pids=$(mktemp left.XXXXXX)
command -v setsid >/dev/null || setsid() { "$@"; }
sleep 1000 & echo $! >>$pids
sh -c 'trap "" TERM; echo $$ >>'$pids'; exec sleep 1000' &
setsid sh -c 'trap "" TERM; echo $$ >>'$pids'; exec sleep 1000' &
setsid sh -c 'sleep 1000 & echo $! >>'$pids &
until test $(wc -l <$pids) = 4; do sleep 0.01; done
"""


def need_ended(folder, runs):
    pids = [pid for file in folder.glob("left.*") for pid in file.read_text().split()]
    need(len(pids) == 4 * runs and not [pid for pid in pids if is_running(pid)], "some run on", pids)


def case_left(folder):
    """Processes that a program leaves are ended with it, and said once for a side; a job of the
    shell that the tool replaced is left alone."""
    leaves = script(folder, "leaves", LEAVE + "exec %s -1 10\n" % FAKE)
    done = ab(folder, "--pairs", 2, "--", *SAME, "--", leaves, rc=3)
    lines = re.findall(r"stint: ab: new, pair 1: processes that ran on after the end of .*leaves were killed: "
                       r"\w+, \.\.\. \(4\)\n", done.stderr)
    need(len(lines) == 1 and done.stderr.count(" ran on ") == 1, done.stderr)
    need_ended(folder, 2)
    ab(folder, "--", *SAME, "--", *SAME, shell="sleep 1000 >/dev/null 2>&1 & echo $! >job;")
    job = int((folder / "job").read_text())
    need(is_running(job), "the job was killed")
    os.kill(job, signal.SIGKILL)


def case_output(folder):
    """The output of a program that fails: its beginning and its end, and how much is between."""
    prints = script(folder, "prints", "echo first; head -c 100000000 /dev/zero; echo last; exit 3\n")
    ab(folder, "--output", "runs", "--", prints, "--", prints, rc=2)
    (file,) = (folder / "runs").glob("*.txt")
    text = file.read_bytes()
    middle = b"\n... %d bytes left out ...\n" % (100000011 - 131072)
    need(text.startswith(b"first\n") and text.endswith(b"\0last\n") and text[65536:].startswith(middle) and
         len(text) == 131072 + len(middle), len(text))
    done = ab(folder, "--", prints, "--", prints, rc=2, shell="ulimit -f 8;")
    need(done.stderr.count("\n") == 1 and "status 3; its output is not kept: File too large" in done.stderr, done)


def case_interrupt(folder):
    """A signal to the tool ends what runs, and says where the runs are; not one that was ignored
    when the tool was started, as by nohup."""
    stops = script(folder, "stops", LEAVE + "kill -TERM $PPID; exec sleep 1000\n")
    done = ab(folder, "--", stops, "--", stops, rc=128 + signal.SIGTERM)
    need("stint: ab: Terminated after 0 pairs; their runs are in " in done.stderr and
         " ran on " not in done.stderr, done.stderr)
    need_ended(folder, 1)
    for number in signal.SIGALRM, signal.SIGUSR1, signal.SIGHUP: # an alarm may be inherited
        hangs_up = script(folder, "hangs_up", "kill -%d $PPID; exec %s -1 10\n" % (number, FAKE))
        ab(folder, "--", hangs_up, "--", *SAME, rc=128 + number)
    ab(folder, "--", hangs_up, "--", *SAME, shell="trap '' HUP;")


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
