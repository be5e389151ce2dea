#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stint trend as its users run it, on made series of runs.

    trend_test.py TOOL PROGRAM CASE

PROGRAM is trend_program.c: its scopes take what its arguments say, on a clock that only it
advances. The start of each run is set in its header.
"""
import html.parser
import json
import os
import random
import re
import subprocess
import sys
import time

from cases import LIMIT, environment, field, header_fields, main, need, used_bytes, with_field

TOOL, PROGRAM = sys.argv[1:3]
DAY_NS = 24 * 3600 * 10**9
FIRST_NS = 1767225600 * 10**9  # 2026-01-01
HEADER = header_fields()


def run(*command, **more):
    return subprocess.run([str(c) for c in command], env=environment(**more), timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          check=False)


def trend(*arguments, rc=0):
    done = run(TOOL, "trend", *arguments)
    need(done.returncode == rc, "expected rc %d of %s" % (rc, arguments), done)
    return done


def start_at(file, when_ns):
    """Another time of day in the header, in all its stamps."""
    with file.open("r+b") as run_file:
        run_file.seek(HEADER["start"][0] + 16)
        run_file.write(when_ns.to_bytes(8, "little"))


def record(folder, name, day, scopes, label=None):
    """A run of these scopes (name -> ns), on that day."""
    file = folder / (name + ".stint")
    words = [str(w) for pair in scopes.items() for w in pair]
    more = {"STINT_LABEL": label} if label else {}
    done = run(PROGRAM, *words, STINT_FILE=file, **more)
    need(done.returncode == 0 and file.exists(), done)
    file.write_bytes(used_bytes(file))
    start_at(file, FIRST_NS + int(day * DAY_NS))
    return file


def series(folder, days, times, label=None):
    """A run per day: times(day, noise) -> {name: ns}, noise() is a factor near 1."""
    source = random.Random(4)
    files = []
    for day in range(days):
        scopes = times(day, lambda: source.uniform(0.99, 1.01))
        files.append(record(folder, "run%03d" % day, day, {k: int(v) for k, v in scopes.items()},
                            label(day) if label else None))
    return files


def step(day, noise):
    return {"solve": 1e6 * noise() * (1.03 if day >= 24 else 1), "read": 2e6 * noise()}


def case_step(folder):
    """A step at run 25 of 40 is one line, of the scope that has it."""
    files = series(folder, 40, step)
    text = trend(folder).stdout
    need(re.search(r"(?m)^solve +\+[23]\.\d %  1\.\d+ ms -> 1\.\d+ ms  from run 2[456] \(2026-01-2\d [\d:]+ \+0000\), p \S+$",
                   text), text)
    need("read" not in text.split("\n\n", 1)[1], text)
    need(text == trend(*files).stdout, "a folder is its files")
    shown = json.loads(trend("--json", folder).stdout)
    need(shown["schema"] == "stint.trend/1" and len(shown["points"]) == 40, shown)
    one = [s for s in shown["series"] if s["name"] == "solve"][0]
    need(len(one["self_ns"]) == 40 and len(one["changes"]) == 1, one)
    need(24 <= one["changes"][0]["run"] <= 26 and 2 < one["changes"][0]["change_percent"] < 4, one)
    need(shown["points"][24]["start_ns"] == FIRST_NS + 24 * DAY_NS, shown["points"][24])


def case_moved(folder):
    """A time that moved from one scope to another is one line; a change that was undone is
    marked."""
    def times(day, noise):
        moved = 4e5 if day >= 20 else 0
        bump = 1.2 if 10 <= day < 30 else 1
        return {"parse": (1e6 - moved) * noise(), "lex": (1e6 + moved) * noise(),
                "write": 3e6 * noise() * bump}
    series(folder, 40, times)
    text = trend(folder).stdout
    need(re.search(r"(?m)^moved: parse -> lex  -\S+ us, \+\S+ us  from run (20|21|22) ", text), text)
    need(not re.search(r"(?m)^(parse|lex) ", text), text)
    need(re.search(r"(?m)^write +\+\d+\.\d % .* from run 11 .*, went away at run 31$", text), text)
    shown = json.loads(trend("--json", folder).stdout)
    need([(m["from"], m["to"]) for m in shown["moved"]] == [("parse", "lex")], shown["moved"])


def case_commit(folder):
    """Labels are shown; --by commit makes one place of the runs of a label."""
    series(folder, 36, lambda day, noise: {"solve": 1e6 * noise() * (1.1 if day >= 18 else 1)},
           lambda day: "commit%d" % (day // 3))
    text = trend("--by", "commit", folder).stdout
    need("36 runs of 12 commits" in text, text)
    need(re.search(r"(?m)^solve .* from run 7 \(.*, commit6\)", text), text)
    need(re.search(r"(?m)^solve .* from run 19 \(.*, commit6\)", trend(folder).stdout))
    info = run(TOOL, "info", folder / "run000.stint").stdout
    need(re.search(r"(?m)^conditions +aslr=on governor=\? load=0\.50 env=1000 label=commit0$", info), info)
    kept = folder / "kept.stint"
    done = run(TOOL, "run", "--label", "a b=c", "--file", kept, "--report", "none", "--", PROGRAM,
               "solve", 1000)
    need(done.returncode == 0 and " label=a b=c\n" in run(TOOL, "info", kept).stdout, done)
    record(folder, "none", 50, {"solve": 10**6})
    kept.unlink()
    done = trend("--by", "commit", folder, rc=2)
    need("trend: 1 of 37 runs has no label (stint run --label, or STINT_LABEL)" in done.stderr, done)


def case_order(folder):
    """The order of the files does not matter, nor that of equal time stamps."""
    files = series(folder, 40, step)
    text = trend(*files).stdout
    shuffled = files[:]
    random.Random(1).shuffle(shuffled)
    need(trend(*shuffled).stdout == text and trend(*reversed(files)).stdout == text)
    start_at(files[7], FIRST_NS + 8 * DAY_NS)
    done = trend(*files)
    need("trend: 1 run began at the same time as another one: they are in the order of their paths"
         in done.stderr, done)
    need(trend(*shuffled).stdout == done.stdout, "equal times")


def case_faults(folder):
    """A set of files that is not a series is refused, and a file that is not a run is left out;
    each has a line."""
    files = series(folder, 12, step)
    done = trend(*files[:7], rc=2)
    need("trend: 7 runs: at least 8 are needed to find a change" in done.stderr and not done.stdout, done)
    done = trend(*files, files[3])
    need("run003.stint is the same run as " in done.stderr and "12 runs" in done.stdout, done)
    other = folder / "other"
    data = used_bytes(files[0])
    need(data.count(b"Test CPU") == 1)
    other.write_bytes(data.replace(b"Test CPU", b"Best CPU"))
    done = trend(*files[1:], other, rc=2)
    need("trend: runs of different machines are no series: 1 of 12 are of 2 x Best CPU" in done.stderr, done)
    killed = folder / "killed"
    killed.write_bytes(with_field(with_field(with_field(data, (HEADER["end"][0], 8), 0),
                                             (HEADER["end"][0] + 8, 8), 0), (HEADER["end"][0] + 16, 8), 0))
    done = trend(*files, killed, rc=2)
    need("its program has not ended, or was killed: left out" in done.stderr and "12 runs" in done.stdout, done)
    merged = folder / "merged"
    need(run(TOOL, "merge", killed, files[0], "-o", merged).returncode == 0)
    done = trend(*files, merged, rc=2)
    need("its program has not ended, or was killed: left out" in done.stderr, done)
    empty = folder / "empty"
    need(run(PROGRAM, STINT_FILE=empty).returncode == 0)
    text = folder / "text"
    text.write_text("no run")
    done = trend(*files, text, folder / "nothing", rc=2)
    need("12 runs" in done.stdout and len(done.stderr.splitlines()) == 2, done)
    need("run files or a folder with them are missing" in trend(rc=2).stderr)
    nothing = folder / "empty-folder"
    nothing.mkdir()
    need("trend: 0 runs: at least 8" in trend(nothing, rc=2).stderr)
    with (folder / "cut").open("wb") as cut:
        cut.write(used_bytes(files[1])[:-128])
    done = trend(*files, folder / "cut", rc=2)
    need("12 runs" in done.stdout and "cut" in done.stderr, done)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = {}
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1

    def handle_data(self, data):
        self.text += data


def case_page(folder):
    """A chart per scope, and one of the wall time; names cannot end a tag."""
    bad = "<script>alert(1)</script>&\"'"
    series(folder, 20, lambda day, noise: {bad: 1e6 * noise() * (1.2 if day >= 9 else 1), "b": 1e5 * noise()},
           lambda day: "</title>%d" % day)
    out = folder / "page.html"
    trend("--html", out, folder)
    page = Page()
    page.feed(out.read_text())
    need(page.tags["svg"] == 3 and "script" not in page.tags, page.tags)
    need(bad in page.text and "from run 10 (" in page.text and "</title>9" in page.text, page.text)
    need("http" not in out.read_text(), "the page loads nothing")


def case_speed(folder):
    """1 000 runs of 200 scopes take seconds of the processor, not minutes."""
    record(folder, "first", 0, {"scope %d" % i: 1000 * (i + 1) for i in range(200)})
    data = used_bytes(folder / "first.stint")
    (folder / "first.stint").unlink()
    for day in range(1000):
        file = folder / ("run%d.stint" % day)
        file.write_bytes(data)
        start_at(file, FIRST_NS + day * DAY_NS)
    before = os.times()
    began = time.monotonic()
    text = trend(folder).stdout
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    print("%.1f s of the processor, %.1f s in all" % (used, time.monotonic() - began))
    need("1000 runs" in text and "0 of 201 series changed" in text, text)
    need(used <= 60, "the goal is 10 s; sanitizers take longer", used)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[3]))
