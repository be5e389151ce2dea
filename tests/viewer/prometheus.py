#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prometheus takes stint's metrics.

    prometheus.py TOOL PROGRAM FAKE_PROGRAM scrape      `stint export --serve`, native histograms and text
    prometheus.py TOOL PROGRAM FAKE_PROGRAM scrape3     the same with Prometheus 3, and its custom bounds
    prometheus.py TOOL PROGRAM FAKE_PROGRAM docs        configuration and queries of docs/monitoring.md
    prometheus.py TOOL PROGRAM FAKE_PROGRAM otlp3       the OTLP receiver of Prometheus 3

The durations of FAKE_PROGRAM are exact. 77: there is no such Prometheus. Debian's packages are built
without the OTLP receiver (golang-opentelemetry-collector is missing there, says their changelog).
"""
import math
import pathlib
import re
import sys
import tempfile

import otlp_server
from servers import alive, failed, find, need, prometheus, record, served, stats, timed, version_of

FAMILY = "stint_scope_duration_seconds"
QUANTILES = ((0.5, "p50_ns"), (0.9, "p90_ns"), (0.99, "p99_ns"))
# Errors of a quantile: of native histograms, and of classic buckets (1, 2, 5 ...).
NATIVE, CLASSIC = 0.04, 0.35


def check(server, rows, native, error):
    where = '{pid="%d"}' % rows[0]["pid"]
    counts = "histogram_count(%s%s)" if native else "%s_count%s"
    sums = "histogram_sum(%s%s)" if native else "%s_sum%s"
    found, seconds = server.wait_for(counts % (FAMILY, where)), server.ask(sums % (FAMILY, where))
    need(found.keys() == {row["name"] for row in rows}, "scopes", found)
    for row in rows:
        name = row["name"]
        need(found[name] == timed(row), "count of", name, found[name])
        need(abs(seconds[name] * 1e9 - row["total_ns"]) <= 1e-3 * row["total_ns"] + 1, "sum of", name)
    calls = server.ask("stint_scope_calls_total" + where)
    need(calls == {row["name"]: row["calls"] for row in rows}, "calls", calls)
    (spread,) = [row for row in rows if row["name"] == "spread"]
    series = FAMILY if native else FAMILY + "_bucket"
    for quantile, key in QUANTILES:
        (value,) = server.ask("histogram_quantile(%s, %s%s)" % (quantile, series, where)).values()
        need(abs(value * 1e9 - spread[key]) <= error * spread[key], key, value, spread[key], native)
    gpu = "histogram_count(%s)" if native else "%s_count"
    found = server.ask(gpu % "stint_scope_gpu_duration_seconds")
    need(found == {"kernel": 2, "copy": 1}, "on the GPU", found)


def scrape_configuration(port, *lines):
    return "\n".join(["scrape_configs:", "- job_name: stint", "  scrape_interval: 1s",
                      *("  " + line for line in lines),
                      "  static_configs:", "  - targets: ['127.0.0.1:%d']" % port, ""])


def scrape(folder, program, port, rows, version):
    # From 3.8 on the flag of the command does nothing any more.
    native = ("scrape_native_histograms: true",) if version >= (3, 8) else ()
    with prometheus(folder, program, scrape_configuration(port, *native)) as server:
        check(server, rows, True, NATIVE)
    if version < (3, 0):  # protobuf is not asked for
        with prometheus(folder, program, scrape_configuration(port), native=False) as server:
            check(server, rows, False, CLASSIC)
        return
    text = ("scrape_protocols: [PrometheusText0.0.4]",)
    with prometheus(folder, program, scrape_configuration(port, *text)) as server:
        check(server, rows, False, CLASSIC)
    custom = (*text, "convert_classic_histograms_to_nhcb: true")
    with prometheus(folder, program, scrape_configuration(port, *custom)) as server:
        check(server, rows, True, CLASSIC)


def case_scrape(folder, tool, program, fake, version=(0, 0)):
    del program
    server = find("prometheus", version)
    path = record(fake, folder / "spread.stint", "spread")
    other = record(fake, folder / "gpu.stint", "gpu")  # two durations there are 0
    with served(tool, path, other) as port:
        scrape(folder, server, port, stats(tool, path), version_of(server))


def case_scrape3(folder, tool, program, fake):
    case_scrape(folder, tool, program, fake, (3, 0))


def case_docs(folder, tool, program, fake):
    """While a program runs, each query has a number that is one."""
    del fake
    page = (pathlib.Path(__file__).parents[2] / "docs/monitoring.md").read_text()
    (configuration,) = re.findall(r"```yaml\n(.*?)```", page, re.S)
    native, classic, both = [block.splitlines() for block in re.findall(
        r"```text\n(.*?)```", page[page.index("## Prometheus"):page.index("## Collectors")], re.S)]
    need(len(native) == 2 and len(classic) == 1 and len(both) == 3, "queries", native, classic, both)
    server, path = find("prometheus"), folder / "live.stint"
    with alive(program, path), served(tool, path) as port:
        need("localhost:9464" in configuration and "10s" in configuration, configuration)
        configuration = configuration.replace("localhost:9464", "127.0.0.1:%d" % port).replace("10s", "1s")
        for is_native, queries in ((True, native), (False, classic)):
            with prometheus(folder, server, configuration, native=is_native) as one:
                for query in queries + both[:2]:
                    one.wait_for(query, lambda found: any(value > 0 and math.isfinite(value)
                                                          for value in found.values()))
                need(not one.ask(both[2]), "losses")
                need(one.ask(both[2].replace("> 0", "== 0"), "what"), "no losses to add up")


def case_otlp3(folder, tool, program, fake):
    flag = "--web.enable-otlp-receiver"
    server = find("prometheus", (3, 0), flag)
    path = "/api/v1/otlp/v1/metrics"
    for kind in ("otlp-proto", "otlp"):
        with prometheus(folder, server, "", flag) as one:
            otlp_server.check_run(folder, one, tool, fake, path, kind, otlp_server.NATIVE)
            otlp_server.check_kill(folder, one, tool, program, path, kind)
    custom = "otlp:\n  convert_histograms_to_nhcb: true\n"
    for configuration, form in (("", otlp_server.CLASSIC), (custom, otlp_server.NATIVE)):
        with prometheus(folder, server, configuration, flag) as one:
            otlp_server.check_run(folder, one, tool, fake, path, "otlp-proto", form, "--buckets", "explicit")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        globals()["case_" + sys.argv[4]](pathlib.Path(name), *sys.argv[1:4])
    sys.exit(failed())
