#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fetch.sh FOLDER: NVIDIA's libcuda 470, 535 and 550 and CUPTI 11.8 and 12.4 from Debian's non-free
# packages, unpacked below FOLDER and not installed, for the tests with the label `real`. Some 25
# MB. The machine's package sources are not changed. Exit status 77: they are not available here.
set -euo pipefail
[ $# = 1 ] || { echo "fetch.sh FOLDER" >&2; exit 2; }
# shellcheck source=tests/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../debian.sh"

debian_start "$1" non-free bookworm trixie
debian_unpack driver-470 libnvidia-tesla-470-cuda1
debian_unpack driver-535 libcuda1/bookworm
debian_unpack driver-550 libcuda1/trixie
debian_unpack cupti-11.8 libcupti11.8
debian_unpack cupti-12.4 libcupti12
