#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tool as its users run it.

    tool_test.py TOOL PROGRAM FAKE_PROGRAM HOSTILE_PROGRAM CASE

PROGRAM is tool_program.c on the real clock, FAKE_PROGRAM on one that only it advances;
HOSTILE_PROGRAM is hostile_program.c. UPDATE=1 in the environment writes the golden files anew.
"""
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

from cases import (FORMATS, LIMIT, ROOT, SKIPPED, environment, field, header_fields, is_sanitized,
                   main, need, peak_kb, run, until, used_bytes, with_field)

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "gen"))
import options as option_table  # noqa: E402

TOOL, PROGRAM, FAKE, HOSTILE = sys.argv[1:5]
HEADER = header_fields()


def tool(*arguments, **options):
    return run(TOOL, *arguments, **options)


def one_line(done, *words):
    """One line on stderr with all the words, and nothing else there."""
    need(done.err.count("\n") == 1 and done.err.startswith("stint: "), "expected one line", done)
    for word in words:
        need(word in done.err, "expected '%s' in it" % word, done)


def record(path, *story, program=None, rc=0, **env):
    return run(program or PROGRAM, *story, rc=rc, STINT_FILE=path, **env)


def start(path, *story, **env):
    """A program that said 'ready'."""
    process = subprocess.Popen([PROGRAM, *map(str, story)], env=environment(STINT_FILE=path, **env),
                               stdout=subprocess.PIPE)
    need(process.stdout.readline() == b"ready\n", "not ready")
    return process


def stop(process):
    process.kill()
    process.wait()
    process.stdout.close()


def golden(name, text):
    path = ROOT / "tests" / "tool" / "golden" / name
    if os.environ.get("UPDATE"):
        path.write_text(text)
    need(path.exists() and path.read_text() == text, "%s differs (UPDATE=1 writes it)" % path, text)


def table(text):
    """The rows of a report: name -> the other cells, in order."""
    lines = text.split("\n")
    head = next(i for i, line in enumerate(lines) if line.startswith("name "))
    rows = {}
    for line in lines[head + 1:]:
        if not line.strip() or line.startswith("("):
            break
        cells = re.split(r"  +", line.strip())
        rows[cells[0]] = cells[1:]
    return rows


# ---- Usage.

COMMANDS = ("report", "top", "run", "export", "merge", "diff", "ab", "info", "instrument", "annotate",
            "help", "version")

def case_help(folder):
    del folder
    text = tool("--help").out
    need(text == tool("-h").out == tool("help").out, "the same text")
    golden("tool_help.txt", text + "\n==== export\n" + tool("export", "--help").out)
    commands = option_table.read(str(ROOT / "gen" / "options.ini"))
    need(tuple(command.name for command in commands[1:]) == COMMANDS, "the commands of options.ini")
    for command in commands[1:]:
        done = tool(command.name, "--help")
        need(done.out == tool("help", command.name).out, command.name)
        need(done.out == option_table.help_text(commands, command), "not the text of options.ini", done)
        text += done.out
    version = tool("--version").out
    need(re.fullmatch(r"stint \d+\.\d+\.\d+, run files of format \d+\n", version))
    need(tool("version").out == version)
    for line in text.split("\n"):
        need(len(line) <= 80, "too wide", line)


def case_help_env(folder):
    """`stint help env` lists every environment variable of env.ini."""
    del folder
    text = tool("help", "env").out
    names = re.findall(r"(?m)^\[(STINT_\w+)\]", (ROOT / "gen" / "env.ini").read_text())
    need(len(names) > 15 and names == re.findall(r"(?m)^  (STINT_\w+)=", text), text)
    need("  STINT_UNIT=ms|us|ns|auto\n" in text and "(default: 1G)" in text, text)


def case_help_views(folder):
    """`stint help views` lists the views of views.ini and the keys that they can be sorted by."""
    del folder
    text = tool("help", "views").out
    names = re.findall(r"(?m)^\[(\w+)\]", (ROOT / "gen" / "views.ini").read_text())
    need(len(names) > 4 and names == re.findall(r"(?m)^  (\w+)  +\S", text), text)
    need("(default)" in text and "sort=KEY" in text and "calls, total, self" in text, text)


def case_did_you_mean(folder):
    file = folder / "r.stint"
    record(file, "end")
    for arguments, word in [(["reprot", file], "report"), (["repor", file], "report"),
                            (["dif"], "diff"), (["expotr"], "export"), (["vresion"], "version"),
                            (["help", "view"], "views"), (["help", "mrege"], "merge"),
                            (["help", "evn"], "env"),
                            (["report", "--fliter", "x", file], "--filter"),
                            (["report", "--clor=never", file], "--color"),
                            (["run", "--reprot", "tree", "true"], "--report"),
                            (["--verson"], "--version")]:
        one_line(tool(*arguments, rc=2), ", did you mean %s? (" % word)
    for arguments, word in [(["report", "--sort", "slef", file], "self"),
                            (["report", "-s", "memory_pea", file], "memory_peak"),
                            (["report", "--view", "tabel", file], "table"),
                            (["report", "--view", "table,sort=clals", file], "sort=calls"),
                            (["report", "--view", "table,top=3,thraeds", file], "threads"),
                            (["report", "--color", "nver", file], "never"),
                            (["run", "--report", "non", "true"], "none"),
                            (["export", "--to", "perfeto", file], "perfetto"),
                            (["export", "--to", "csv", "--table", "kernls", file], "kernels"),
                            (["diff", "--metric", "totl", file, file], "total"),
                            (["top", "--sort", "cals", file], "calls"),
                            (["annotate", "--sort", "hit", file], "hits")]:
        one_line(tool(*arguments, rc=2), ": expected ", ", did you mean %s?\n" % word)
    for name, use in (("speedscope", "chrome or folded, which speedscope opens"),
                      ("benchmark", "json, of which jq makes the list"),
                      ("prometheus-native", "otlp, which Prometheus 3 takes"),
                      ("otlp-proto", "otlp, the same in JSON")):
        one_line(tool("export", "--to", name, file, rc=2), "--to %s: expected " % name,
                 "; instead use %s\n" % use)
    one_line(tool("trend", file, rc=2), "unknown command trend; instead use stint export DIR --to "
             "history and Apache Otava")
    for arguments in (["report", "--sort", "zzzz", file], ["report", "--view", "table,top=x", file],
                      ["report", "--view", "table,", file], ["export", "--to", "x", file],
                      ["report", "--top", "x", file], ["report", "--view", "table,sort=", file]):
        need("did you mean" not in tool(*arguments, rc=2).err, arguments)
    for arguments in (["x"], ["nonsense"], ["report", "--zzzz", file], ["report", "-x", file], [""],
                      ["e" * 5000], ["help", "e" * 33]):
        need("did you mean" not in tool(*arguments, rc=2).err, arguments)


def case_usage(folder):
    file = folder / "r.stint"
    record(file, "end")
    for arguments, words in [
            ([], ["command is missing"]), (["nonsense"], ["nonsense"]), (["--nonsense"], ["unknown option --nonse"]),
            (["-x"], ["unknown option -x"]), (["help", "nonsense"], ["unknown command nonsense"]),
            (["help", "a", "b"], ["one command"]), (["help", "--x"], ["unknown option --x"]),
            (["report", "-vtable", "-xy", file], ["unknown option -x "]),
            (["report", "--s", "x", file], ["ambiguous option --s"]),
            (["report", "-n"], ["missing value: --top N"]),
            (["top", "--once=1", file], ["takes no value: --once"]),
            (["report"], ["run file is missing"]), (["report", "--nonsense", file], ["--nonsense"]),
            (["report", "--view", "x", file], ["--view x", "table|tree"]),
            (["report", "--view", "table,top=x", file], ["--view table,top=x"]),
            (["report", "--sort", "x", file], ["--sort x", "total"]),
            (["report", "--top", "0", file], ["--top 0"]),
            (["report", "--top", "-1", file], ["--top -1"]),
            (["report", "--top", "99999999999999999999", file], ["--top 9"]),
            (["report", "--unit", "s", file], ["--unit s", "auto"]),
            (["report", "--filter", "a,", file], ["--filter a,"]),
            (["report", "--set", "x", file], ["no set x", "GlobalStatInfo, other set"]),
            (["report", "--color", "x", file], ["--color x", "auto"]),
            (["report", file, "--sort"], ["missing value: --sort KEY"]),
            (["export", file], ["--to FORMAT is missing"]),
            (["export", "--to", "x", file], ["--to x", "chrome"]),
            (["export", "--to", "csv"], ["run file is missing"]),
            (["export", "--to", "csv", file, file], ["one run file"]),
            (["info"], ["run file is missing"]), (["info", "-x", file], ["-x"]),
            (["run"], ["command to run is missing"]),
            (["run", "--report", "x", "true"], ["--report x"]),
            (["run", "--nonsense", "true"], ["--nonsense"]),
            (["run", "--color", "x", "true"], ["--color x", "auto"]),
            (["export", "--nonsense", file], ["--nonsense"]),
            (["top", "--nonsense", file], ["--nonsense"]),
            (["top", "--color", "x", file], ["--color x", "auto"]),
            (["top"], ["is missing"]), (["top", file, file], ["one run"]),
            (["top", "--interval", "0", file], ["--interval 0"]),
            (["top", "--interval", "1x", file], ["--interval 1x"]),
            (["top", "4194999"], ["process 4194999"]), (["top", os.getpid()], ["no run file"])]:
        one_line(tool(*arguments, rc=2), *words)


# ---- Reports.

def case_report(folder):
    file = folder / "r.stint"
    record(file, "end")
    text = tool("report", file).out
    rows = table(text)
    need(rows["step"][0] == "5" and rows["matmul"][0] == "260", text)
    need(rows["worker @other set"][0] == "10", text)
    need(re.search(r"^started 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d \+0000, ended, pid \d+$", text, re.M),
         text)
    need(re.search(r"^stint cost (about|[\d.]+ to) [\d.]+ % of this run: 281 calls at about .* in all"
                   r"(, 281 calls of code built without -O)?; most of them matmul", text, re.M), text)
    need("GPU" not in text, text)
    two = tool("report", file, file).out
    need(two == text + "\n" + text, "two files", two)
    # The wall time of steps contains scopes: none of it is their own.
    need(rows["stint_step"][2] == "-" and rows["load"][2] != "-", text)
    need(list(table(tool("report", "-s", "self", file).out))[-1] == "stint_step", text)
    for view in ("table", "tree", "legacy"):
        text = tool("report", "-v", view, "-f", "none*", file).out
        need(text.count("(no name matches the filter)\n") == 1, text)
        need("no name" not in tool("report", "-v", view, "-f", "l*", file).out, view)
    for arguments in (["top", "--once"], ["diff", file]):  # exit status 0, too
        text = tool(*arguments, "-f", "none*", file).out
        need("no name matches the filter" in text, arguments, text)


def case_corrected(folder):
    """The report is corrected by the cost that the run measured at its end. A run that was killed
    has measured none."""
    file = folder / "r.stint"
    record(file, "end")
    for view in ("table", "tree"):
        text = tool("report", "-v", view + ",corrected", file).out
        need(", corrected\n" in text and "\ncorrected: ~ is without stint's own cost, " in text, text)
        need(table(text)["load"][1].startswith("~"), text)
        need("~" not in tool("report", "-v", view, file).out, view)
    need("\ncorrected: ~ is " in tool("run", "-r", "table,corrected", "--", PROGRAM, "end").err, "run")
    merged = folder / "m.stint"
    record(folder / "s.stint", "end")
    tool("merge", file, folder / "s.stint", "-o", merged)
    record(file, "raise", int(signal.SIGKILL), rc=-9)
    for known in (merged, file):
        text = tool("report", "-v", "table,corrected", known).out
        need(text.count("\nnot corrected: what a call cost in this run is not known\n") == 1, text)
        need("~" not in text and "stint cost" not in text, text)


def case_a_hostile_cost(folder):
    """A cost that is not a sensible number is used as it is: the report shows the result."""
    file = folder / "r.stint"
    record(file, "end", program=FAKE)
    data = used_bytes(file)
    unit = field(data, HEADER["cost"])
    for value in (0xff, 0x7f):
        file.write_bytes(data[:unit * 64] + bytes([value]) * 104 + data[unit * 64 + 104:])
        text = tool("report", "-v", "tree,corrected", file).out
        need("~0 ns" in text and ", without NVTX" in text, text)
    for place in (0xffffffff, field(data, HEADER["used"]) // 64 + 1):
        file.write_bytes(with_field(data, HEADER["cost"], place))
        tool("report", "-v", "table,corrected", file)


def case_stdin(folder):
    """A run from a file or a pipe on standard input is that of the file."""
    file = folder / "r.stint"
    record(file, "end")
    for arguments in (["report"], ["report", "-v", "tree"], ["info"], ["export", "--to", "json"]):
        want = tool(*arguments, file).out.replace(str(file), "standard input")
        for script in ('exec "$@" <"$0"', 'cat "$0" | "$@"'):
            done = run("sh", "-c", script, file, TOOL, *arguments, "-")
            need(done.out == want, arguments, done)
    for data, word in [(b"", "empty"), (b"x" * 100000, "not a run file"),
                       (used_bytes(file)[:5000], "cut off")]:
        file.write_bytes(data)
        one_line(run("sh", "-c", 'cat "$0" | "$@"', file, TOOL, "report", "-", rc=2),
                 "stint: standard input: ", word)


def case_equal(folder):
    """A file says to the digit what its program said at its end."""
    for view in ("table", "tree", "legacy", "table,sort=calls,top=2", "tree,sort=self"):
        file, said = folder / "r.stint", folder / "said"
        record(file, "end", program=FAKE, STINT_REPORT=view, STINT_OUTPUT=said)
        there = said.read_text().split("\n")
        here = tool("report", "--view", view, file).out.split("\n")
        if view != "legacy":
            need(here[2].startswith("started "), *here)
            del here[2]
            for lines in (here, there): # what each knows alone: its cost and its memory
                del lines[next(i for i, line in enumerate(lines) if " calls at " in line
                               or line.startswith("281 calls")):]
        need(there == here, "\n".join(there), "---- but the file:", "\n".join(here))
    said.write_text("")
    record(file, "end", program=FAKE, STINT_REPORT="table,threads", STINT_OUTPUT=said)
    need(table(said.read_text()) == table(tool("report", "-v", "threads", file).out))
    record(file, "end", STINT_REPORT="table", STINT_OUTPUT=said)
    there, here = table(said.read_text()), table(tool("report", file).out)
    need(list(there) == list(here), there, here)
    for name, cells in there.items():
        need(cells[0] == here[name][0], name)


def case_options(folder):
    file = folder / "r.stint"
    record(file, "end", program=FAKE)
    def names(*options):
        return list(table(tool("report", file, *options).out))
    need(names("--sort", "calls")[0] == "matmul", names("--sort", "calls"))
    need(names("-s", "self")[0] in ("matmul", "load"), names("-s", "self"))
    need(len(names("--top", "2")) == 2 and "(3 more)" in tool("report", "-n2", file).out)
    need(names("--filter", "*o*,-*k*") in (["load"], ["load", "worker @other set"][:1]),
         names("--filter", "*o*,-*k*"))
    need(set(names("-f", "-step,-load")) == {"matmul", "worker @other set", "stint_step"})
    need(names("--set", "other set") == ["worker"], names("--set", "other set"))
    tree = tool("report", "-v", "tree", "-f", "load", file).out
    need(list(table(tree)) == ["step", "load"], tree)
    legacy = tool("report", "--view", "legacy", "-f", "load", file).out
    need(legacy.count("Stat=") == 1 and "Stat=load " in legacy, legacy)
    legacy = tool("report", "--view", "legacy", "--set", "other set", file).out
    need(legacy.count("StatSet") == 1 and "Stat=worker" in legacy, legacy)
    need(table(tool("report", "-u", "ns", file).out)["load"][1] == "1000000")
    need(table(tool("report", "--unit=ms", file).out)["load"][1] == "1.000")
    threads = tool("report", "-v", "threads", file).out
    need(len([n for n in table(threads) if n.startswith("matmul [")]) == 2, threads)


def resize(main, rows, columns):
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def on_terminal(arguments, columns, rc=0, stderr=None, program=None, **env):
    """Returns the output of the tool, or of another program, on a terminal of that width."""
    main, other = pty.openpty()
    resize(other, 30, columns)
    process = subprocess.Popen([program or TOOL, *map(str, arguments)], stdout=other,
                               stderr=stderr or other, stdin=other, env=environment(**env))
    os.close(other)
    data = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    os.close(main)
    need(process.wait(timeout=LIMIT) == rc, data)
    return data.decode()


def width(line):
    return len(re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip("\r"))


def without_looks(text):
    """Makes the output on a terminal with room for all columns equal to the output elsewhere:
    without colours and bars."""
    text = re.sub(r"\x1b\[\d*m", "", text).replace("\r", "")
    title = next(line for line in text.split("\n") if line.startswith("name "))
    at = title.index(" total") + len(" total")  # the column that the rows are sorted by
    need(title[at:at + 10] == " " * 10, "a bar has no title", title)
    lines = text.split("\n")
    first = lines.index(title)
    last = lines.index("", first)
    for i in range(first, last):
        need(re.fullmatch("  #* *", lines[i][at:at + 10]), lines[i])
        lines[i] = lines[i][:at] + lines[i][at + 10:]
    return "\n".join(lines)


def case_terminal(folder):
    file = folder / "r.stint"
    record(file, "end")
    plain = tool("report", file).out
    need("\x1b" not in plain)
    need("\x1b[1mname" in tool("report", "--color", "always", file).out)
    need("\x1b[2m" in tool("report", "--color=always", file).out, "zeros are dim")
    coloured = on_terminal(["report", file], 300)
    need("\x1b[1mname" in coloured and without_looks(coloured) == plain, coloured)
    need("\x1b" not in on_terminal(["report", file], 300, NO_COLOR=1))
    need("\x1b" in on_terminal(["report", file], 300, NO_COLOR=""), "empty is as good as unset")
    need("\x1b" not in on_terminal(["report", file], 300, TERM="dumb"))
    need("\x1b" not in on_terminal(["report", "--color", "never", file], 300))
    for columns in (60, 80, 100, 133):
        for text in (tool("report", file, COLUMNS=columns).out,
                     on_terminal(["report", file], columns),
                     tool("report", "-v", "tree", file, COLUMNS=columns).out):
            need(all(width(line) <= columns for line in text.split("\n")), columns, text)
    text = tool("report", file, COLUMNS=60).out
    need("(no room for: " in text and "slowest info)" in text and "p99" in text, text)
    need(" total" in text.split("\n\n")[1], text)
    text = tool("report", "-s", "max", file, COLUMNS=60).out
    need(re.search(r"^name .* max$", text, re.M), "what it is sorted by stays", text)
    need("no room" not in plain)
    for bad in ("x", "0", "5", "99999999"):
        need(tool("report", file, COLUMNS=bad).out == plain, bad)


def case_terminal_bar(folder):
    file = folder / "r.stint"
    record(file, "end")

    def bars(**env):
        text = on_terminal(["report", "--sort", "calls", "--color", "never", file], 120, **env)
        lines = text.replace("\r", "").split("\n\n")[1].split("\n")
        at = lines[0].index("calls") + len("calls")
        return [(int(line[:at].split()[-1]), line[at:at + 10].strip()) for line in lines[1:]
                if not line.startswith("(")]

    def halves(bar):
        return 2 * bar.count("\u2588") + bar.count("\u258c") + 2 * bar.count("#")

    largest = max(calls for calls, _ in bars())
    for env, error in (({}, 2), ({"LC_ALL": "C.UTF-8"}, 1)):
        rows = bars(**env)
        need(any(bar for _, bar in rows), rows)
        for calls, bar in rows:
            need(abs(halves(bar) - 16 * calls / largest) <= error, env, rows)
    need("#" not in on_terminal(["report", file], 59), "a narrow one has none")
    need("#" not in tool("report", file, COLUMNS=80).out, "not a terminal")
    need("#" in on_terminal(["report", file], 80, NO_COLOR=1), "a bar has no colour")


def case_terminal_program(folder):
    """The report that a program prints itself."""
    def shown(columns, view, **env):
        text = on_terminal(["end"], columns, program=FAKE, STINT_REPORT=view, **env)
        return text.replace("\r", "")

    def piped(view, **env):
        return run(FAKE, "end", STINT_REPORT=view, **env).err

    def words(text):
        return re.sub(r"\s+", " ", re.sub(r"\x1b\[\d*m", "", text)).strip()

    for view in ("table", "tree", "table,threads", "legacy", "fluid", "gpu"):
        need("\x1b" not in piped(view) and "no room" not in piped(view, COLUMNS=80), view)
        for columns in (45, 80, 100):
            text = shown(columns, view)
            need(all(width(line) <= columns or "-" * 50 == line for line in text.split("\n")), view,
                 columns, text)
            need(not re.search(r"\n *\n *\n", text) or view == "fluid", "lines of blanks", text)
    # The whole of each number: the cells of the columns that are there.
    whole = table(piped("table"))
    for columns in (80, 100):
        text = shown(columns, "table,sort=self", NO_COLOR=1)
        dropped = re.search(r"\(no room for: ([^)]*)\)", words(text))
        need(dropped and "slowest info" in dropped.group(1), columns, text)
        rows = re.sub(r" #+ *", "  ", text)
        for name, row in whole.items():
            line = next(line for line in rows.split("\n") if line.startswith(name[:16]))
            cells = re.split(r"  +", line.strip())
            need(cells[1:4] == row[:3], line, row)
    need("\x1b[1mname" in shown(80, "table") and "\x1b" not in shown(80, "table", NO_COLOR=1))
    need(words(shown(80, "legacy")) == words(piped("legacy")), "all fields are there")
    # The width is that of the terminal that STINT_OUTPUT names, not of stderr.
    out = folder / "report.txt"
    need(not shown(45, "table", STINT_OUTPUT=out), "nothing on the terminal")
    need(words(out.read_text()) == words(piped("table")), out.read_text())
    need("no room" in shown(80, "table", STINT_OUTPUT="stdout"))
    main, other = pty.openpty()
    resize(main, 30, 80)
    need("no room" not in piped("table", STINT_OUTPUT=os.ttyname(other)))
    need("no room" in os.read(main, 65536).decode(), "a terminal by its path")
    os.close(main)
    os.close(other)


def move_away(file):
    """Changes the file as if it was recorded on another boot."""
    data = used_bytes(file)
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    file.write_bytes(data.replace(boot, b"ffff" + boot[4:], 1))


def seconds(found):
    """The seconds of a match of a number and its unit."""
    return float(found.group(1)) / (1000 if found.group(2) == "ms" else 1)


def case_states(folder):
    file = folder / "r.stint"
    for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV):
        record(file, "raise", int(number), rc=-number)
        text = tool("report", file).out
        need("killed, crashed or ended by _exit or exec" in text, text)
        need(re.search(r"^open: outer > inner, for at least \d.*, thread \d+$", text, re.M), text)
        need("inner (open)" in tool("report", "-v", "tree", file).out)
        need(table(text)["matmul"][0] == "260", text)
        text = tool("info", file).out
        need(re.search(r"state +killed.*wall +at least [\d.]+ m?s$", text, re.S | re.M), text)
        need(tool("info", file).out == text, "its time goes on after its end")
    process = start(file, "hang")
    time.sleep(0.3)
    text = tool("report", file).out
    need(", running, pid %d" % process.pid in text, text)
    age = re.search(r"^open: outer > inner, for (\S+) (ms|s), thread", text, re.M)
    need(age and seconds(age) >= 0.3, text)
    os.kill(process.pid, signal.SIGSTOP)
    need("running" in tool("report", file).out, "a stopped one too")
    stop(process)
    need("killed" in tool("report", file).out)
    # A file from another machine, or from before a reboot: this machine's clocks say nothing about
    # it.
    move_away(file)
    text = tool("report", file).out
    need("killed" in text and "for at least" in text and table(text)["step"][0] == "5", text)
    # A span too long for its event, with an end that no sum of a scope tells.
    record(file, "long", int(signal.SIGKILL), program=FAKE, rc=-9, STINT_TRACE="64k")
    move_away(file)
    text = tool("info", file).out
    wall = re.search(r"wall +at least ([\d.]+) s$", text, re.M)
    need(wall and 900 <= float(wall.group(1)) < 901, text)


def case_killed_wall(folder):
    """The wall time of a killed run reaches to its last action, and is a lower bound wherever it is
    shown."""
    file = folder / "r.stint"
    for what in ("long", "scope", "interval", "sample", "step", "report", "exit"):
        rc = 0 if what == "exit" else -signal.SIGKILL
        record(file, "last", what, program=FAKE, rc=rc)
        move_away(file)
        merged = folder / "merged.stint"
        tool("merge", "-o", merged, file)
        for path in (file, merged):
            text = tool("report", path).out
            need(re.search(r", at least 130\d s wall, ", text), what, text)
        share = table(text)["load"][3]
        need(share.startswith("<="), share, text)
    need('"wall_at_least":true' in tool("export", "--to", "json", file).out)
    need('"wall_at_least":true' in tool("export", "--to", "html", file).out)
    need(re.search(r"wall \w+: at least 130\d s -> at least 130\d s", tool("diff", file, merged).out))
    need("at least" in tool("top", "--once", file).out.split("\n")[0])
    # The wall time is exact if the run has an end.
    record(file, program=FAKE)
    text = tool("report", file).out
    need("at least" not in text.split("\n")[0] and "<=" not in text, text)
    need("wall_at_least" not in tool("export", "--to", "json", file).out)


def case_killed_space(folder):
    """`run` and `merge` give back what a killed program had reserved: not while it runs, and
    neither the exports nor the times of the file change."""
    trace = {"STINT_TRACE": "64M"}

    def exports(path):
        return [tool("export", "--to", to, path).out for to in ("json", "chrome")]

    def need_short(path, most):
        used = int.from_bytes(path.read_bytes()[24:32], "little")
        size = path.stat()
        need(size.st_size == -(-used // 4096) * 4096, size, used)
        need(size.st_blocks * 512 <= most, size)

    file = folder / "r.stint"
    process = start(file, "hang", **trace)
    tool("merge", "-o", folder / "live.stint", file)
    live = file.stat().st_size
    stop(process)
    need(live == 64 << 20, "a live one was cut", live)
    tool("merge", "-o", folder / "other.stint", folder / "live.stint")
    need(file.stat().st_size == 64 << 20, file.stat())
    with file.open("r+b") as of_another_boot:  # else each command measures the rate of the clock
        of_another_boot.seek(HEADER["boot_id"][0])
        of_another_boot.write(b"x")
    before, times = exports(file), file.stat()
    need(times.st_blocks * 512 >= 16 << 20, "no ring", times)
    tool("merge", "-o", folder / "merged.stint", file)
    need_short(file, 200000)
    need(exports(file) == before and file.stat().st_mtime_ns == times.st_mtime_ns)
    done = folder / "done.stint"
    tool("run", "--file", done, "--trace", "64M", "-r", "none", "--", PROGRAM, "raise",
         int(signal.SIGKILL), rc=128 + 9)
    need_short(done, 200000)
    need("outer" in exports(done)[0] and "matmul" in exports(done)[1], "what was recorded")
    # A damaged file is left as it is.
    record(file, "raise", int(signal.SIGKILL), rc=-9, **trace)
    os.truncate(file, 1 << 20)
    tool("merge", "-o", folder / "merged.stint", file, rc=2)
    need(file.stat().st_size == 1 << 20, file.stat())


def case_killed_under_load(folder):
    """The wall time covers the work that the program reported, and is at most the time that the
    test waited."""
    file = folder / "r.stint"
    before = time.monotonic()
    process = start(file, "tick")
    said = [float(process.stdout.readline()) for _ in range(500)]
    process.kill()
    said += map(float, process.stdout.read().split(b"\n")[:-1])
    process.wait()
    waited = time.monotonic() - before
    run = json.loads(tool("export", "--to", "json", file).out)
    need(run["run"]["wall_at_least"], run["run"])
    # The clocks of the two processes run at rates that differ by what NTP corrects.
    need(said[-1] <= run["run"]["wall_ns"] / 1e9 <= waited * 1.001, said[-1], run["run"], waited)


def case_waits(folder):
    """Scopes that wait are marked, with STINT_WAITS. What a scope that spins had of the processor
    is said by its CPU time: the machine may have had other work."""
    file = folder / "r.stint"
    record(file, "waits", STINT_WAITS="1")
    rows = {row["name"]: row for row in json.loads(tool("export", "--to", "json", file).out)["stats"]}
    need(rows["sleeps"]["measured"] == rows["spins"]["measured"] == 4, rows)
    need(rows["spins"]["cpu_ns"] >= 4 * 20000000, rows["spins"])
    need("measured" not in rows["short"] and "cpu_ns" not in rows["short"], rows["short"])
    text = tool("report", file).out
    need(re.search(r"^sleeps \(waits, \d+ % CPU\) ", text, re.M), text)
    need(re.search(r"^short ", text, re.M) and "CPU time" not in text, text)
    text = tool("report", "--sort", "cpu", file).out
    need("CPU time" in text and list(table(text))[0].startswith("spins"), text)
    merged = folder / "merged"
    tool("merge", "-o", merged, file, "--keep", "names")
    need("sleeps (waits, " in tool("report", merged).out)
    record(file, "waits")
    need("(waits" not in tool("report", file).out)
    for view in ("table", "tree"):
        text = tool("report", "-v", view, "--sort", "cpu", file).out
        need(text.count("(no CPU time: ") == 1, text)
    # It is on by default. The sleeps are above half of the time on any load.
    variables = environment(STINT_FILE=file)
    del variables["STINT_WAITS"]
    subprocess.run([PROGRAM, "waits"], env=variables, timeout=LIMIT, check=True)
    need("sleeps (waits, " in tool("report", file).out)


def case_live(folder):
    """The lock can be lost; the mapping is still there."""
    file = folder / "r.stint"
    process = start(file, "busy")
    try:
        def loops():
            return int(table(tool("report", file).out)["loop"][0])
        first = loops()
        until(lambda: loops() > first, "it counts no more")
        info = run("sh", "-c", 'ulimit -n 4; exec "$@"', "sh", TOOL, "info", file)
        need("at least" not in info.out, "one descriptor is enough to know that it runs here", info)
        # A file that a program writes is not replaced at that time, not even by way of a link.
        before = file.stat().st_ino
        (folder / "link").symlink_to(file)
        one_line(tool("export", file, "-t", "csv", "-o", file, rc=1), "cannot write",
                 "a running program is writing it")
        one_line(tool("export", file, "-t", "csv", "-o", folder / "link", rc=1),
                 "a running program is writing it")
        other = folder / "other.stint"
        record(other, "end")
        one_line(tool("merge", other, "-o", file, rc=2), "a running program is writing it")
        need(file.stat().st_ino == before and not list(folder.glob("*.tmp")), "it was replaced")
        now = loops()
        until(lambda: loops() > now, "it counts no more")
        copy = folder / "copy.stint"
        shutil.copy(file, copy) # no process has it mapped
        need("killed" in tool("report", copy).out)
    finally:
        stop(process)


def race(file):
    """Counts how often the program's file was read before the program's end."""
    seen = 0
    process = subprocess.Popen([PROGRAM, "many", "100000"],
                               env=environment(STINT_FILE=file, STINT_MEMORY="1024M",
                                               STINT_PERCENTILES=0))
    while process.poll() is None:
        if file.exists():
            done = tool("report", file, rc=None)
            need(done.rc == 0 and not done.err, done)
            calls = re.search(r"^(?:stint cost .* % of this run: )?(\d+) calls?", done.out, re.M)
            rows = len(re.findall(r"^scope number \d+ ", done.out, re.M))
            need(calls and int(calls.group(1)) == rows, rows, calls, done.out[:2000])
            seen += 1
    need(process.returncode == 0)
    return seen


def case_race(folder):
    """The file is read while names are added, with one call each: every call has its name."""
    until(lambda: race(folder / "r.stint"), "it was never read before its end")


# ---- Bad files.

def judge(path, what):
    """Checks that the tool has an answer, a result or a message, for any file."""
    for arguments in (["report", path], ["report", "-v", "tree", path], ["info", path]):
        done = tool(*arguments, rc=None)
        need(done.rc in (0, 2), what, done)
        need(done.rc == 0 or done.err.startswith("stint: "), what, done)
        need("Sanitizer" not in done.err and "runtime error" not in done.err, what, done)
    return done


def sample(folder):
    """A small file with all there is in one: (its bytes in use, header length)."""
    file = folder / "r.stint"
    record(file, "raise", int(signal.SIGKILL), rc=-9, STINT_MEMORY="1M", STINT_TRACE="1M")
    data = file.read_bytes()
    return data[:field(data, HEADER["used"])], field(data, HEADER["header_bytes"])


def case_hostile_headers(folder):
    data, header = sample(folder)
    file = folder / "x.stint"
    file.write_bytes(data)
    need("cut off" not in tool("report", file).err)
    every = list(range(0, header, 1))
    rest = [i for i in every if i > 256]
    random.Random(1).shuffle(rest)
    for at in [i for i in every if i <= 256] + rest[:150]:
        for value in {data[at] ^ 0xff, data[at] ^ 1}:
            spoilt = bytearray(data)
            spoilt[at] = value
            file.write_bytes(spoilt)
            judge(file, "byte %d of the header: %d" % (at, value))
    for name in ("size", "used"):
        for value in (0, 1, header, len(data) * 2, 1 << 33, 1 << 62, (1 << 64) - 1):
            file.write_bytes(with_field(data, HEADER[name], value))
            judge(file, (name, value))


def case_hostile_bytes(folder):
    data, header = sample(folder)
    file = folder / "x.stint"
    seed = int(os.environ.get("SEED", "2"))
    dice = random.Random(seed)
    for number in range(150):
        spoilt = bytearray(data)
        for _ in range(dice.choice((1, 10, 100, 1000))):
            at = dice.randrange(header, len(data))
            length = dice.choice((1, 1, 4, 8))
            value = dice.choice((b"\xff" * 8, b"\0" * 8, bytes(dice.randrange(256)
                                                              for _ in range(8))))
            spoilt[at:at + length] = value[:length]
        file.write_bytes(spoilt[:len(data)])
        judge(file, "seed %d, file %d" % (seed, number))
        if number % 10 == 0:
            for format in FORMATS:
                done = tool("export", "--to", format, file, rc=None)
                need(done.rc in (0, 2), format, "seed %d, file %d" % (seed, number), done)


def case_hostile_cuts(folder):
    data, header = sample(folder)
    file = folder / "x.stint"
    cuts = set(range(0, 64)) | {header - 1, header, header + 1, len(data) - 1}
    cuts |= {random.Random(3).randrange(len(data)) for _ in range(100)}
    for cut in sorted(cuts):
        file.write_bytes(data[:cut])
        done = judge(file, "cut at %d" % cut)
        need(done.rc == 2, cut, done)
        one_line(done)
        if cut >= header:
            need("cut off: %d of %d bytes" % (cut, len(data)) in done.err, done)
            need(done.out.startswith("file "), "what can be read is shown", done)


# Commands that print what is in a file; all of it once, or once a row.
PRINTING = (["report"], ["report", "-v", "tree"], ["report", "-v", "table,threads"],
            ["report", "-v", "tree,threads"], ["report", "-v", "legacy"], ["report", "-v", "fluid"],
            ["report", "-v", "gpu"], ["info"],
            *(["export", "--to", to] for to in FORMATS))
TIMES = 64  # the file's size: what docs/tool.md says


def case_hostile_sizes(folder):
    """The output for a file whose records share what they refer to is in proportion to the file's
    size. So is the time: time in proportion to its square would exceed the test's limit."""
    for kind in ("flat", "long", "chain", "threads"):
        file = folder / (kind + ".stint")
        run(HOSTILE, kind, file, "1")
        size = file.stat().st_size
        for command in PRINTING:
            done = tool(*command, file)
            need(done.out, kind, command)
            need(len(done.out) <= TIMES * size, kind, command, len(done.out))
        second = shutil.copy(file, folder / "second")
        for command in (["merge", "-o", folder / "merged.stint", file, second],
                        ["diff", file, file]):
            done = tool(*command, rc=None)
            need(done.rc in (0, 1), command, done.err)
            need(len(done.out) <= TIMES * size, kind, command, len(done.out))
        need((folder / "merged.stint").stat().st_size <= TIMES * size, kind)
        (folder / "merged.stint").unlink()


