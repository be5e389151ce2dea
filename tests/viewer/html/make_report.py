# SPDX-License-Identifier: Apache-2.0
"""Reports with made-up data, for the browser tests: the page as the exporter joins it.

    make_report.py PAGE KIND -o FILE
    make_report.py PAGE all --program HTML_RUN -o FOLDER

PAGE is gen.py's report.html. `all` makes every kind, and of HTML_RUN those that the exporter wrote.
The same every time."""

import argparse
import json
import os
import random
import subprocess
import sys

MS = 1000000
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=\"window.hacked = 1\">",
    "\u2028\u2029line ends", "\u202eright to left", "quotes \" ' ` \\ \\u0041",
    "${window.hacked = 1}",
    "__proto__", "constructor", "a\u0000b\tc\nd", "<!-- <script>", "\ufffd\ufffd cut", "",
    "\u65e5\u672c\u8a9e \u00e9\u00df", "n" * 900, "&lt;b&gt;&amp;", "javascript:window.hacked = 1",
]


def about(**more):
    out = {"program": "train", "command": "./train --batch 32 --layers 6 data/part-0007.bin",
           "host": "node17", "cpu": "AMD EPYC 9654 96-Core Processor", "compiler": "gcc 12.2.0",
           "clock": "TSC 2.400 GHz", "gpu": "NVIDIA H100, events", "pid": 41234,
           "start": "2025-03-14T09:26:53Z", "wall_ns": 12345678901, "state": "ended",
           "threads": 4, "cpus": 96, "warning": ""}
    out.update(more)
    return out


