# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# debian.sh, for scripts to source: packages of Debian, also of other releases, unpacked below a
# folder and not installed. apt compares them with Debian's signed lists. The machine's package
# sources are not changed.

# Ends the script: what it wants is not available here.
debian_skip() {
    echo "$(basename "$0"): $*" >&2
    exit 77
}

# debian_start FOLDER COMPONENT RELEASE...: the lists of the packages.
debian_start() {
    local folder=$1 component=$2 keyring=/usr/share/keyrings/debian-archive-keyring.gpg tool release
    shift 2
    for tool in apt-get dpkg-deb; do
        command -v "$tool" >/dev/null || debian_skip "no $tool"
    done
    [ -e "$keyring" ] || debian_skip "no $keyring"
    [ "$(dpkg --print-architecture)" = amd64 ] || debian_skip "the packages are for amd64"
    mkdir -p "$folder"
    debian_folder=$(cd "$folder" && pwd)
    local state=$debian_folder/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    for release in "$@"; do
        echo "deb [signed-by=$keyring] http://deb.debian.org/debian $release $component"
    done >"$state/sources.list"
    cat >"$state/apt.conf" <<END
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$state/lists";
Dir::Cache "$state/cache";
APT::Sandbox::User "root";
END
    export APT_CONFIG=$state/apt.conf
    apt-get -qq update || debian_skip "no package lists"
}

# debian_unpack NAME PACKAGE [FILE...]: the package below FOLDER/NAME; only these files of it.
debian_unpack() {
    local name=$1 package=$2 state=$debian_folder/apt file
    shift 2
    [ ! -e "$debian_folder/$name" ] || return 0
    rm -rf "$state/deb" "$state/unpacked" "$state/kept"
    mkdir -p "$state/deb"
    (cd "$state/deb" && apt-get -qq download "$package") || debian_skip "no package $package"
    dpkg-deb -x "$state"/deb/*.deb "$state/unpacked"
    rm -rf "$state/deb"
    for file in "$@"; do
        mkdir -p "$state/kept/$(dirname "$file")"
        mv "$state/unpacked/$file" "$state/kept/$file"
    done
    if [ $# = 0 ]; then
        mv "$state/unpacked" "$state/kept"
    fi
    mv "$state/kept" "$debian_folder/$name"
    rm -rf "$state/unpacked"
}
