#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fetch.sh FOLDER: OpenMP of LLVM 19, which Debian 12 does not install beside that of LLVM 14, and
# AMD's roctx 5.7, which Debian 13 has first, unpacked below FOLDER and not installed. 1 MB, and the
# package lists of both releases. Exit status 77: they are not available here.
set -euo pipefail
[ $# = 1 ] || { echo "fetch.sh FOLDER" >&2; exit 2; }
# shellcheck source=tests/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../debian.sh"

debian_start "$1" main bookworm trixie
debian_unpack libomp-19 libomp5-19/bookworm
debian_unpack roctx libroctx64-4/trixie
debian_unpack roctx-dev libroctx-dev/trixie
