#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fetch.sh FOLDER: NVIDIA's libcuda 470, 535 and 550 and CUPTI 11.8 and 12.4 from Debian's non-free
# packages, unpacked below FOLDER and not installed, for the tests with the label `real`. Some 25
# MB. The machine's package sources are not changed. Exit status 77: they are not available here.
set -euo pipefail
[ $# = 1 ] || { echo "fetch.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

skip() {
    echo "fetch.sh: $*" >&2
    exit 77
}
for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || skip "no $tool"
done
[ -e "$keyring" ] || skip "no $keyring"
[ "$(dpkg --print-architecture)" = amd64 ] || skip "the packages are for amd64"

state=$folder/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
for suite in bookworm trixie; do
    echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite non-free"
done >"$state/sources.list"
cat >"$state/apt.conf" <<END
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$state/lists";
Dir::Cache "$state/cache";
APT::Sandbox::User "root";
END
export APT_CONFIG=$state/apt.conf
apt-get -qq update || skip "no package lists"

# unpack NAME PACKAGE: its files below FOLDER/NAME.
unpack() {
    [ ! -e "$folder/$1" ] || return 0
    rm -rf "$state/deb" "$state/unpacked"
    mkdir -p "$state/deb"
    (cd "$state/deb" && apt-get -qq download "$2") || skip "no package $2"
    dpkg-deb -x "$state"/deb/*.deb "$state/unpacked"
    mv "$state/unpacked" "$folder/$1"
}
unpack driver-470 libnvidia-tesla-470-cuda1
unpack driver-535 libcuda1/bookworm
unpack driver-550 libcuda1/trixie
unpack cupti-11.8 libcupti11.8
unpack cupti-12.4 libcupti12