def case_hostile_rings(folder):
    """A trace that no program records takes memory in proportion to its spans, and not its ring."""
    for kind, bytes_per_span in (("tower", 16), ("same", 36)):
        file = folder / kind
        run(HOSTILE, kind, file, "20")
        for form in ("chrome", "perfetto", "html"):
            peak = peak_kb(PROGRAM, TOOL, "export", "--to", form, "-o", "/dev/null", file)
            need(peak <= 10000 + (bytes_per_span << 10) or is_sanitized(TOOL), kind, form, peak)
        spans = spans_of(tool("export", file, "--to", "chrome").out)
        need(len(spans) == 512, kind, len(spans)) # no viewer draws deeper ones


def case_hostile_files(folder):
    data, _ = sample(folder)
    file = folder / "x.stint"
    def refused(path, *words):
        for command in (["report"], ["info"], ["export", "--to", "json"], ["top", "--once"]):
            done = tool(*command, path, rc=2)
            one_line(done, *words)
            need(not done.out, done)
    refused(folder / "missing", "missing: No such file")
    refused(folder, "directory")
    os.mkfifo(folder / "fifo")
    refused(folder / "fifo", "not a regular file")
    refused("/dev/zero", "not a regular file")
    file.write_bytes(b"")
    refused(file, "empty")
    file.write_bytes(b"#!/bin/sh\necho hello\n" * 1000)
    refused(file, "not a run file")
    for abi in (1, 77):
        file.write_bytes(with_field(data, HEADER["abi"], abi))
        refused(file, "format %d," % abi, "formats 4 to %d" % field(data, HEADER["abi"]))
    file.write_bytes(data[:100])
    refused(file, "cut off within its header")
    file.write_bytes(data)
    os.chmod(file, 0)
    if os.geteuid():
        refused(file, "Permission denied")
    os.chmod(file, 0o600)
    # Terabytes that are not there cost nothing.
    file.write_bytes(with_field(with_field(data, HEADER["size"], 1 << 42), HEADER["used"], 1 << 41))
    os.truncate(file, 1 << 41)
    done = judge(file, "a hole of 2 TiB")
    need(done.rc == 2, done)
    # A name in it is not a command to the terminal.
    at = data.index(b"matmul\0")
    file.write_bytes(data[:at] + b"\x1b[31m!" + data[at + 6:])
    text = tool("report", file).out
    need("\x1b" not in text and "\\x1b[31m!" in text, text)


