#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of several hosts in one file: how far `stint merge` is from the truth, and what it says.

    align_test.py TOOL CASE

The run files are written here (rank_files.py), on clocks that differ by a known time and run at known
rates.
"""
import json
import random
import re
import sys

from cases import main, need, run
from rank_files import ROLE_NONE, ROLE_WAITING, RankFile, Scope

TOOL = sys.argv[1]
MS, US, S = 10**6, 10**3, 10**9
UNITS = {"ns": 1, "us": US, "ms": MS, "s": S}


class Host:
    """A clock: what it reads at a true time after the start of the job."""

    def __init__(self, name, skew, ppm, base):
        self.name, self.skew, self.rate, self.base = name, skew, 1 + ppm / 1e6, base

    def read(self, true):
        return round(true * self.rate)


def write_rank(folder, rank, host, calls, start, options):
    """calls: (name, true begin, true end)."""
    names = {}
    for name, begin, end in calls:
        names.setdefault(name, []).append(host.read(end) - host.read(begin))
    lost = options.get("lost", {}).get(rank, 0)
    later = host.read(start)
    trace = [(name, host.read(begin) - later, host.read(end) - host.read(begin))
             for name, begin, end in calls][lost:]
    scopes = [Scope(name, durations, options["roles"].get(name, ROLE_NONE))
              for name, durations in names.items()]
    file = RankFile(scopes, rank=rank, size=options["size"], host=host.name, pid=100 + rank,
                    later=later, wall=host.read(calls[-1][2]) - later + 1000, boot=host.name,
                    skew=host.skew, base=host.base, trace=trace, lost=lost)
    return file.write(folder / ("r%d.stint" % rank))


def make_job(folder, hosts, draw, steps=40, roles=None, more=None, lost=None, latest=None):
    """Ranks that work for random times and then meet at a barrier: their files, and their true
    calls. latest: the rank that always comes last."""
    size = len(hosts)
    calls, now = [[] for _ in hosts], [2 * MS + draw.randrange(MS) for _ in hosts]
    start = [t - MS for t in now]
    for _ in range(steps):
        for rank in range(size):
            end = now[rank] + draw.randrange(1, 20 * MS) + (30 * MS if rank == latest else 0)
            calls[rank].append(("work", now[rank], end))
            if more:
                wait = end + draw.randrange(1, 5 * MS)
                calls[rank].append((more, end, wait))
                end = wait
            now[rank] = end
        last = max(now)
        for rank in range(size):
            leave = last + draw.randrange(1, 5 * US)
            calls[rank].append(("barrier", now[rank], leave))
            now[rank] = leave + draw.randrange(US)
    options = {"size": size, "roles": roles or {"barrier": ROLE_WAITING}, "lost": lost or {}}
    files = [write_rank(folder, rank, hosts[rank], calls[rank], start[rank], options)
             for rank in range(size)]
    return files, calls


def merged(folder, files):
    """(rank, name) -> begins of its spans, in nanoseconds; what was said of the clocks."""
    out = folder / "all.stint"
    said = run(TOOL, "merge", "--keep", "threads", *files, "-o", out).stderr
    trace = json.loads(run(TOOL, "export", out, "--to", "chrome").stdout)
    ranks, begins = {}, {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M" and event["name"] == "thread_name":
            ranks[event["tid"]] = int(re.match(r"r(\d+) ", event["args"]["name"]).group(1))
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            begins.setdefault((ranks[event["tid"]], event["name"]), []).append(
                round(event["ts"] * 1000))
    clocks = trace["otherData"].get("clocks", "")
    need(said == ("stint: merge: clocks of %s\n" % clocks if clocks else ""), said, clocks)
    if clocks:
        need(clocks in run(TOOL, "info", out).stdout)
        need(clocks in run(TOOL, "export", out, "--to", "html").stdout)
        perfetto = folder / "all.pftrace"
        run(TOOL, "export", out, "--to", "perfetto", "-o", perfetto)
        need(clocks.encode() in perfetto.read_bytes())
    return begins, clocks


def worst_error(begins, calls, hosts, lost=None):
    """The largest difference of a merged time from the truth, in the clock that it counts in."""
    starts = [host.skew + host.read(rank_calls[0][1]) for host, rank_calls in zip(hosts, calls)]
    first = hosts[starts.index(min(starts))]
    of_first = hosts.index(first)
    shift, worst = None, 0
    for rank in [of_first] + list(range(len(hosts))):
        true = {}
        for name, begin, _ in calls[rank][(lost or {}).get(rank, 0):]:
            true.setdefault(name, []).append(first.read(begin))
        for name, times in true.items():
            found = sorted(begins[rank, name])
            need(len(found) == len(times), rank, name, len(found), len(times))
            if shift is None:
                shift = found[0] - times[0]
            worst = max([worst] + [abs(f - t - shift) for f, t in zip(found, times)])
    return worst


def bound(clocks):
    found = re.search(r", within ([\d.]+) (ns|us|ms|s)", clocks)
    need(found, clocks)
    return float(found.group(1)) * UNITS[found.group(2)]


def skewed_hosts(draw, count=3):
    return [Host("host-%d" % i, draw.choice((-5, 0, 5)) * S + draw.randrange(MS),
                 draw.uniform(-60, 60), draw.randrange(S, 10**15)) for i in range(count)]


def case_barrier(folder):
    """Hosts whose clocks differ by up to 10 s and run apart: a barrier aligns them, and the error
    that is said holds."""
    for seed in range(12):
        draw = random.Random(seed)
        a, b, c = skewed_hosts(draw)
        hosts = [a, a, b, c]
        lost = {1: 6, 3: 20}
        files, calls = make_job(folder, hosts, draw, lost=lost)
        begins, clocks = merged(folder, files)
        error = worst_error(begins, calls, hosts, lost)
        need(re.match(r"2 other hosts by \d+ calls of barrier, within ", clocks), clocks)
        need(error <= bound(clocks) < 15 * MS, seed, error, clocks)
        need(error < 2 * MS, seed, error, clocks)


def case_one_late(folder):
    """One rank always comes last: the others' waits bound its clock from one side only. The leaves
    still agree, and the bound says what is certain."""
    draw = random.Random(5)
    hosts = skewed_hosts(draw)
    files, calls = make_job(folder, hosts, draw, latest=1)
    begins, clocks = merged(folder, files)
    error = worst_error(begins, calls, hosts)
    need(error < 100 * US and error <= bound(clocks), error, clocks)
    run(TOOL, "merge", "--keep", "threads", folder / "all.stint", "-o", folder / "again.stint")
    need(clocks in run(TOOL, "info", folder / "again.stint").stdout)


def case_helper(folder):
    """A process that a rank started, with a scope of the barrier's name, has no part in it."""
    draw = random.Random(9)
    hosts = skewed_hosts(draw)
    files, _ = make_job(folder, hosts, draw)
    _, clocks = merged(folder, files)
    own = RankFile([Scope("barrier", [US] * 50, ROLE_WAITING)], rank=1, size=3, host=hosts[1].name, pid=7,
                   later=S, boot=hosts[1].name, skew=hosts[1].skew, base=hosts[1].base,
                   trace=[("barrier", n * MS, US) for n in range(50)])
    own.header("parent_pid", 101)
    said = run(TOOL, "merge", "--keep", "threads", *files, own.write(folder / "own"), "-o", folder / "all").stderr
    need("clocks of " + clocks in said and "1 file of processes that a rank started" in said, said, clocks)


