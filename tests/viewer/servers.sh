#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# servers.sh FOLDER: Prometheus 3, VictoriaMetrics, and the .proto files of OpenTelemetry and
# Prometheus from the packages of Debian's next release, unpacked below FOLDER and not installed,
# for tests with the label `engines`. 75 MB. The machine's package sources are not changed. Exit
# status 77: they are not available here.
set -euo pipefail
[ $# = 1 ] || { echo "servers.sh FOLDER" >&2; exit 2; }
# shellcheck source=tests/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/../debian.sh"

debian_start "$1" main forky
debian_unpack prometheus prometheus usr/bin/prometheus
debian_unpack victoria-metrics victoria-metrics usr/bin/victoria-metrics
debian_unpack opentelemetry-proto opentelemetry-proto usr/include
debian_unpack client-model golang-github-prometheus-client-model-dev usr/share/gocode