# ---- Exports and facts.

def case_export(folder):
    file = folder / "r.stint"
    record(file, "end", STINT_TRACE="1M")
    for format in FORMATS:
        target = folder / ("out." + format)
        target.write_text("old")
        tool("export", file, "--to", format, "-o", target)
        data = target.read_bytes()
        piped = subprocess.check_output([TOOL, "export", "--to=" + format, str(file)], env=environment())
        need(data == piped and b"matmul" in data, format, data[:300])
    need(not list(folder.glob("*.tmp")), "something is left")
    need("is not text" in on_terminal(["export", "--to", "perfetto", file], 300, rc=2))
    # A name cannot control the terminal; elsewhere it is written as it is.
    name = b"\x1b\xc2\x9b[m!"
    file.write_bytes(used_bytes(file).replace(b"matmul\0", name + b"\0"))
    for format in (name for name in FORMATS if name not in ("perfetto", "pprof")):  # no text
        text = on_terminal(["export", "--to", format, file], 300, stderr=subprocess.DEVNULL)
        need("[m!" in text and not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text), format,
             repr(re.findall(".{20}\\[m!", text)[:3]))
    for format in ("csv", "prometheus"):
        tool("export", file, "--to", format, "-o", folder / "out")
        need(name in (folder / "out").read_bytes(), format)


