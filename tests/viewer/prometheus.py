#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prometheus has stint's metrics, delivered as docs/monitoring.md says, with its settings.

    prometheus.py TOOL PROGRAM FAKE_PROGRAM otlp        send.sh: numbers of a run, and of a killed one
    prometheus.py TOOL PROGRAM FAKE_PROGRAM short       runs shorter than an interval, late lines
    prometheus.py TOOL PROGRAM FAKE_PROGRAM collector   send.sh, a collector, and a server that is down
    prometheus.py TOOL PROGRAM FAKE_PROGRAM textfile    node_exporter
    prometheus.py TOOL PROGRAM FAKE_PROGRAM docs        the queries of the page

The durations of FAKE_PROGRAM are exact. 77: a program is missing.
"""
import contextlib
import json
import math
import pathlib
import re
import shlex
import sys
import tempfile
import time
import urllib.error
import urllib.request

from servers import (LIMIT, alive, failed, find, find_installed, follow, free_port, line_count, listens, need,
                     prometheus, record, running, sending, stats, timed, write_lines)

PAGE = (pathlib.Path(__file__).parents[2] / "docs/monitoring.md").read_text()
CONFIGURATION, COLLECTOR = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
(FLAGS,) = [shlex.split(block.replace("\\\n", ""))[2:] for block in re.findall(r"```sh\n(.*?)```", PAGE, re.S)
            if block.startswith("prometheus")]
OTLP = "/api/v1/otlp/v1/metrics"
FAMILY = "stint_scope_duration_seconds"
CALLS = "sum(stint_scope_calls_total) by (scope)"
QUANTILES = ((0.5, "p50_ns"), (0.9, "p90_ns"), (0.99, "p99_ns"))

# How a server keeps a histogram: PromQL for its count, its sum and a quantile.
NATIVE = ("histogram_count(%s)", "histogram_sum(%s)", "histogram_quantile(%%s, %s{%%s='spread'})")
CLASSIC = ("%s_count", "%s_sum", "histogram_quantile(%%s, %s_bucket{%%s='spread'})")
# Errors of a quantile: of the recorder's buckets, and of those of the text.
FINE, TEXT = 0.04, 1.13


def check(server, rows, form, error=FINE, label="scope"):
    """All numbers of a run with the scope `spread`."""
    count, total, quantile_of = [query % FAMILY for query in form]
    expected = {row["name"]: timed(row) for row in rows}
    found = server.wait_for(count, lambda have: all(have.get(name) for name in expected),
                            label)
    need(found == expected, "counts", found, expected)
    sums = server.ask(total, label)
    for row in rows:
        need(abs(sums[row["name"]] * 1e9 - row["total_ns"]) <= 1e-3 * row["total_ns"] + 1, "sum", sums, row)
    calls = server.ask("sum(stint_scope_calls_total) by (%s)" % label, label)
    need(calls == {row["name"]: row["calls"] for row in rows}, "calls", calls)
    (spread,) = [row for row in rows if row["name"] == "spread"]
    for quantile, key in QUANTILES:
        (value,) = server.ask(quantile_of % (quantile, label), label).values()
        need(abs(value * 1e9 - spread[key]) <= error * spread[key], key, value, spread[key], form)


def check_kill(folder, server, tool, program):
    """A program is killed while it is followed: the server has its last numbers."""
    run, out = folder / "live.stint", folder / "live.jsonl"
    with alive(program, run) as live, sending(folder, out, server.url + OTLP):
        follower = follow(tool, out, run)
        early = server.wait_for(CALLS, lambda have: have.get("sleep"))
        server.wait_for(CALLS, lambda have: have["sleep"] > early["sleep"])
        live.kill()
        need(follower.wait(LIMIT) == 0, "the follower")
        final = {row["name"]: row["calls"] for row in stats(tool, run)}
        server.wait_for(CALLS, lambda have: {name: have.get(name) for name in final} == final)


def check_exemplars(folder, server, tool, program):
    """The slowest call of a scope, with its note."""
    out = write_lines(tool, folder / "notes.jsonl", record(program, folder / "notes.stint", "work"))
    with sending(folder, out, server.url + OTLP):
        server.wait_for(CALLS, lambda have: have.get("step"))
    now = time.time()
    (series,) = json.loads(server.get("/api/v1/query_exemplars", query=FAMILY, start=now - 3600,
                                      end=now + 3600))["data"]
    (row,) = [row for row in stats(tool, folder / "notes.stint") if row["name"] == "step"]
    (exemplar,) = series["exemplars"]
    need(series["seriesLabels"]["scope"] == "step" and exemplar["labels"] == {"note": row["info"]}, series)
    need(math.isclose(float(exemplar["value"]) * 1e9, row["max_ns"], rel_tol=1e-3), series, row)


def case_otlp(folder, tool, program, fake):
    run = record(fake, folder / "spread.stint", "spread", PMI_RANK="3")
    rows = stats(tool, run)
    out = write_lines(tool, folder / "a.jsonl", run)
    with prometheus(folder, CONFIGURATION, *FLAGS) as one:
        with sending(folder, out, one.url + OTLP):
            check(one, rows, NATIVE)
        labels = one.query("stint_scope_calls_total{scope='spread'}")[0]["metric"]
        need(labels["host_name"] == "testhost" and labels["rank"] == "3" and
             labels["set"] == "GlobalStatInfo" and labels["instance"].startswith("testhost:"), labels)
        check_exemplars(folder, one, tool, fake)
        check_kill(folder, one, tool, program)
    custom = CONFIGURATION.replace("otlp: {", "otlp: {convert_histograms_to_nhcb: true, ")
    for configuration, form in ((CONFIGURATION, CLASSIC), (custom, NATIVE)):
        out = write_lines(tool, folder / ("%d.jsonl" % len(configuration)), run,
                          options=("--buckets", "explicit"))
        with prometheus(folder, configuration, *FLAGS) as one, sending(folder, out, one.url + OTLP):
            check(one, rows, form)


def status_of_post(server, body):
    request = urllib.request.Request(server.url + OTLP, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def earlier(line, hours):
    """The same numbers, so long ago."""
    return re.sub(rb'(imeUnixNano":")(\d+)', lambda match: match.group(1) + b"%d" % (
        int(match.group(2)) - hours * 3600 * 10**9), line)


def case_short(folder, tool, program, fake):
    """Five runs of 1 000 calls, each shorter than an interval; without each setting that the page
    names, calls are missing."""
    del program
    paths = [record(fake, folder / ("%d.stint" % i), "spread") for i in range(5)]
    out = write_lines(tool, folder / "a.jsonl", *paths)
    need(line_count(out) == 5, "a line for each run")
    late = earlier(out.read_bytes().splitlines()[0], 3)
    (query,) = re.findall(r"(?m)^.*calls_total.* anchored.*$", PAGE)
    series = "stint_scope_calls_total{scope='spread'}"
    arrived, zero = "count(%s > 0)" % series, "created-timestamp-zero-ingestion,"
    for with_zero in (True, False):
        flags = [flag if with_zero else flag.replace(zero, "") for flag in FLAGS]
        with prometheus(folder, CONFIGURATION, *flags) as one, sending(folder, out, one.url + OTLP):
            one.wait_for(arrived, lambda have: have.get(None) == 5)
            found = one.ask(query).get("spread", 0)
            need(found == (5000 if with_zero else 0), "calls", found, flags)
            if with_zero:
                found = one.ask("sum(increase(%s[1h]))" % series)[None]
                need(found > 5100, "extrapolated", found)
            need(status_of_post(one, late) == 200, "a late line")
    no_window = CONFIGURATION.replace("out_of_order_time_window: 1d", "out_of_order_time_window: 0s")
    need(no_window != CONFIGURATION, CONFIGURATION)
    with prometheus(folder, no_window, *FLAGS) as one, sending(folder, out, one.url + OTLP):
        one.wait_for(arrived, lambda have: have.get(None) == 5)
        need(status_of_post(one, late) == 400, "a late line without out_of_order_time_window")


def case_collector(folder, tool, program, fake):
    """While the server behind the collector is down the sender keeps the lines; each arrives once."""
    del fake
    otelcol, port, upstream = find("otelcol"), free_port(), free_port()
    find("prometheus")
    config = folder / "collector.yaml"
    need("localhost:4318" in COLLECTOR and "localhost:9090" in COLLECTOR, COLLECTOR)
    config.write_text(COLLECTOR.replace("localhost:4318", "127.0.0.1:%d" % port)
                      .replace("localhost:9090", "127.0.0.1:%d" % upstream)
                      .replace("service: {", "service: {telemetry: {metrics: {level: none}}, "))
    run, out = folder / "live.stint", folder / "live.jsonl"
    with contextlib.ExitStack() as stack:
        stack.enter_context(running(folder, [otelcol, "--config", config], lambda: listens(port)))
        live = stack.enter_context(alive(program, run))
        follower = follow(tool, out, run)
        stack.enter_context(sending(folder, out, "http://127.0.0.1:%d/v1/metrics" % port))
        with prometheus(folder, CONFIGURATION, *FLAGS, port=upstream) as one:
            one.wait_for(CALLS, lambda have: have.get("sleep"))
        before = line_count(out)
        while line_count(out) < before + 8:
            time.sleep(0.1)
        live.kill()
        need(follower.wait(LIMIT) == 0, "the follower")
        final = {row["name"]: row["calls"] for row in stats(tool, run)}
        with prometheus(folder, CONFIGURATION, *FLAGS, port=upstream) as one:
            one.wait_for(CALLS, lambda have: {name: have.get(name) for name in final} == final)
            # A number of each line that has the series, and the 0 at the start of the run.
            expected = out.read_bytes().count(b'"stint.scope.calls"') + 1
            found = one.ask("count_over_time(stint_scope_calls_total{scope='sleep'}[1h])")
            need(found == {"sleep": expected}, "numbers", found, expected)


def case_textfile(folder, tool, program, fake):
    """Numbers of a run that was there before; those of a short one are too few."""
    del program
    exporter, port, place = find_installed("prometheus-node-exporter"), free_port(), folder / "textfile"
    find("prometheus")
    place.mkdir()
    run = record(fake, folder / "spread.stint", "spread")
    rows = stats(tool, run)
    follower = follow(tool, place / "app.prom", folder / "*.stint", kind="prometheus")
    need("localhost:9100" in CONFIGURATION and "10s" in CONFIGURATION, CONFIGURATION)
    configuration = CONFIGURATION.replace("localhost:9100", "127.0.0.1:%d" % port).replace("10s", "1s")
    try:
        with running(folder, [exporter, "--web.listen-address=127.0.0.1:%d" % port, "--web.disable-exporter-metrics",
                              "--collector.disable-defaults", "--collector.textfile",
                              "--collector.textfile.directory=%s" % place], lambda: listens(port)), \
                prometheus(folder, configuration, *FLAGS) as one:
            check(one, rows, CLASSIC, TEXT, "name")
            record(fake, folder / "late.stint", "spread")
            calls = "stint_scope_calls_total{name='spread'}"
            one.wait_for("count(count_over_time(%s[1h]) > 1)" % calls, lambda have: have.get(None) == 2, "name")
            found = one.ask("sum by (name) (increase(%s[1h] anchored))" % calls, "name")
            need(found == {"spread": 0}, "too little", found)
            (query,) = re.findall(r"`(sum by \(name\) \(max_over_time.*?)`", PAGE)
            need(one.ask(query, "name").get("spread") == 2000, "all calls of both runs", query)
    finally:
        follower.terminate()
        follower.wait()


def case_docs(folder, tool, program, fake):
    """While a program runs, each query has a number that is one."""
    del fake
    queries = re.search(r"```text\n(.*?)```", PAGE[PAGE.index("## Prometheus"):], re.S).group(1).splitlines()
    need(len(queries) == 4, queries)
    path, out = folder / "live.stint", folder / "a.jsonl"
    with alive(program, path), prometheus(folder, CONFIGURATION, *FLAGS) as one, \
            sending(folder, out, one.url + OTLP):
        follower = follow(tool, out, path)
        for query in queries[:3]:
            one.wait_for(query, lambda found: any(value > 0 and math.isfinite(value)
                                                  for value in found.values()))
        need(not one.ask(queries[3]), "losses")
        follower.terminate()
        follower.wait()


if __name__ == "__main__":
    find("prometheus")
    with tempfile.TemporaryDirectory() as name:
        globals()["case_" + sys.argv[4]](pathlib.Path(name), *sys.argv[1:4])
    sys.exit(failed())
