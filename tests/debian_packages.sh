# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Packages of Debian that are not to be installed, unpacked below a folder for tests. Scripts source
# this file. The machine's package sources are not changed. Exit status 77: a package is not
# available here.

skip() {
    echo "$(basename "$(dirname "$0")")/$(basename "$0"): $*" >&2
    exit 77
}

# packages_begin FOLDER COMPONENT SUITE...: reads the lists of these suites.
packages_begin() {
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg component=$2 suite tool
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    shift 2
    for tool in apt-get dpkg-deb; do
        command -v "$tool" >/dev/null || skip "no $tool"
    done
    [ -e "$keyring" ] || skip "no $keyring"
    [ "$(dpkg --print-architecture)" = amd64 ] || skip "the packages are for amd64"
    state=$folder/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    for suite; do
        echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite $component"
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
}

# packages_unpack NAME PACKAGE...: their files below FOLDER/NAME.
packages_unpack() {
    local name=$1 package
    shift
    [ ! -e "$folder/$name" ] || return 0
    rm -rf "$state/deb" "$state/unpacked"
    mkdir -p "$state/deb"
    for package; do
        (cd "$state/deb" && apt-get -qq download "$package") || skip "no package $package"
    done
    for package in "$state"/deb/*.deb; do
        dpkg-deb -x "$package" "$state/unpacked"
    done
    mv "$state/unpacked" "$folder/$name"
}