def spans_of(text):
    """The (name, start, duration) of each span of a Chrome trace, times in nanoseconds."""
    return [(e["name"], round(e["ts"] * 1000), round(e["dur"] * 1000))
            for e in json.loads(text)["traceEvents"] if e["ph"] == "X"]


def case_export_part(folder):
    """A part of a trace has the spans that touch it, whole."""
    file = folder / "r.stint"
    record(file, "end", program=FAKE, STINT_TRACE="1M")
    chrome = ("export", file, "--to", "chrome")
    whole = spans_of(tool(*chrome).out)
    end = max(start + length for _, start, length in whole)
    for start, stop in (0, end + 1), (end // 3, end // 2), (end // 2, end // 2 + 1), (end, 2 * end):
        part = spans_of(tool(*chrome, "--from", "%dns" % start, "--until", "%dns" % stop).out)
        expected = [s for s in whole if s[1] < stop and s[1] + s[2] >= start]
        need(part == expected, (start, stop), len(part), len(expected))
    need(spans_of(tool(*chrome, "--from", "1h").out) == [])
    need(spans_of(tool(*chrome, "--last", "1h").out) == whole)
    last = spans_of(tool(*chrome, "--last", "1us").out)
    need(0 < len(last) < len(whole) and all(s in whole for s in last), last)
    for form in ("perfetto", "html"):
        sizes = [len(subprocess.check_output([TOOL, "export", "-t", form, str(file), *part]))
                 for part in ([], ["--last", "1us"])]
        need(sizes[1] < sizes[0], form, sizes)
    expected = "expected seconds, or a number with ns, us, ms, s, m or h"
    for wrong in "x", "-1s", "1d", "1s ", "", "1e99", "2e9":
        one_line(tool(*chrome, "--last=" + wrong, rc=2), "--last", expected)
    one_line(tool("export", file, "-t", "csv", "--last", "1s", rc=2), "chrome, perfetto and html")
    one_line(tool("export", file, "-t", "html", "--last", "1s", "--follow", "1", "-o", "x", rc=2),
             "without --follow")
    one_line(tool(*chrome, "--last", "1s", "--from", "1s", rc=2), "--last", "--from and --until")
    one_line(tool(*chrome, "--until", "1s", "--from", "1s", rc=2), "--until", "not later")


def case_export_live(folder):
    """The trace of a running program, which overwrites it all the time: each span is whole."""
    file = folder / "r.stint"
    process = subprocess.Popen([PROGRAM, "spans", str(1 << 40)], stderr=subprocess.DEVNULL,
                               env=environment(STINT_FILE=file, STINT_TRACE="16M"))
    found = 0
    try:
        until(lambda: file.exists() and " spans, " in tool("info", file).out, "it has no trace")
        for _ in range(10):
            spans = spans_of(tool("export", file, "--to", "chrome").out)
            found += len(spans)
            need({name for name, _, _ in spans} <= {"span"}, spans[:3])
            starts = [start for _, start, _ in spans]
            need(starts == sorted(starts), "not in order")
            need(all(length < 60e9 for _, _, length in spans), "a wrong length")
    finally:
        process.kill()
        process.wait()
    need(found, "no span was found whole")


def case_info(folder):
    file = folder / "r.stint"
    record(file, "end", program=FAKE, STINT_TRACE="1M")
    text = tool("info", file).out
    for pattern in (r"^state +ended, pid \d+$", r"^program +testprog$", r"^command +\S+ end$",
                    r"^calls +281$", r"^steps +2$", r"^sets +2$", r"^tree nodes +5$",
                    r"^intervals +1$", r"^open scopes +0$", r"^format +\d+$",
                    r"^in use +\d+ of \d+ bytes$", r"^host +testhost$", r"^wall +[0-9.]+ ms$",
                    r"^trace +\d+ rings?, 281 spans, 5 marks, 5 values, 0 older events overwritten$"):
        need(re.search(pattern, text, re.M), pattern, text)
    record(file, "end", STINT_MEMORY="1M")
    text = tool("info", file, file).out
    need("trace        none" in text and text.count("\nstate ") == 2, text)


# ---- run.

def case_run(folder):
    place = {"TMPDIR": folder, "XDG_RUNTIME_DIR": folder}
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    done = tool("run", PROGRAM, "end", "7", rc=7, **place)
    need(table(done.err)["matmul"][0] == "260" and not done.out, done)
    done = tool("run", "--report", "tree,top=1", "--", PROGRAM, "raise", "9", rc=137)
    need("Killed" in done.err and "(7 more)" in done.err and "stint tree" in done.err, done)
    age = re.search(r"open: outer > inner, for ([0-9.]+) (ms|s),", done.err)
    need(age and seconds(age) >= 0.003, "it is known when it ended", done)
    done = tool("run", PROGRAM, "nothing")
    one_line(done, "nothing recorded: compile with -DWITH_TIMER and link with stint")
    one_line(tool("run", folder / "missing", rc=127), "No such file")
    (folder / "plain").write_text("x")
    one_line(tool("run", folder / "plain", rc=126), "Permission denied")
    (folder / "plain").write_text("exit 5\n")
    (folder / "plain").chmod(0o755)
    tool("run", "-r", "none", folder / "plain", rc=5) # a script without #!, as by env
    done = tool("run", "-r", "none", PROGRAM, "end", "3", rc=3)
    need(not done.err and not done.out, done)
    done = tool("run", "sh", "-c", '"$1" fork; "$1" end', "sh", PROGRAM)
    need(done.err.count("stint table: ") == 1 and done.err.count("also recorded: ") == 2, done)
    if os.path.isdir("/dev/shm"):
        # Others may be at it right now, and take theirs away.
        until(lambda: not {n for n in os.listdir("/dev/shm") if re.fullmatch(r"stint-\w{6}", n)}
              - before, "left in memory")


def case_run_html(folder):
    """The page of the run, as `stint export` writes it, also where the program was killed."""
    page, file = folder / "run.html", folder / "r.stint"
    tool("run", "--html", page, "--file", file, "--report", "none", "--", PROGRAM, "end")
    need(page.read_text() == tool("export", "--to", "html", file).out, "the page of the file")
    page.unlink()
    tool("run", "--html", page, "--", PROGRAM, "raise", int(signal.SIGKILL), rc=128 + 9)
    need("matmul" in page.read_text(), "of a killed program")
    done = tool("run", "--html", file, "--file", file, "--report", "none", "--", PROGRAM, "end", rc=2)
    one_line(done, "cannot write", "it is a run file")
    done = tool("run", "--html", folder / "x", "--report", "none", "true", rc=1)
    one_line(done, "nothing recorded")
    need(not (folder / "x").exists(), "a page of nothing")
    done = tool("run", "--report", "none", "true")
    need(not done.err, done)


def case_run_repeat(folder):
    """Files for `stint diff`, one a run; the report of the last one; a run that fails is the
    last."""
    done = tool("run", "--repeat", "3", "--file", "a.stint", "-r", "tree", "--", PROGRAM, "end",
                cwd=folder)
    need(sorted(path.name for path in folder.iterdir()) == ["a-1.stint", "a-2.stint", "a-3.stint"], done)
    need(re.findall(r"(?m)^stint: run (\d) of 3: .* wall, in .*/a-(\d)\.stint$", done.err) ==
         [("1", "1"), ("2", "2"), ("3", "3")] and done.err.count("stint tree:") == 1, done)
    tool("run", "--repeat=3", "--file", folder / "b", "--report=none", "--", PROGRAM, "end")
    files = [sorted(folder.glob(pattern)) for pattern in ("a-*", "b-*")]
    need([len(side) for side in files] == [3, 3], files)
    text = tool("diff", *files[0], "--", *files[1]).out
    need("tool_program, 3 runs; B is tool_program, 3 runs" in text, text)
    need(re.search(r"(?m)^matmul +(SAME|UNSURE|SLOWER|FASTER)", text), text)
    done = tool("run", "--repeat", "3", "--file", folder / "c.stint", "-r", "none", "--", PROGRAM, "raise",
                int(signal.SIGKILL), rc=128 + 9)
    need("run 1 of 3: exit status 137; the others are not run" in done.err, done)
    need(len(list(folder.glob("c-*"))) == 1, list(folder.iterdir()))
    one_line(tool("run", "--repeat", "3", "true", rc=2), "--repeat needs --file FILE")
    one_line(tool("run", "--repeat", "0", "--file", "x", "true", rc=2), "--repeat 0")


def case_run_signals(folder):
    del folder
    if b"__tsan_init" in pathlib.Path(PROGRAM).read_bytes():
        print("skipped: thread sanitizer holds signals back until the program's next call")
        return SKIPPED
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen([TOOL, "run", PROGRAM, "signal"], env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        need(process.stdout.readline() == b"ready\n")
        process.send_signal(number) # to the tool alone
        _, err = process.communicate(timeout=LIMIT)
        need(process.returncode == number and b"waiting" in err, number, process.returncode, err)
    # Typed at a terminal the program gets it from there, and once.
    pid, main = pty.fork()
    if not pid:
        os.execve(TOOL, [TOOL, "run", PROGRAM, "signal"], environment())
    read_until(main, b"ready")
    os.write(main, b"\x03")
    read_until(main, b"waiting")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if hasattr(
        os, "waitstatus_to_exitcode") else os.WEXITSTATUS(os.waitpid(pid, 0)[1])
    need(status == signal.SIGINT, "rc", status)
    os.close(main)


def case_run_files(folder):
    file = folder / "mine.stint"
    done = tool("run", "--file", file, PROGRAM, "end")
    need("the run is in %s" % file in done.err, done)
    need("ended" in tool("report", file).out)
    done = tool("run", "-f", "here.stint", "sh", "-c", 'cd / && exec "$0" end', PROGRAM, cwd=folder)
    need((folder / "here.stint").exists(), "from where we were", done)
    done = tool("run", "-f", folder / "each-%p.stint", PROGRAM, "fork")
    need(len(list(folder.glob("each-*.stint"))) == 2 and "also recorded" in done.err, done)
    odd = folder / "100%"
    odd.mkdir()
    tool("run", "-f", "x.stint", PROGRAM, "end", cwd=odd)
    need((odd / "x.stint").exists(), "a % of a folder is none of the pattern")
    done = tool("run", "--trace", "1M", "--report", "legacy", PROGRAM, "end")
    kept = re.search(r"the run is in (.*)\n", done.err)
    need(kept and "Stat=" in done.err, done)
    need("spans" in tool("info", kept.group(1)).out)
    shutil.rmtree(os.path.dirname(kept.group(1)))
    done = tool("run", "--keep", "--color", "always", PROGRAM, "end")
    kept = re.search(r"the run is in (.*)\n", done.err)
    need(kept and "\x1b[" in done.err, done)
    need("ended" in tool("report", kept.group(1)).out)
    shutil.rmtree(os.path.dirname(kept.group(1)))
    need(not list(folder.glob("*.tmp")))


# Each variable of gen/env.ini is either here, if the program has it as it was given and the tool
# has no part in it, or has a test of its own in case_run_environment.
PASSED = ("ENABLE RANK FILTER LEVEL MEMORY PERCENTILES MEM MEM_TABLE CLOCK LOG LOG_PREFIX GPU CUPTI_LIB "
          "GPU_IN_FLIGHT GPU_PEAK CAPTURE NVTX WAITS RUSAGE COUNTERS CUDA_LIB LABEL TRACE_MIN").split()


def run_with(folder, name, value, *options):
    """`stint run` with a variable, in the folder."""
    return tool("run", *options, "--", PROGRAM, "end", cwd=folder, **{"STINT_" + name: value})


def check_run_file(folder):
    """The run file is where the variable says; the option comes first."""
    done = run_with(folder, "FILE", "x-%p.stint")
    kept = [path.name for path in folder.glob("x-*.stint")]
    need(len(kept) == 1 and "the run is in %s/%s" % (folder, kept[0]) in done.err, done)
    run_with(folder, "FILE", "other.stint", "--file", "y.stint", "--report", "none")
    run_with(folder, "FILE", "z.stint", "--repeat", "2", "--report", "none")
    names = {path.name for path in folder.glob("[!x]*.stint")}
    need(names == {"y.stint", "z-1.stint", "z-2.stint"}, names)


def check_run_output(folder):
    """The report is there, one for each process, or in the stream; that of STINT_REPORT comes first."""
    done = run_with(folder, "OUTPUT", "out-%p.txt", "--keep")
    [file] = folder.glob("out-*.txt")
    text = file.read_text()
    need("stint table" in text and "pid %s" % file.stem[4:] in text and "the run is in" in done.err, text, done)
    need("stint table" not in done.err, done)
    shutil.rmtree(os.path.dirname(re.search(r"the run is in (.*)\n", done.err).group(1)))
    need("stint table" in run_with(folder, "OUTPUT", "stdout").out, "the report on standard output")
    both = {"STINT_OUTPUT": folder / "own.txt", "STINT_REPORT": "tree"}
    done = tool("run", "--", PROGRAM, "end", **both)
    need("stint tree" in (folder / "own.txt").read_text() and "stint table" in done.err, done)
    done = run_with(folder, "REPORT", "tree")
    need(done.err.index("stint tree") < done.err.index("stint table"), done)


def check_run_unit(folder):
    done = run_with(folder, "UNIT", "us")
    need("times in us" in done.err, done)
    run_with(folder, "FILE", "unit.stint", "--report", "none")
    for options, unit in ((), "us"), (("--unit", "ns"), "ns"):
        text = tool("report", *options, folder / "unit.stint", STINT_UNIT="us").out
        need("times in " + unit in text, unit, text)


def check_run_trace(folder):
    """As --trace, the run is kept."""
    done = run_with(folder, "TRACE", "1M")
    kept = re.search(r"the run is in (.*)\n", done.err).group(1)
    need("spans" in tool("info", kept).out, done)
    shutil.rmtree(os.path.dirname(kept))
    need("the run is in" not in run_with(folder, "TRACE", "0").err, "no trace")


def case_run_environment(folder):
    """Variables hold under `stint run`. STINT_REPORT: with STINT_OUTPUT; STINT_RANGES: tests/ranges."""
    checks = {"FILE": check_run_file, "OUTPUT": check_run_output, "UNIT": check_run_unit,
              "REPORT": None, "TRACE": check_run_trace, "RANGES": None}
    names = re.findall(r"(?m)^\[STINT_(\w+)\]", (ROOT / "gen" / "env.ini").read_text())
    need(sorted(names) == sorted([*PASSED, *checks]), "each variable once", names)
    passed = {"STINT_" + name: "value of " + name for name in PASSED}
    text = tool("run", "env", **passed).out
    need(not [name for name, value in passed.items() if "\n%s=%s\n" % (name, value) not in "\n" + text], text)
    for check in filter(None, checks.values()):
        check(folder)


def case_run_of_a_child(folder):
    """If a program leaves the work to a child, the report is that of the child."""
    done = tool("run", PROGRAM, "child")
    need(table(done.err)["matmul"][0] == "260" and "also recorded: tool_program, ended" in done.err and
         " 0 calls" in done.err, done)
    page = folder / "page.html"
    tool("run", "--html", page, "--report", "none", "--", PROGRAM, "child")
    need("matmul" in page.read_text(), "the page of the child")


# ---- top.

def shows_loop(process, what):
    """Returns whether an interval showed the loop with its share of the time. On a machine that is
    busy with other work an interval may have no call of it."""
    text = tool("top", "--once", "--interval", "0.3", what).out
    rows = text.split("\n")[3:]
    need("running, pid %d" % process.pid in text and "\x1b" not in text, text)
    if [row.split(" ")[0] for row in rows[:2]] != ["loop", "sleep"]:
        return False
    calls, share = map(float, rows[0].split()[1:3])
    return 50 < share < 150 and 1 < calls < 1100


def shows_a_narrow_row(file):
    text = tool("top", "--once", "-i", "0.1", "-n", "1", file, COLUMNS=70).out
    lines = text.split("\n")
    need(len(lines) <= 5 and all(len(line) <= 90 for line in lines), text)
    return len(lines) == 5


def case_top(folder):
    file = folder / "r.stint"
    process = start(file, "busy")
    try:
        for what in (file, process.pid):
            until(lambda: shows_loop(process, what), "a thread's loop takes all the time")
        until(lambda: shows_a_narrow_row(file), "one row, cut off")
        endless = subprocess.Popen([TOOL, "top", "-i", "0.2", str(file)], stdout=subprocess.PIPE,
                                   env=environment())
        out = b"".join(read_until(endless.stdout.fileno(), b"stint top: ") for _ in range(2))
        endless.send_signal(signal.SIGINT)
        out += endless.communicate(timeout=LIMIT)[0]
        need(endless.returncode == 0 and b"\x1b" not in out, out)
    finally:
        stop(process)
    text = tool("top", file).out
    need("killed" in text and text.count("stint top: ") == 1, text)


def case_top_options(folder):
    """Sorting, filters, threads; the age of scopes that are open."""
    file = folder / "r.stint"
    process = start(file, "hang")
    try:
        def rows(*options):
            text = tool("top", "--once", "-i", "0.1", *options, file).out
            lines = text.split("\n")
            head = next(i for i, line in enumerate(lines) if line.startswith("name "))
            return [re.split(r"  +", line) for line in lines[head + 1:-1]]
        names = [row[0] for row in rows("--sort", "calls")]
        need({"outer (open)", "inner (open)", "matmul"} <= set(names), names)
        for row in rows("--filter", "inner,outer"):
            need(row[0] in ("inner (open)", "outer (open)") and row[-1] not in ("0 ns", "-"), row)
        need([row[0] for row in rows("-f", "matmul")] == ["matmul"], rows("-f", "matmul"))
        totals = rows("--sort", "total")
        need(totals[0][0] == "outer (open)", "open the longest", totals)
        threads = [row[0] for row in rows("--threads")]
        need(len([name for name in threads if re.match(r"matmul \[\d+\]$", name)]) == 2, threads)
        need("outer [%d] (open)" % process.pid in threads, threads)
        tree = tool("top", "--once", "-i", "0.1", "--view", "tree", file).out
        need("\nouter (open) " in tree and "\n  inner (open) " in tree, tree)
        need(re.search(r"^  +matmul ", tree, re.M) and re.search(r"^worker @other set ", tree, re.M), tree)
        # A path is shown with all scopes around it, also with a filter and with few rows.
        tree = tool("top", "--once", "-i", "0.1", "--view", "tree", "-f", "inner", file).out
        need(re.findall(r"^ *(?:outer|inner|matmul)\b", tree, re.M) == ["outer", "  inner"], tree)
        tree = tool("top", "--once", "-i", "0.1", "--view", "tree", "-n", "2", file).out
        need(re.findall(r"^ *(?:outer|inner|matmul)\b", tree, re.M) == ["outer", "  inner"], tree)
        need(len(tree.split("\n")) == 6, tree)
    finally:
        stop(process)
    one_line(tool("top", "--sort", "p99", file, rc=2), "--sort p99", "time, self, calls or total")
    one_line(tool("top", "--view", "legacy", file, rc=2), "--view legacy", "table or tree")


def read_until(main, wanted):
    data = b""
    end = time.monotonic() + LIMIT
    while wanted not in data and time.monotonic() < end:
        if select.select([main], [], [], 0.2)[0]:
            try:
                data += os.read(main, 65536)
            except OSError:
                break
    need(wanted in data, wanted, data)
    return data


def case_top_screen(folder):
    file = folder / "r.stint"
    process = start(file, "busy")
    enter, leave = b"\x1b[?1049h", b"\x1b[?1049l"
    try:
        for key in (b"q", b"\x03"):
            main, other = pty.openpty()
            fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 90, 0, 0))
            was = termios.tcgetattr(other)
            top = subprocess.Popen([TOOL, "top", "-i", "0.2", str(file)], stdin=other, stdout=other,
                                   stderr=other, env=environment())
            data = read_until(main, b"loop ")
            need(data.startswith(enter), data)
            if key == b"q":
                os.write(main, b"s")
                read_until(main, b"by self (s)")
                os.write(main, b"sp")
                read_until(main, b"by calls (s), flat (v), threads (t), filter (/), PAUSED (p)")
                os.write(main, b"t")
                read_until(main, b"loop [%d]" % process.pid)
                os.write(main, b" ")
                read_until(main, b"pause (p)")
                os.write(main, b"tv")
                read_until(main, b"tree (v)")
                read_until(main, b"\n\x1b[K  sleep ")
                # Letters are text in a filter: q too. A bad list stays to be corrected.
                os.write(main, b"/q" + b"*," * 70 + b"\r")
                read_until(main, b"filter (expected glob,-glob,..., at most 64): ")
                os.write(main, b"\x1b")
                read_until(main, b"filter (/)")
                os.write(main, b"/rareX\x7f*\r")
                read_until(main, b"filter: rare_")
                read_until(main, b"FILTERED (/)")
                data = read_until(main, b"FILTERED (/)")
                need(b"sleep " not in data, data)
            for screen in data.split(b"\x1b[H"):  # more than one where the machine is slow
                need(screen.count(b"\n") < 20, screen)
            os.write(main, key)
            read_until(main, b"\x1b[?25h" + leave)
            need(top.wait(timeout=LIMIT) == 0)
            need(termios.tcgetattr(other) == was, "the terminal is as it was")
            os.close(other)
            os.close(main)
        main, other = pty.openpty()
        top = subprocess.Popen([TOOL, "top", "-i", "0.2", str(file)], stdin=other, stdout=other,
                               stderr=other, env=environment())
        read_until(main, b"loop ")
        stop(process)
        data = read_until(main, b"killed")
        need(leave in data and top.wait(timeout=LIMIT) == 0, data)
        os.close(other)
        os.close(main)
    finally:
        stop(process)