def case_time_of_day(folder):
    """Without a scope that waits, or one that is no barrier, the time of day is all there is, and
    that is said."""
    draw = random.Random(7)
    hosts = skewed_hosts(draw)
    hosts[1].skew, hosts[2].skew = 5 * S, -5 * S
    for roles in ({"none": ROLE_WAITING}, {"recv": ROLE_WAITING}):
        files, calls = make_job(folder, hosts, draw, roles=roles, more="recv")
        begins, clocks = merged(folder, files)
        need(clocks == "2 other hosts by the time of day, error not known", clocks)
        need(worst_error(begins, calls, hosts) > 4 * S)


def case_other_waits(folder):
    """A scope that waits for something else does not spoil what the barrier says."""
    draw = random.Random(9)
    hosts = skewed_hosts(draw)
    files, calls = make_job(folder, hosts, draw, more="recv",
                            roles={"recv": ROLE_WAITING, "barrier": ROLE_WAITING})
    begins, clocks = merged(folder, files)
    error = worst_error(begins, calls, hosts)
    need("calls of barrier" in clocks and error <= bound(clocks) < 15 * MS, error, clocks)


def case_neighbours(folder):
    """A scope that waits for some ranks only, and never for the one that is always late: its calls
    could be those of a barrier on a wrong clock, but the ranks do not leave them together."""
    draw = random.Random(15)
    hosts = skewed_hosts(draw)
    size, steps, calls = 3, 40, []
    begins = [[2 * MS + 100 * MS * step for step in range(steps)] for _ in range(size)]
    for rank in range(size):
        calls.append([])
        for begin in begins[rank]:
            end = begin + 5 * MS + (draw.randrange(10 * MS, 12 * MS) if rank == 1 else 0)
            halo = end + 5 * MS + draw.randrange(100 * US)
            calls[rank] += [("work", begin, end), ("halo", end, halo)]
    for step in range(steps):
        last = max(calls[rank][3 * step + 1][2] for rank in range(size))
        for rank in range(size):
            here = calls[rank]
            here.insert(3 * step + 2, ("barrier", here[3 * step + 1][2],
                                       last + draw.randrange(1, 5 * US)))
    options = {"size": size, "roles": {"halo": ROLE_WAITING, "barrier": ROLE_WAITING}}
    files = [write_rank(folder, rank, hosts[rank], calls[rank], MS, options)
             for rank in range(size)]
    found, clocks = merged(folder, files)
    error = worst_error(found, calls, hosts)
    need("calls of barrier" in clocks and error <= bound(clocks) and error < 100 * US, error,
         clocks)


def case_hostile(folder):
    """Damaged files of two hosts: an error or a merged file, and no crash."""
    draw = random.Random(13)
    hosts = skewed_hosts(draw, 2)
    files, _ = make_job(folder, hosts, draw, steps=8)
    whole = files[1].read_bytes()
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(draw.randrange(1, 6)):
            # Most of the file is the header's tables: half of the damage is after them.
            at = draw.randrange(draw.choice((600, len(data))))
            data[at] = draw.choice((0, 1, 0x7f, 0x80, 0xff, draw.randrange(256)))
        files[1].write_bytes(data)
        done = run(TOOL, "merge", "--keep", "threads", *files, "-o", folder / "all.stint", rc=None)
        need(done.returncode in (0, 2), done)
        need("runtime error" not in done.stderr and "Sanitizer" not in done.stderr, done.stderr)


def case_one_host(folder):
    """Ranks of one boot have one clock: nothing is said, and nothing is wrong."""
    draw = random.Random(3)
    host = Host("host", 5 * S, 20, 10**12)
    files, calls = make_job(folder, [host] * 4, draw)
    begins, clocks = merged(folder, files)
    need(not clocks and worst_error(begins, calls, [host] * 4) <= 2, clocks)


if __name__ == "__main__":
    sys.exit(main(globals(), sys.argv[2]))
