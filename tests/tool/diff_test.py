#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stint diff as its users run it, on real run files.

    diff_test.py TOOL PROGRAM FAKE_PROGRAM CASE

PROGRAM is diff_program.c on the real clock, FAKE_PROGRAM on one that only it advances.
"""
import csv
import gzip
import io
import json
import math
import pathlib
import random
import re
import statistics
import sys
import xml.etree.ElementTree

from cases import main, need, run, used_bytes

TOOL, PROGRAM, FAKE = sys.argv[1:4]


def diff(*arguments, rc=0):
    return run(TOOL, "diff", *arguments, rc=rc)


def record(folder, side, count, *story, program=FAKE):
    """Records `count` run files; on the fake clock each has times of its own."""
    files = []
    for i in range(count):
        files.append(folder / ("%s%d.stint" % (side, i)))
        seed = ord(side) * 100 + i
        run(program, *story, *["-1", "10"][len(story):], seed, STINT_FILE=files[-1])
    return files


def record_moved(folder, *sides):
    """Records runs whose scope "moved" takes so many us, alternating. The files of both sides."""
    files = [], []
    for at, lengths in enumerate(zip(*sides)):
        for side, us in zip(files, lengths):
            side.append(folder / ("%d-%d.stint" % (at, us)))
            run(FAKE, "-1", "10", at + 1, "moved", us, STINT_FILE=side[-1])
    return files


def verdicts(text):
    """name -> verdict."""
    words = "SLOWER|FASTER|SAME|UNSURE|NEW|GONE|MORE|FEWER"
    return {m.group(1): m.group(2)
            for m in re.finditer(r"(?m)^(\S.*?)  +(%s)\b" % words, text)}


def names(text, verdict):
    return sorted(n for n, v in verdicts(text).items() if v == verdict)


# ---- Verdicts.

def case_alike(folder):
    """Five runs against five of the same program."""
    done = diff(*record(folder, "a", 5), "--", *record(folder, "b", 5))
    found = verdicts(done.stdout)
    need(len(found) == 22, "20 scopes, round, copy", done.stdout)
    need(not names(done.stdout, "SLOWER") and not names(done.stdout, "FASTER"), done.stdout)
    need(len(names(done.stdout, "SAME")) >= 20, done.stdout)
    need(re.search(r"(?m)^total: 0 slower, 0 faster, 2\d same, \d unsure, 0 new, 0 gone; wall",
                   done.stdout), done.stdout)
    need(re.search(r"(?m)wall SAME: \S+ \w+ -> \S+ \w+ \([+-]?\d+\.\d % \+/- \d+\.\d %\)$", done.stdout), done.stdout)
    need("the same file" not in done.stdout, done.stdout)
    need(" self" not in done.stdout, "no exclusive time has changed", done.stdout)
    need(not done.stderr, done.stderr)


def case_errors(folder):
    """The interval is one of a ratio: a decrease by almost all is known to less than the rest."""
    a, b = record_moved(folder, [40000, 60000, 80000, 90000, 70000], [1000, 1500, 2000, 2200, 900])
    text = diff(*a, "--", *b).stdout
    row = re.search(r"(?m)^moved .* (-\d+\.\d) % +(\d+\.\d) % ", text)
    need(row and float(row.group(1)) < -95, text)
    need(0 < float(row.group(2)) < 100 + float(row.group(1)), text)
    rows = json.loads(diff("--format", "json", *a, "--", *b).stdout)["rows"]
    moved = [r for r in rows if r["name"] == "moved"][0]
    need(0 < moved["error_percent"] < 100 + moved["change_percent"], moved)
    wall = re.search(r"wall .* \((-\d+\.\d) % \+/- (\d+\.\d) %\)$", text, re.M)
    need(wall and 0 < float(wall.group(2)) < 100 + float(wall.group(1)), text)
    need(re.search(r"wall .* % \+/- \?\)$", diff(a[0], b[0]).stdout, re.M), "of single runs")


def case_same_file(folder):
    """A file on both sides, or a copy of it, is said."""
    a, b = record(folder, "a", 2), record(folder, "b", 2)
    copy = folder / "copy.stint"
    copy.write_bytes(a[0].read_bytes())
    need("\nthe same file is on both sides: 1 of 1 run of A\n" in diff(a[0], a[0]).stdout)
    need("\nthe same file is on both sides: 1 of 2 runs of A\n" in diff(*a, "--", b[0], copy).stdout)
    need("the same file" not in diff(*a, "--", *b).stdout)


def case_order(folder):
    """The order of the files of a side plays no part."""
    a, b = record(folder, "a", 5), record(folder, "b", 5, "7", "3")
    rows = json.loads(diff("--format", "json", *a, "--", *b).stdout)["rows"]
    text = diff(*a, "--", *b).stdout
    need("SLOWER" in text and len(rows) == 22, text)
    for one, other in ((a[::-1], b), (a, b[2:] + b[:2]), (a[1::2] + a[::2], b[::-1])):
        done = diff(*one, "--", *other)
        need(done.stdout == text, text, done.stdout)
        again = json.loads(diff("--format", "json", *one, "--", *other).stdout)["rows"]
        need(again == rows, rows, again)


def case_conditions(folder):
    """Conditions that the speed of runs depends on are recorded, and printed if the sides differ in
    them."""
    a, b = record(folder, "a", 3), record(folder, "b", 3)
    same = b"aslr=on governor=? load=0.50 env=1000"
    need("the sides differ" not in diff(*a, "--", *b).stdout)
    shown = json.loads(diff("--format", "json", *a, "--", *b).stdout)
    need(shown["a"]["conditions"] == [same.decode()] * 3, shown["a"])
    def change(files, text):
        for file in files:
            data = used_bytes(file)
            need(data.count(same) == 1 and len(text) <= len(same), data.count(same))
            file.write_bytes(data.replace(same, text.ljust(len(same))))
    change(b, b"aslr=? governor=? load=1.49 env=1063")
    need("the sides differ" not in diff(*a, "--", *b).stdout, "unknown, or near")
    for file, text in zip(b, (b"aslr=off load=3.10 env=2000", b"aslr=off load=9.00 env=2000",
                              b"aslr=off load=3.00 env=2064")):
        file.write_bytes(used_bytes(file).replace(b"aslr=? governor=? load=1.49 env=1063 ", text.ljust(37)))
    text = diff(*a, "--", *b).stdout
    for line in ("ASLR on, then off", "load 0.50 to 0.50, then 3.00 to 9.00",
                 "bytes of the environment 1000 to 1000, then 2000 to 2064"):
        need("the sides differ: %s\n" % line in text, line, text)


def case_more_pairs(folder):
    """An UNSURE row says how many more pairs would decide it."""
    a, b = record_moved(folder, [1000, 1100, 1050, 980], [1020, 1130, 1000, 1090])
    text = diff(*a, "--", *b).stdout
    need(re.search(r"(?m)^moved +UNSURE .* about \d+ more pairs for 2\.0 %$", text), text)
    more = int(re.search(r"about (\d+) more", text).group(1))
    text = diff("--threshold", "4", *a, "--", *b).stdout
    less = re.search(r"(?m)^moved +UNSURE .* about (\d+) more pairs? for 4\.0 %$", text)
    need(less and int(less.group(1)) < more, text)
    need("more pair" not in diff(a[0], b[0]).stdout, "of single runs, more of them")


def case_slower(folder):
    """A tenth, one scope of twenty; and the other way round."""
    a, b = record(folder, "a", 5), record(folder, "b", 5, 7)
    text = diff(*a, "--", *b).stdout
    need(names(text, "SLOWER") == ["scope 7"], text)
    need(re.search(r"(?m)^scope 7  +SLOWER .*\+(9|10)\.\d %", text), text)
    need(re.findall(r"(?m)^(\w+).* (?:150|10)  +[-+x]", text) == ["scope"], "self: of the cause alone", text)
    need(re.search(r"(?m)^name .*\nscope 7 ", text), "the worst stands first", text)
    need("\nA and B did not alternate, and the machine may have drifted: intervals are wider" in text, text)
    need(re.search(r"(?m)^these runs can show a change of \d.\d % or more in half of the rows$", text), text)
    text = diff(*b, "--", *a).stdout
    need(names(text, "FASTER") == ["scope 7"] and not names(text, "SLOWER"), text)


def case_real(folder):
    """Results on the real clock that a busy machine cannot change."""
    a = record(folder, "a", 5, program=PROGRAM)
    b = record(folder, "b", 5, 7, program=PROGRAM)
    text = diff(*a, "--", *b).stdout
    need(len(verdicts(text)) == 22, "20 scopes, round, copy", text)
    need(re.search(r"(?m)^machine: an iteration of the reference loop takes \d", text), text)
    text = diff("--metric", "calls", *a, "--", *b).stdout
    need(len(names(text, "SAME")) == 22, text)
    text = diff(*a, "--", *a).stdout
    need(not names(text, "SLOWER") and not names(text, "FASTER"), text)


def case_single(folder):
    """One run a side: what is large, or nothing."""
    a, b = record(folder, "a", 1), record(folder, "b", 1, 7, 5)
    text = diff(*a, *b).stdout
    need("fewer than 3 runs per side" in text, text)
    need(set(names(text, "SLOWER")) <= {"scope 7"}, "a tenth is the least for one run", text)
    need(diff(*a, "--", *b).stdout == text, "two files are two sides")
    same = diff(*a, *a).stdout
    need(not names(same, "SLOWER") and len(names(same, "SAME")) >= 20, same)


def case_counts(folder):
    a, b = record(folder, "a", 3, -1, 1200), record(folder, "b", 3, -1, 600)
    text = diff(*a, "--", *b).stdout
    need(re.search(r"(?m)^copy .* 1200 -> 600 .*bytes 1.2 GB -> 600 MB$", text), text)
    text = diff("--metric", "calls", *a, "--", *b).stdout
    need(names(text, "FEWER") == ["copy"] and "-50.0 %" in text, text)
    text = diff("--metric=bytes", *a, "--", *b).stdout
    need(list(verdicts(text)) == ["copy"] and "600 MB" in text, text)
    gone = record(folder, "c", 3, -1, 0)
    text = diff(*a, "--", *gone).stdout
    need(names(text, "GONE") == ["copy"] and names(text, "NEW") == ["without copies"], text)
    text = diff(*a, *b, "--", *a, *gone).stdout
    need(re.search(r"(?m)^copy .*in 3 of 6 runs of B$", text), text)


def case_metrics(folder):
    a, b = record(folder, "a", 4), record(folder, "b", 4, 7)
    for metric in ("total", "self", "avg"):
        text = diff("-m", metric, *a, "--", *b).stdout
        need("scope 7" in names(text, "SLOWER"), metric, text)
        need(len(names(text, "SLOWER")) == 1, metric, text)
    for metric in ("p50", "p99", "max"):
        text = diff("-m", metric, *a, "--", *b).stdout
        need(set(names(text, "SLOWER")) <= {"scope 7"}, metric, text)
    need("total: 0 slower" in diff("-m", "gpu", *a, "--", *b).stdout)


def case_lost(folder):
    """Scopes that were too deep to be recorded make a line, and what they explain is UNSURE."""
    whole, deep = record(folder, "a", 3, -1, 0), record(folder, "b", 3, -1, -300, 1, "other")
    text = diff(*whole, "--", *deep).stdout
    need("\nscopes were lost, 0 in A and 132 in B (`stint info`): " in text, text)
    need(re.search(r"(?m)^without copies +UNSURE .*scopes were lost$", text), text)
    need({"other", "nested 300"} <= set(names(text, "NEW")), "A lost nothing", text)
    text = diff("--fail-on", "new", *deep, "--", *whole).stdout
    need(re.search(r"(?m)^without copies +UNSURE .*scopes were lost$", text), text)
    need("other" in names(text, "GONE"), "B lost nothing", text)
    shown = json.loads(diff("--format", "json", *whole, "--", *deep).stdout)
    need(shown["b"]["lost"] == 132 and "lost" not in shown["a"], shown["b"])
    many = record(folder, "c", 3, -1, 10)
    need("copy" in names(diff(*many, "--", *deep).stdout, "UNSURE"), "10 calls of 44")
    many = record(folder, "d", 3, -1, 60)
    need("copy" in names(diff("-x", "gone", *many, "--", *deep, rc=1).stdout, "GONE"), "60 calls of 44")


def case_model(folder):
    """Random runs, with zeros and absent scopes: A, B, the change and the numbers of runs are those of
    what `stint export` says of each run."""
    draw, rows = random.Random(20), 0
    for turn in range(12):
        sides = []
        for side in "ab":
            tables = []
            for i in range(draw.choice((1, 3, 5))):
                file = folder / ("%s%d-%d.stint" % (side, turn, i))
                story = [-1, draw.choice((0, 0, 8, 12)), draw.randrange(1000)]
                if draw.random() < 0.7:
                    story += ["moved", draw.choice((0, 0, 1, 40, 50, 5000))]
                run(FAKE, *story, STINT_FILE=file)
                stats = json.loads(run(TOOL, "export", "--to", "json", file).stdout)["stats"]
                tables.append((file, {row["name"]: row for row in stats}))
            sides.append(tables)
        files = [file for file, _ in sides[0]] + ["--"] + [file for file, _ in sides[1]]
        for metric, key in (("total", "total_ns"), ("self", "self_ns"), ("max", "max_ns"), ("calls", "calls")):
            for row in json.loads(diff("--format", "json", "-m", metric, *files).stdout)["rows"]:
                have = [[table[row["name"]][key] for _, table in side if row["name"] in table] for side in sides]
                need([row["runs_a"], row["runs_b"]] == [len(side) for side in have], row, have)
                need((row["verdict"] in ("NEW", "GONE")) == ([] in have), row)
                if metric != "max":
                    have = [side + [0] * (len(tables) - len(side)) for side, tables in zip(have, sides)]
                if [] in have or "p" not in row:
                    continue
                linear = metric == "calls" or min(have[0] + have[1]) <= 0
                a, b = (statistics.fmean(side) if linear else statistics.geometric_mean(side) for side in have)
                need(abs(row["a"] - a) < 0.1 and abs(row["b"] - b) < 0.1, row, have)
                change = row.get("change_percent", math.inf)
                need(a == 0 or abs(change - 100 * (b / a - 1)) < 0.01, row, have)
                need(a or change == (math.inf if b else 0), row, have)
                rows += 1
    need(rows > 500, rows)


# ---- Around them.

def case_exit_status(folder):
    a, b = record(folder, "a", 5), record(folder, "b", 5, 7)
    diff("--fail-on", "slower", *a, "--", *b, rc=1)
    diff(*a, "--", *b, "--fail-on=slower:5", rc=1)
    diff("-x", "slower:15", *a, "--", *b)
    diff("-x", "slower", *b, "--", *a)
    diff("-x", "slower", "-f", "-scope 7", *a, "--", *b)
    diff("-x", "slower", "-t", "20", *a, "--", *b)
    new = record(folder, "c", 5, -1, 10, 1, "new")
    for on, sides, rc in (("new", (a, new), 1), ("new", (new, a), 0), ("gone", (a, new), 0),
                          ("gone", (new, a), 1), ("slower,gone:5", (a, a), 2), ("slower:99,new", (a, new), 1),
                          ("wall", (a, new), 1), ("wall:9999", (a, new), 0), ("wall", (new, a), 0),
                          ("slower", (a, new), 0), ("", (a, a), 2), ("new,", (a, a), 2)):
        diff("-x", on, *sides[0], "--", *sides[1], rc=rc)
    line = "stint: diff: no name matches the filter, or no run has the metric: nothing is compared\n"
    for options in (["-f", "scpoe"], ["-m", "memory"]):
        need(not diff(*options, *a, "--", *a).stderr)
        need(diff("-x", "gone", *options, *a, "--", *a, rc=1).stderr == line)


def case_options(folder):
    a, b = record(folder, "a", 3), record(folder, "b", 3)
    text = diff("--top", "2", *a, "--", *b).stdout
    need(len(verdicts(text)) == 2 and "20 more rows, not shown" in text, text)
    text = diff("--filter", "scope 1*,-scope 1", *a, "--", *b).stdout
    need(len(verdicts(text)) == 10, text)
    text = diff("--format", "markdown", *a, "--", *b).stdout
    table = [line for line in text.split("\n") if line.startswith("|")]
    need(len(table) == 24 and len({line.count("|") for line in table}) == 1, text)
    need(re.fullmatch(r"(\|---:?)+\|", table[1]), table[1])
    need(all(line == line.rstrip() for line in diff(*a, "--", *b).stdout.split("\n")))
    need(diff("--help").stdout.startswith("usage: stint diff"))


HOSTILE = "a<b>&\"c\" 100%, x: =1\n]]> ::error::no"


def case_formats(folder):
    """Each format is parsed by a reader of it, and says what the text says."""
    a, b = record(folder, "a", 5), record(folder, "b", 5, 7)
    want = verdicts(diff(*a, "--", *b).stdout)
    document = json.loads(diff("--format", "json", *a, "--", *b).stdout)
    need(document["schema"] == "stint.diff/1" and document["unit"] == "ns" and
         document["a"]["runs"] == document["b"]["runs"] == 5, document)
    need({row["name"]: row["verdict"] for row in document["rows"]} == want, document)
    worst = document["rows"][0]
    need(worst["name"] == "scope 7" and 9 < worst["change_percent"] < 11 and worst["p"] < 0.01 and
         worst["a"] < worst["b"] and worst["runs_a"] == 5 and worst["calls_a"] == 150, worst)
    rows = list(csv.DictReader(io.StringIO(diff("--format", "csv", *a, "--", *b).stdout)))
    need({row["name"]: row["verdict"] for row in rows} == want, rows)
    need(all(abs(float(row["a"]) - other["a"]) < 0.1 for row, other in zip(rows, document["rows"])))
    for options, failures in ((["-x", "slower:50"], []), ([], ["scope 7"]),
                              (["-x", "slower:5"], ["scope 7"])):
        rc = 1 if options == ["-x", "slower:5"] else 0
        suite = xml.etree.ElementTree.fromstring(
            diff("--format", "junit", *options, *a, "--", *b, rc=rc).stdout)
        failed = [case.get("name") for case in suite if case.find("failure") is not None]
        need(suite.tag == "testsuite" and failed == failures and suite.get("failures") == str(len(failures))
             and suite.get("tests") == str(len(suite)) == "22", options, failed)
        lines = diff("--format", "github", *options, *a, "--", *b, rc=rc).stdout.split("\n")[:-1]
        level = "error" if failures else "warning"
        need(len(lines) == 2 and lines[0].startswith("::%s title=stint diff of scope 7 SLOWER::" % level)
             and lines[1].startswith("::notice title=stint diff::1 SLOWER, "), lines)
    c = record(folder, "c", 5, -1, 10, 1, "new", "5000")
    gate = ["-x", "new,wall", "-m", "calls", *a, "--", *c]
    suite = xml.etree.ElementTree.fromstring(diff("--format", "junit", *gate, rc=1).stdout)
    failed = [(case.get("name"), case.find("failure").get("message")) for case in suite
              if case.find("failure") is not None]
    need([name for name, _ in failed] == ["new", "wall time"] and suite.get("failures") == "2" and
         suite.get("tests") == str(len(suite)) == "24", failed)
    need(re.fullmatch(r"SLOWER: wall time: [\d.]+ -> [\d.]+ ns \(\+\d+\.\d %\), 5 and 5 runs",
                      failed[1][1]), failed)
    text = diff("--format", "github", *gate, rc=1).stdout
    need(re.search(r"(?m)^::error title=stint diff of new NEW::new: - -> 150\.0 calls, 0 and 5 runs$", text) and
         re.search(r"(?m)^::error title=stint diff of wall time SLOWER::wall time: ", text), text)
    nothing = ["-x", "new", "-f", "none", *a, "--", *c]
    suite = xml.etree.ElementTree.fromstring(diff("--format", "junit", *nothing, rc=1).stdout)
    need(suite.get("failures") == suite.get("tests") == str(len(suite)) == "1", suite.attrib)
    need("::error::no name matches" in diff("--format", "github", *nothing, rc=1).stdout)
    wall = json.loads(diff("--format", "json", *a, "--", *c).stdout)
    need(wall["wall"]["verdict"] == "SLOWER" and abs(wall["wall"]["change_percent"] - 100 * (
        wall["b"]["wall_ns"] / wall["a"]["wall_ns"] - 1)) < 0.01, wall["wall"])
    document = json.loads(diff("--format", "json", "-m", "calls", *a, "--", *b).stdout)
    need(document["unit"] == "calls", document)
    need(len(json.loads(diff("--format", "json", "--top", "3", *a, "--", *b).stdout)["rows"]) == 3)


def case_hostile_names(folder):
    """No name ends a string, a tag or a command."""
    a = folder / "a.stint"
    run(FAKE, "-1", "10", "1", HOSTILE, STINT_FILE=a)
    need(HOSTILE in [row["name"] for row in json.loads(diff("--format", "json", a, a).stdout)["rows"]])
    need(HOSTILE in [row["name"] for row in
                     csv.DictReader(io.StringIO(diff("--format", "csv", a, a).stdout, newline=""))])
    suite = xml.etree.ElementTree.fromstring(diff("--format", "junit", a, a).stdout)
    need(HOSTILE.replace("\n", "\\x0a") in [case.get("name") for case in suite], "junit")
    b = folder / "b.stint"
    run(FAKE, "-1", "10", "1", HOSTILE, "50", STINT_FILE=str(b))
    lines = diff("--format", "github", a, b).stdout.split("\n")
    need(len(lines) == 3 and lines[0].startswith("::error title=stint diff of ") and
         "%25%2C x%3A =1%0A" in lines[0] and lines[0].count("::") == 2, lines)


def case_sampled(folder):
    """Scopes with calls that were not timed, in a file of before, are compared by their calls only:
    which of them were timed was the same in every run."""
    files = []
    for name in ("groups", "sampled"):
        recorded = pathlib.Path(__file__).resolve().parent / ("runs/1.0-%s.stint.gz" % name)
        files.append(folder / name)
        files[-1].write_bytes(gzip.decompress(recorded.read_bytes()))
    for a, b in (files, files[::-1]):
        text = diff(a, b).stdout
        for name, calls in (("sampled", 500), ("recursive", 400), ("inside", 1500)):
            line = next(line for line in text.splitlines() if line.startswith(name + " "))
            need(re.search(r" UNSURE .* -  .* -  +-  +%d +calls were not timed$" % calls, line), line)
        need("few calls" in names(text, "SAME"), text)
        rows = json.loads(diff(a, b, "--format", "json").stdout)["rows"]
        row = next(row for row in rows if row["name"] == "sampled")
        need(row["verdict"] == "UNSURE" and "change_percent" not in row, row)
        need(("a" in row) == (a == files[0]) and ("b" in row) == (b == files[0]), row)
        need("sampled" in names(diff(a, b, "--metric", "calls").stdout, "SAME"), text)


def case_usage(folder):
    a = record(folder, "a", 1)[0]
    for arguments, word in [
            ([], "both sides"), ([a], "both sides"), ([a, a, a], "both sides"),
            ([a, "--"], "both sides"), (["--", a], "both sides"),
            (["--nonsense", a, a], "nonsense"),
            (["--metric", "speed", a, a], "--metric"), (["--top", "x", a, a], "--top"),
            (["--threshold", "-1", a, a], "--threshold"), (["-x", "faster", a, a], "--fail-on"),
            (["-x", "slower:x", a, a], "--fail-on"), (["--format", "pdf", a, a], "--format"),
            (["--filter", ",", a, a], "--filter"), ([a, folder / "none"], "none"),
            ([a, folder], "directory"), (["--metric"], "--metric")]:
        done = diff(*arguments, rc=2)
        need(done.stderr.count("\n") == 1 and done.stderr.startswith("stint: ") and
             word in done.stderr and not done.stdout, arguments, done)


def case_damaged(folder):
    """The readable part of a damaged file is compared, with a warning. A file without one is
    refused."""
    a, b = record(folder, "a", 2)
    data = used_bytes(b)
    for path, text in [("abi", data[:8] + b"\7" + data[9:]), ("other", b"nothing at all"),
                       ("head", data[:100]), ("none", b"")]:
        (folder / path).write_bytes(text)
        done = diff(a, folder / path, rc=2)
        need(done.stderr.count("\n") == 1 and not done.stdout, path, done)
    (folder / "cut").write_bytes(data[:len(data) * 9 // 10])
    done = diff(a, folder / "cut", rc=2)
    need(done.stderr.count("\n") == 1 and "cut off" in done.stderr, done)
    need("scope 7" in verdicts(done.stdout), done)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[4]))
