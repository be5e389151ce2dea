#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""victoria.py TOOL PROGRAM FAKE_PROGRAM: VictoriaMetrics takes stint's OTLP, which it does in protobuf only.

77: there is no VictoriaMetrics that is new enough for that.
"""
import pathlib
import sys
import tempfile

import otlp_server
from servers import failed, find, need, victoria_metrics

PATH = "/opentelemetry/v1/metrics"


def main(tool, program, fake):
    naming = "-opentelemetry.usePrometheusNaming"
    server = find("victoria-metrics", option=naming)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for options in ((), ("--buckets", "explicit")):
            with victoria_metrics(folder, server, naming) as one:
                otlp_server.check_run(folder, one, tool, fake, PATH, "otlp-proto", otlp_server.CLASSIC,
                                      *options)
                (labels,) = one.series("stint_scope_calls_total{scope='spread'}")
                need(labels["host_name"] == "testhost" and labels["rank"] == "3" and
                     labels["process_pid"].isdigit() and labels["set"] == "GlobalStatInfo", labels)
        with victoria_metrics(folder, server, naming) as one:
            otlp_server.check_kill(folder, one, tool, program, PATH, "otlp-proto")
    return failed()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