def histogram(rng, calls, mean, tail):
    """Triples low, high, count of a log-normal shape, 16 buckets an octave."""
    counts = {}
    for _ in range(min(calls, 4000)):
        value = int(mean * rng.lognormvariate(0, 0.18))
        if rng.random() < tail:
            value = int(value * rng.uniform(2, 30))
        octave = max(0, value.bit_length() - 5)
        low = value >> octave << octave
        counts[(low, low + (1 << octave))] = counts.get((low, low + (1 << octave)), 0) + 1
    out = []
    for (low, high), count in sorted(counts.items()):
        out += [low, high, count * calls // min(calls, 4000)]
    return out


def percentile(flat, share):
    total, seen = sum(flat[2::3]), 0
    for i in range(0, len(flat), 3):
        seen += flat[i + 2]
        if seen >= total * share:
            return (flat[i] + flat[i + 1]) // 2
    return 0


def stat(rng, name, calls, mean, self_share=1.0, gpu=0.0, set_name="default", **more):
    flat = histogram(rng, calls, mean, 0.01)
    out = {"name": name, "set": set_name, "calls": calls, "samples": calls,
           "total_ns": calls * mean, "self_ns": int(calls * mean * self_share),
           "min_ns": flat[0], "avg_ns": mean, "max_ns": flat[-2],
           "p50_ns": percentile(flat, .5), "p90_ns": percentile(flat, .9),
           "p99_ns": percentile(flat, .99), "first_ns": flat[-2],
           "stddev_ns": mean // 7, "threads": 1 + calls % 4,
           "histogram": flat}
    if gpu:
        side = histogram(rng, calls, int(mean * gpu), 0.002)
        out["gpu"] = {"calls": calls, "total_ns": int(calls * mean * gpu), "min_ns": side[0],
                      "avg_ns": int(mean * gpu), "max_ns": side[-2],
                      "p50_ns": percentile(side, .5), "p99_ns": percentile(side, .99),
                      "histogram": side}
    out.update(more)
    return out


def small(rng):
    steps = 400
    plan = [  # name, depth, calls a step, mean, gpu share
        ("main", 0, 0, 12300 * MS, 0), ("train.step", 1, 1, 29 * MS, 0),
        ("batch.load", 2, 1, 2 * MS, 0), ("file.read", 3, 4, 300000, 0),
        ("decode", 3, 4, 140000, 0), ("forward", 2, 1, 11 * MS, 1.4),
        ("attention", 3, 6, 900000, 1.1), ("softmax", 4, 6, 210000, 1.2),
        ("matmul", 4, 18, 28000, 2.5), ("layer_norm", 3, 12, 90000, .8),
        ("feed_forward", 3, 6, 600000, 1.3), ("matmul", 4, 12, 31000, 2.6),
        ("backward", 2, 1, 13 * MS, 1.5), ("attention.grad", 3, 6, 1100000, 1.2),
        ("matmul", 4, 24, 29000, 2.5), ("feed_forward.grad", 3, 6, 800000, 1.2),
        ("all_reduce", 2, 1, 900000, 0), ("optimizer", 2, 1, 1200000, .9),
        ("checkpoint.write", 1, 0, 90 * MS, 0),
    ]
    tree, stack, flat = [], [], {}
    for name, depth, per_step, mean, gpu in plan:
        calls = max(1, per_step * steps)
        del stack[depth:]
        tree.append({"name": name, "set": "default", "parent": stack[-1] if stack else -1,
                     "calls": calls, "total_ns": calls * mean, "self_ns": calls * mean,
                     "open_ns": 0})
        if stack:
            tree[stack[-1]]["self_ns"] -= calls * mean
        stack.append(len(tree) - 1)
        flat.setdefault(name, []).append((len(tree) - 1, mean, gpu))
    stats = []
    for name, nodes in flat.items():
        calls = sum(tree[i]["calls"] for i, _, _ in nodes)
        mean = sum(tree[i]["total_ns"] for i, _, _ in nodes) // calls
        own = sum(max(0, tree[i]["self_ns"]) for i, _, _ in nodes)
        more = {"info": "batch=32 part=7"} if name == "batch.load" else {}
        if name == "matmul":
            more = {"bytes": 1 << 40, "flops": 10**14, "bytes_per_s": 1830000000000,
                    "flops_per_s": 412000000000000}
        stats.append(stat(rng, name, calls, mean, own / (calls * mean), nodes[0][2], **more))
    stats.append(stat(rng, "idle", 120, 3 * MS, set_name="io"))
    stats.append(stat(rng, "clock", 1, 42, histogram=[]))
    stats.sort(key=lambda s: -s["total_ns"])
    names = sorted(flat) + ["epoch", "loss", "queue depth", "kernel",
                            "memory"]
    return {"run": about(), "stats": stats, "tree": tree, "lanes": lanes(rng, names),
            "names": names, "losses": [{"count": 3, "text": "scopes left open: abandoned"}],
            "cost": {"calls": sum(s["calls"] for s in stats), "ns_per_call": 11.5}, "thinned": ""}


def lanes(rng, names):
    out = []
    at = {name: i for i, name in enumerate(names)}
    spans, marks, values, gpu = [], [], [], []
    t = 20 * MS
    spans += [0, 12300 * MS, at["main"], 0]
    for step in range(400):
        start, inside = t, t + 20000
        here = []
        for name, took in (("batch.load", 2), ("forward", 11), ("backward", 13),
                           ("all_reduce", .9), ("optimizer", 1.2)):
            length = int(took * MS * rng.lognormvariate(0, .1))
            here += [inside, length, at[name], 2]
            if name in ("forward", "backward"):
                part = inside + 5000
                for _ in range(6):
                    piece = int(length / 6.4)
                    here += [part, piece, at["attention" if name == "forward" else
                                             "attention.grad"], 3]
                    here += [part + 1000, piece // 3, at["matmul"], 4]
                    gpu += [part + 40000, int(piece * 1.02), at["matmul"], 0]
                    part += int(piece * 1.05)
            inside += length + 8000
        spans += [start, inside - start, at["train.step"], 1] + here
        values += [inside, at["loss"], round(3.2 * .994 ** step + rng.random() * .2, 4)]
        if step % 100 == 0:
            marks += [start, at["epoch"]]
        t = inside + 40000
    out.append({"name": "thread 41234 train", "stream": False, "overwritten": 0, "spans": spans,
                "marks": marks, "values": values})
    for worker in range(2):
        spans, values, t = [], [], worker * MS
        while t < 12000 * MS:
            length = int(rng.expovariate(1 / (3 * MS))) + 20000
            spans += [t, length, at["file.read"], 0, t + length // 4, length // 2, at["decode"], 1]
            values += [t, at["queue depth"], rng.randrange(8)]
            t += length + int(rng.expovariate(1 / (2 * MS)))
        out.append({"name": "thread %d reader" % (41235 + worker), "stream": False,
                    "overwritten": 1200 * worker, "spans": spans, "marks": [], "values": values})
    out.append({"name": "GPU 0 stream 7", "stream": True, "overwritten": 0, "spans": gpu,
                "marks": [], "values": []})
    memory = []
    for step in range(60):
        memory += [step * 200 * MS, at["memory"], 2 << 30 if step % 3 else 3 << 29]
    out.append({"name": "GPU 0 memory", "stream": True, "overwritten": 0, "memory": 1, "spans": [],
                "marks": [], "values": memory})
    return out


def hostile(rng):
    tree = [{"name": name, "set": HOSTILE[0], "parent": i - 1, "calls": 1,
             "total_ns": (len(HOSTILE) - i) * MS, "self_ns": MS, "open_ns": 0}
            for i, name in enumerate(HOSTILE)]
    stats = [stat(rng, name, 10, (len(HOSTILE) - i) * MS, set_name=HOSTILE[i % 2], info=HOSTILE[1])
             for i, name in enumerate(HOSTILE)]
    spans = []
    for i in range(len(HOSTILE)):
        spans += [i * MS, 40 * MS - 2 * i * MS, i, i]
    ranks = with_ranks(rng, 12, 20, (HOSTILE[0], HOSTILE[1]), HOSTILE[3])
    for row in ranks["ranks"]["names"] + ranks["ranks"]["waiting"]:
        row.update({key: HOSTILE[1] for key in row if key.endswith("_host")})
    for at, heat in enumerate(ranks["heat"]):
        heat["rows"] = [[HOSTILE[at], HOSTILE[1]] for _ in heat["rows"]]
    return {"ranks": ranks["ranks"], "heat": ranks["heat"],
            "run": about(program=HOSTILE[0], command=HOSTILE[1], host=HOSTILE[2], cpu=HOSTILE[3],
                         warning=HOSTILE[0], wall_ns=50 * MS), "stats": stats, "tree": tree,
            "lanes": [{"name": HOSTILE[0], "stream": False, "overwritten": 0, "spans": spans,
                       "marks": [MS, 0], "values": [MS, 1, 1.5, 2 * MS, 1, -3e300]}],
            "names": HOSTILE, "losses": [{"count": 1, "text": HOSTILE[0]}],
            "cost": {"calls": 10}, "thinned": HOSTILE[1]}


def big(rng):
    """A report at the exporter's limits: 20000 rows, 20000 nodes, 200000 spans."""
    stats = [stat(rng, "ns%d::scope_%05d" % (i % 37, i), 3, 40000000 // (i + 1) + 100,
                  histogram=[100, 200, 3] if i < 1000 else []) for i in range(20000)]
    tree = []
    for i in range(20000):
        parent = -1 if i < 20 else (i - 20) // 6
        tree.append({"name": stats[i]["name"], "set": "default", "parent": parent, "calls": 3,
                     "total_ns": 3000 * MS >> min(20, i.bit_length()), "self_ns": 1000,
                     "open_ns": 0})
    out, names = [], [stats[i]["name"] for i in range(500)]
    for lane in range(16):
        spans, t = [], 0
        for i in range(12500):
            length = int(rng.expovariate(1 / 600000)) + 100
            spans += [t, length, rng.randrange(500), i % 4]
            t += length // 2 if i % 4 < 3 else length * 2
        out.append({"name": "thread %d" % lane, "stream": lane > 11, "overwritten": 0,
                    "spans": spans, "marks": [], "values": []})
    return {"run": about(threads=16), "stats": stats, "tree": tree, "lanes": out, "names": names,
            "losses": [], "cost": {"calls": 1000000},
            "thinned": "Shown: the longest 200000 of 1000000 spans, 20000 of 100000 call paths."}


def empty(_rng):
    return {"run": about(gpu="", threads=0), "stats": [], "tree": [], "lanes": [], "names": [],
            "losses": [], "cost": {"calls": 0}, "thinned": ""}


def killed(rng):
    data = small(rng)
    data["run"] = about(state="killed", warning="the file ends in the middle of a trace ring")
    for name, open_ns in (("main", 12300 * MS), ("train.step", 900 * MS), ("batch.load", 890 * MS)):
        node = next(n for n in data["tree"] if n["name"] == name)
        node["open_ns"] = open_ns
    data["tree"][1]["total_ns"] -= 900 * MS
    data["tree"][0]["total_ns"] = data["tree"][0]["calls"] = 0
    data["lanes"] = []
    return data


def threads(rng):
    """A report of four threads, one inside an open scope: rows per thread, steps, totals over the
    wall time."""
    data = small(rng)
    wall = data["run"]["wall_ns"]
    data["run"].update(steps=400, state="killed")
    data["threads"] = [{"tid": 41234 + i, "name": name}
                       for i, name in enumerate(("train", "reader", "reader", ""))]
    step = stat(rng, "stint_step", 399, 30 * MS, interval=1, threads=1)
    overlapping = stat(rng, "request", 60, wall // 20, interval=1, threads=1)
    busy = stat(rng, "file.decode", 4000, wall // 1000, threads=4)
    del step["self_ns"], overlapping["self_ns"]
    opened = stat(rng, "flush", 3, 20 * MS, threads=1, open_ns=500 * MS, open_all_ns=700 * MS)
    data["stats"] += [step, overlapping, busy, opened]
    data["stats"].sort(key=lambda s: -s["total_ns"])
    data["per_thread"] = [
        dict({key: value for key, value in one.items() if key != "histogram"}, thread=at,
             threads=1, calls=one["calls"] // one["threads"],
             total_ns=one["total_ns"] // one["threads"])
        for one in data["stats"] for at in range(one["threads"])]
    return data


def interval(rng):
    """A page of `stint export --follow`: the last interval of the scopes that were called in it."""
    data = small(rng)
    data["run"].update(interval_ns=10000 * MS)
    for one in data["stats"]:
        if one["name"] == "matmul":
            one["last"] = {"calls": 1234, "p50_ns": 3 * MS, "p90_ns": 5 * MS, "p99_ns": 7 * MS}
    return data


def in_digits(levels):
    """Levels of a heat map, two digits of 64 each."""
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(digits[level // 64] + digits[level % 64] for level in levels)


def rank_who(prefix, rank):
    return {prefix + "_rank": rank, prefix + "_host": "node%d" % (rank // 4),
            prefix + "_pid": 100 + rank}


def rank_heat(rng, name, ranks, windows, late):
    """A map where `late` is by far the last rank; nothing is known of its column 3."""
    levels = [4095 if window == 3 else 4094 if rank == late else rng.randrange(800)
              for window in range(windows) for rank in range(ranks)]
    return {"name": name, "set": "default", "window_steps": 2, "steps": 2 * windows - 1,
            "windows": windows, "ranks_each": 1, "most_ns": 4094000,
            "rows": [["rank %d" % rank, "node%d" % (rank // 4)] for rank in range(ranks)],
            "levels": in_digits(levels)}


def rank_wait(name, late, alone_ppm, ranks, windows):
    last = dict({"windows": windows - 2, "alone": windows - 5, "cost_ns": 5 * MS},
                **rank_who("last", late))
    verdict = {"is_cause": False, "no_cause": "no rank is last more often than by chance"}
    if alone_ppm >= 800000:
        verdict = {"is_cause": True, "causes": [{"rank": late, "host": "node%d" % (late // 4), "pid": 1},
                                                {"host": "node9", "pid": 7}],
                   "covered_ppm": 934567}
    return dict({"name": name, "set": "default", "ranks": ranks, "calls_per_rank": 100,
                 "total_ns": 9 * MS, "cost_ns": 5 * MS, "first_gap_ns": 4000,
                 "second_gap_ns": 3000, "last_gap_ns": 2000, "last_wait_ns": 70000,
                 "alone_ppm": alone_ppm,
                 "longer_in": [{"name": "solve", "set": "default", "self_ns": 3 * MS, "by_ns": 2 * MS},
                               {"name": "outside scopes", "set": "", "self_ns": 7 * MS,
                                "by_ns": 6 * MS}],
                 "by_steps": {"steps": 2 * windows - 1, "window_steps": 2, "ranks": ranks, "by_calls": False,
                              "ranks_without": 1, "compared": windows - 1, "not_compared": 1,
                              "last": [last], "windows": [{"first_step": 2 * i} for i in
                                                          range(windows)]}},
                **verdict, **rank_who("last", late))


def with_ranks(rng, ranks, windows, names=("barrier", "allreduce"), first_name="matmul"):
    data = small(rng)
    rows = [dict({"name": first_name if i == 0 else "name %d" % i, "set": "default",
                  "ranks": ranks, "calls": 70, "total_ns": 8 * MS, "min_ns": MS, "mean_ns": 2 * MS,
                  "median_ns": 3 * MS, "max_ns": 4 * MS, "stddev_ns": 5000, "lost_ns": 6 * MS,
                  "imbalance_ppm": 123456}, **rank_who("min", 1), **rank_who("max", ranks - 1))
            for i in range(130)]
    rows[1].update(name="name 2", set="other")
    data["ranks"] = {"count": ranks, "names": rows, "waiting": [
        rank_wait(names[0], 5, 912345, ranks, windows), rank_wait(names[1], 2, 412345, ranks, windows)]}
    data["heat"] = [rank_heat(rng, names[0], ranks, windows, 5),
                    rank_heat(rng, names[1], ranks, windows, 2)]
    return data


def ranked(rng):
    return with_ranks(rng, 12, 20)


def many_ranks(rng):
    return with_ranks(rng, 4096, 256)


KINDS = {"small": small, "ranks": ranked, "many_ranks": many_ranks, "interval": interval, "threads": threads, "hostile": hostile, "big": big, "empty": empty, "killed": killed}


def block(data):
    """The data as the exporter writes it: plain ASCII, '<' escaped."""
    data = dict({"schema": "stint-html-1"}, **data)
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def main(argv):
    parser = argparse.ArgumentParser(description="Makes a report with made-up data.")
    parser.add_argument("page")
    parser.add_argument("kind", choices=sorted(KINDS) + ["broken", "all"])
    parser.add_argument("--program")
    parser.add_argument("-o", metavar="FILE", required=True)
    args = parser.parse_args(argv)
    if args.kind != "all":
        make(args.page, args.kind, args.o)
        return 0
    for kind in sorted(KINDS) + ["broken"]:
        make(args.page, kind, os.path.join(args.o, kind + ".html"))
    for run in ("full", "zero", "big", "sent"):
        with open(os.path.join(args.o, "run-%s.html" % run), "wb") as file:
            subprocess.run([args.program, run], stdout=file, check=True)
    return 0


def make(page, kind, out):
    with open(page, encoding="ascii") as file:
        before, after = file.read().split("@DATA@")
    cut = kind == "broken"
    text = block(KINDS["small" if cut else kind](random.Random(4)))
    with open(out, "w", encoding="ascii") as file:
        file.write(before + (text[:len(text) // 2] if cut else text) + after)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
