#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fetch.sh FOLDER: NVIDIA's libcuda 470, 535 and 550 and CUPTI 11.8 and 12.4 from Debian's non-free
# packages, unpacked below FOLDER and not installed, for the tests with the label `real`. Some 25 MB.
# Exit status 77: they are not available here.
set -euo pipefail
[ $# = 1 ] || { echo "fetch.sh FOLDER" >&2; exit 2; }
# shellcheck source=tests/debian_packages.sh
. "$(dirname "$0")/../../debian_packages.sh"

packages_begin "$1" non-free bookworm trixie
packages_unpack driver-470 libnvidia-tesla-470-cuda1
packages_unpack driver-535 libcuda1/bookworm
packages_unpack driver-550 libcuda1/trixie
packages_unpack cupti-11.8 libcupti11.8
packages_unpack cupti-12.4 libcupti12
