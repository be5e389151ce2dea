# SPDX-License-Identifier: Apache-2.0
"""Checks a server to which stint posted over OTLP: counts, sums, percentiles, labels.

The series have the names that Prometheus gives them (unit and _total as suffixes), which VictoriaMetrics
does with -opentelemetry.usePrometheusNaming.
"""
import subprocess

from servers import alive, need, post, record, stats, timed

FAMILY = "stint_scope_duration_seconds"
ERROR = 0.04  # of a quantile

# How a server keeps a histogram: PromQL for its count, its sum and a quantile.
NATIVE = ("histogram_count(%s)" % FAMILY, "histogram_sum(%s)" % FAMILY,
          "histogram_quantile(%%s, %s{scope='spread'})" % FAMILY)
CLASSIC = ("%s_count" % FAMILY, "%s_sum" % FAMILY,
           "histogram_quantile(%%s, %s_bucket{scope='spread'})" % FAMILY)


def check_run(folder, server, tool, fake, path, kind, form, *options):
    """All numbers of a run that has ended."""
    run = record(fake, folder / "spread.stint", "spread", PMI_RANK="3")
    count, total, quantile_of = form
    rows = stats(tool, run)
    post(tool, run, server.url + path, kind, *options)
    expected = {row["name"]: timed(row) for row in rows}
    found = server.wait_for(count, lambda have: have.keys() >= expected.keys(), "scope")
    need(found == expected, "counts", found, expected)
    sums = server.ask(total, "scope")
    for row in rows:
        need(abs(sums[row["name"]] * 1e9 - row["total_ns"]) <= 1e-3 * row["total_ns"] + 1, "sum", sums, row)
    calls = server.ask("sum(stint_scope_calls_total) by (scope)", "scope")
    need(calls == {row["name"]: row["calls"] for row in rows}, "calls", calls)
    (spread,) = [row for row in rows if row["name"] == "spread"]
    for quantile, key in ((0.5, "p50_ns"), (0.9, "p90_ns"), (0.99, "p99_ns")):
        (value,) = server.ask(quantile_of % quantile, "scope").values()
        need(abs(value * 1e9 - spread[key]) <= ERROR * spread[key], key, value, spread[key], kind, options)
    run.unlink()
    return rows


def check_kill(folder, server, tool, program, path, kind):
    """A program is killed while it is followed: the server has its last numbers."""
    run = folder / "live.stint"
    calls = "sum(stint_scope_calls_total) by (scope)"
    with alive(program, run) as live:
        follower = subprocess.Popen([tool, "export", run, "--to", kind, "--follow", "0.2", "--post",
                                     server.url + path], stderr=subprocess.PIPE)
        early = server.wait_for(calls, lambda have: have.get("sleep"), "scope")
        server.wait_for(calls, lambda have: have["sleep"] > early["sleep"], "scope")
        live.kill()
    _, said = follower.communicate(timeout=60)
    need(follower.returncode == 0, "the follower", said.decode())
    final = {row["name"]: row["calls"] for row in stats(tool, run)}
    server.wait_for(calls, lambda have: {name: have.get(name) for name in final} == final, "scope")
    run.unlink()
