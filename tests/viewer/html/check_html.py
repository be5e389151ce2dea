# SPDX-License-Identifier: Apache-2.0
"""Compares the data that the exporter puts into a page with the run.

    check_html.py PROGRAM RUN   (PROGRAM: html_run)
"""

import json
import re
import subprocess
import sys

PAGE = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)
LIMIT = 150 * 1024  # the page without its data
SET = "GlobalStatInfo"  # the set of timers without one
checks = 0


def check(held, what, *values):
    global checks
    checks += 1
    if not held:
        sys.exit("failed: %s %s" % (what, " ".join(repr(value) for value in values)))


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def check_stats(data):
    totals = [stat["total_ns"] for stat in data["stats"]]
    check(totals == sorted(totals, reverse=True), "largest total first")
    for stat in data["stats"]:
        for key, value in stat.items():
            check(key in ("name", "set", "info", "bound", "gpu", "histogram") or whole(value), key, value)
        check(("stddev_ns" in stat) == ("p50_ns" in stat), "both are from the histogram", stat)
        for side in (stat, stat.get("gpu", {})):
            check_histogram(side.get("histogram", []), stat["name"])


def check_histogram(flat, name):
    check(len(flat) % 3 == 0, "triples", name)
    end = 0
    for low, high, count in zip(flat[::3], flat[1::3], flat[2::3]):
        check(end <= low < high and count > 0, "buckets in order", name, low, high, count)
        end = high


def check_tree(tree):
    """Parents precede their children, so that they exist when a child names them; a folded path
    counts the time of the uppermost nodes in it. Returns the time of all."""
    inside = [0] * (len(tree) + 1)
    for at in range(len(tree) - 1, -1, -1):
        node = tree[at]
        check(-1 <= node["parent"] < at, "parent before child", at, node["parent"])
        inside[node["parent"]] += max(node["total_ns"] + node["open_ns"], inside[at])
    return inside[-1]