def case_top_size(folder):
    """Lines and columns of a small terminal, and of one whose size changes."""
    file = folder / "r.stint"
    process = start(file, "busy")

    def screen(main, wanted):
        data = read_until(main, wanted)
        end = time.monotonic() + LIMIT
        while b"\x1b[J" not in data.split(b"\x1b[H")[-1] and time.monotonic() < end:
            if not select.select([main], [], [], 0.3)[0]:
                break  # a full screen has no rest to erase
            data += os.read(main, 65536)
        text = data.split(b"\x1b[H")[-1].decode()
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\r", "").split("\n")

    def fits(lines, rows, columns, *words):
        lines = lines[:-1] if lines[-1] == "" else lines
        need(len(lines) <= rows, rows, lines)
        need(all(len(line) <= columns for line in lines), columns, lines)
        for word in words:
            need(any(word in line for line in lines), word, lines)

    def begin(rows, columns, *options):
        pid, main = pty.fork()
        if pid == 0:
            os.environ.clear()
            os.environ.update(environment(LINES=50, COLUMNS=300))  # those of the shell are stale
            time.sleep(0.2)
            os.execv(TOOL, [TOOL, "top", *options, str(file)])
        resize(main, rows, columns)
        return pid, main

    try:
        pid, main = begin(6, 45, "-i", "3600")
        fits(screen(main, b"rare"), 6, 45, "stint top", "by time (s)", "% time", "loop", "sleep",
             "rare")
        resize(main, 12, 100)  # at once, not after an hour
        fits(screen(main, b"lost"), 12, 100, "threads (t)", "calls/s", "total", "with a name")
        os.write(main, b"/abc")
        read_until(main, b"abc_")
        resize(main, 5, 30)
        fits(screen(main, b"abc_"), 5, 30, "filter: abc_", "% time", "loop", "sleep")
        os.write(main, b"\x1b")
        read_until(main, b"loop")
        resize(main, 2, 20)
        fits(screen(main, b"loop"), 2, 20, "name", "loop")
        os.write(main, b"q")
        read_until(main, b"\x1b[?1049l")
        need(os.waitpid(pid, 0)[1] == 0)
        os.close(main)
        for sort, title in (("calls", "calls/s"), ("self", "% self"), ("total", "total")):
            pid, main = begin(6, 30, "-i", "3600", "--sort", sort)
            fits(screen(main, b"loop"), 6, 30, title)
            os.write(main, b"q")
            os.waitpid(pid, 0)
            os.close(main)
    finally:
        stop(process)


# ---- The manual.

def case_manual(folder):
    del folder
    page = pathlib.Path(TOOL).parent / "stint.1"
    text = page.read_text()
    need("@" not in text, "a line of the template is left")
    for command in COMMANDS:
        need(".Cm %s\n" % command in text and ".It Cm %s" % command in text, command)
        part = re.split(r"\n\.It Cm \w+|\n\.Sh ", text.split(".It Cm %s" % command)[1])[0]
        shown = re.findall(r"(?m)^  (?:-\w,|   ) --([a-z-]+)", tool(command, "--help").out)
        there = re.findall(r"(?m)^\.It Fl (?:\w , Fl )?-([a-z-]+)", part)
        need(there + ["help"] == shown, command, there, shown)
    if not shutil.which("mandoc"):
        print("no mandoc here")
        return SKIPPED
    done = subprocess.run(["mandoc", "-Tlint", "-Wstyle", str(page)], stdout=subprocess.PIPE,
                          check=False)
    wrong = [line for line in done.stdout.decode().splitlines() if "manual not found: Xr stint" not in line]
    need(not wrong, wrong)
    return 0


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[5]))
