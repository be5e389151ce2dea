#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prometheus.py TOOL PROGRAM: Prometheus scrapes `stint export --serve`, native histograms and
text.

PROGRAM is tool_program_fake: its durations are exact. 77: there is no prometheus.
"""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

LIMIT = 300  # seconds
failed = 0


def need(holds, *what):
    global failed
    if not holds:
        print(*what)
        failed = 1


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(port, query):
    url = "http://127.0.0.1:%d/api/v1/query?%s" % (port, urllib.parse.urlencode({"query": query}))
    with urllib.request.urlopen(url, timeout=30) as answer:
        return {one["metric"].get("name"): float(one["value"][1])
                for one in json.load(answer)["data"]["result"]}


def wait_for(port, query):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        try:
            found = ask(port, query)
            if found:
                return found
        except OSError:
            pass
        time.sleep(0.3)
    raise SystemExit("no answer to " + query)


def check(port, stats, native):
    family = "stint_scope_duration_seconds"
    counts = "histogram_count(%s)" % family if native else family + "_count"
    sums = "histogram_sum(%s)" % family if native else family + "_sum"
    found, seconds = wait_for(port, counts), ask(port, sums)
    need(found.keys() == {row["name"] for row in stats}, "scopes", found)
    for row in stats:
        name = row["name"]
        need(found[name] == sum(n for _, _, n in row["histogram"]), "count of", name, found[name])
        need(abs(seconds[name] * 1e9 - row["total_ns"]) <= 1e-3 * row["total_ns"] + 1, "sum of", name)
    calls = ask(port, "stint_scope_calls_total")
    need(calls == {row["name"]: row["calls"] for row in stats}, "calls", calls)
    error = 0.04 if native else 0.35  # of the classic buckets: 1, 2, 5
    suffix = "" if native else "_bucket"
    (spread,) = [row for row in stats if row["name"] == "spread"]
    for quantile, key in ((0.5, "p50_ns"), (0.9, "p90_ns"), (0.99, "p99_ns")):
        value = ask(port, 'histogram_quantile(%s, %s%s{name="spread"})' % (quantile, family, suffix))
        (value,) = value.values()
        need(abs(value * 1e9 - spread[key]) <= error * spread[key], key, value, spread[key], native)


def serve(tool, path):
    process = subprocess.Popen([tool, "export", path, "--to", "prometheus", "--serve", "0"],
                               stderr=subprocess.PIPE)
    return process, int(re.search(rb":(\d+)/metrics", process.stderr.readline()).group(1))


def scrape(folder, prometheus, target, stats, native):
    config = folder / "prometheus.yml"
    config.write_text("scrape_configs:\n- job_name: stint\n  scrape_interval: 1s\n"
                      "  static_configs:\n  - targets: ['127.0.0.1:%d']\n" % target)
    port = free_port()
    features = ["--enable-feature=native-histograms"] if native else []
    server = subprocess.Popen([prometheus, "--config.file=%s" % config, "--storage.tsdb.path=%s" % (
        folder / ("data-%d" % native)), "--web.listen-address=127.0.0.1:%d" % port] + features,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        check(port, stats, native)
    finally:
        server.terminate()
        server.wait()


def main(tool, program):
    prometheus = shutil.which("prometheus")
    if not prometheus:
        print("skipped: no prometheus")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "spread.stint"
        subprocess.run([program, "spread"], check=True, stderr=subprocess.DEVNULL,
                       env={"STINT_FILE": str(path), "STINT_REPORT": "none"})
        exported = subprocess.run([tool, "export", path, "--to", "json"], check=True,
                                  stdout=subprocess.PIPE).stdout
        stats = json.loads(exported)["stats"]
        sidecar, target = serve(tool, path)
        try:
            scrape(folder, prometheus, target, stats, True)
            scrape(folder, prometheus, target, stats, False)
        finally:
            sidecar.terminate()
            sidecar.wait()
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