def check_lanes(data):
    for lane in data["lanes"]:
        spans = lane["spans"]
        check(len(spans) % 4 == 0 and len(lane["marks"]) % 2 == 0 and len(lane["values"]) % 3 == 0,
              "whole events", lane["name"])
        check(spans[::4] == sorted(spans[::4]), "spans by start", lane["name"])
        for index in spans[2::4] + lane["marks"][1::2] + lane["values"][1::3]:
            check(index < len(data["names"]), "a name for each event", index)
    return [sum(len(lane[key]) // size for lane in data["lanes"])
            for key, size in (("spans", 4), ("marks", 2), ("values", 3))]


def check_big(data, text):
    spans, marks, values = check_lanes(data)
    check(len(text) < 20e6, "size", len(text))
    check(len(data["stats"]) == 20000, "rows", len(data["stats"]))
    check(150000 < spans <= 220000, "spans", spans)
    check(10000 < marks <= 25000 and 10000 < values <= 25000, "marks and values", marks, values)
    check(1000 < len(data["tree"]) <= 40001, "paths", len(data["tree"]))
    folded = sum(node.get("folded", 0) for node in data["tree"])
    shown = sum("folded" not in node for node in data["tree"])
    check(folded + shown == 100000, "no path is lost", folded, shown)
    # 6 roots of a sixth of 900 ms each: folding takes no time away.
    check(check_tree(data["tree"]) == 6 * (900000000 // 6), "time", check_tree(data["tree"]))
    inside = {}
    for node in data["tree"]:
        inside[node["parent"]] = inside.get(node["parent"], 0) + node["total_ns"]
    for node in data["tree"]:
        if "folded" in node:
            of = data["tree"][node["parent"]]["total_ns"]
            check(inside[node["parent"]] == of // 7 * 6, "six sevenths inside", node, of)
    check("Timeline: %d of 1000000 spans" % spans in data["thinned"], "note", data["thinned"])
    # Every hundredth of every lane still shows something: busy with short spans is not idle.
    for lane in data["lanes"]:
        starts = lane["spans"][::4]
        part = starts[-1] // 100 + 1
        check(len({start // part for start in starts}) == 100, "no gap", lane["name"])


def check_flat(data, _text):
    check(len(data["stats"]) == 3000 and len(data["tree"]) == 3000, "all of it",
          len(data["stats"]), len(data["tree"]))


def check_threads(data):
    """The rows of the threads together are the rows of the timers."""
    sums = {}
    for row in data["per_thread"]:
        check(row["thread"] < len(data["threads"]), "a thread of the run", row)
        key = (row["name"], row["set"], row.get("interval"))
        calls, total, opened = sums.get(key, (0, 0, 0))
        sums[key] = (calls + row["calls"], total + row["total_ns"],
                     opened + row.get("open_all_ns", 0))
    if not sums:
        check(len(data["threads"]) < 2, "several threads have rows", data["threads"])
        return
    for row in data["stats"]:
        key = (row["name"], row["set"], row.get("interval"))
        check(sums.get(key) == (row["calls"], row["total_ns"], row.get("open_all_ns", 0)),
              "sum of threads", row, sums.get(key))


def check_full(data, _text):
    check(data["run"]["steps"] == 3, "steps", data["run"])
    by_name = {(row["name"], row["set"]): row for row in data["stats"]}
    check(by_name["request", SET].get("interval") == 1 and "interval" not in by_name["work", SET],
          "intervals", by_name)
    check(by_name["work", SET]["open_ns"] == by_name["work", SET]["open_all_ns"] == 900000000,
          "open", by_name["work", SET])
    check(len(data["threads"]) == 2 and len(data["per_thread"]) > len(data["stats"]), "per thread")
    check(data["tree"] and data["lanes"] and data["losses"], "something of everything")
    check(not data["thinned"], "nothing left out", data["thinned"])


def check_gpu(data, _text):
    """A stream's spans are called as what ran there."""
    lane, = (lane for lane in data["lanes"] if lane["name"] == "GPU 0 stream 7")
    names = [data["names"][index] for index in lane["spans"][2::4]]
    check(lane["stream"] and names[:3] == ["memcpy HtoD"] + 2 * ["sm90_gemm<float>(float*)"] and
          names[3].startswith("=k"), "activities", names)


def check_sent(data, _text):
    """Work of other threads is below its sender, whose own time is less."""
    tree = data["tree"]
    attention, = (i for i, node in enumerate(tree) if node["name"] == "attention")
    below = [node["total_ns"] for node in tree if node["parent"] == attention]
    check(below == [60000000, 80000000] and tree[attention]["total_ns"] == 100000000, "tree", tree)
    check({s["name"]: s["total_ns"] for s in data["stats"]}["attention"] == 100000000, "row")
    check(check_tree(tree) == 160000000, "all", check_tree(tree))


def main(program, run):
    result = subprocess.run([program, run], stdout=subprocess.PIPE, check=True)
    text = result.stdout.decode("utf-8")  # strict: invalid names are replaced by then
    found = PAGE.findall(text)
    check(len(found) == 1, "one block of data")
    check(len(text) - len(found[0]) <= LIMIT, "the page", len(text) - len(found[0]))
    check("<" not in found[0] and not re.search("[\u2028\u2029\x00-\x09\x0b-\x1f]", found[0]),
          "escaped")
    data = json.loads(found[0], parse_constant=lambda name: check(False, "finite", name))
    check(data["schema"] == "stint-html-1", "schema")
    check_stats(data)
    check_threads(data)
    check_tree(data["tree"])
    check_lanes(data)
    {"big": check_big, "flat": check_flat, "full": check_full,
     "gpu": check_gpu, "sent": check_sent}.get(run, lambda *_: None)(data, text)
    print("%s: %d checks passed" % (run, checks))


if __name__ == "__main__":
    main(*sys.argv[1:])
