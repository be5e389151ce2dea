#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# pypi.sh SET...: packages from PyPI that tests use and a machine may lack, each set unpacked once
# into a folder of its own below ${XDG_CACHE_HOME:-~/.cache}/stint. Nothing is installed.
#
#   cuda      nvcc, the CUDA runtime, CUPTI, NVTX, laid out as a toolkit is: 140 MB, unpacked 370 MB
#   headers   headers of CUDA and CUPTI of several versions, a folder each: 70 MB, unpacked 30 MB
#   scipy     SciPy and NumPy for this python3: 60 MB, unpacked 180 MB
#   otava     Apache Otava and what it needs for this python3: 90 MB, unpacked 290 MB
#
# pypi.sh --where SET: prints the folder of the set, whether or not it is there.
# Exit status 77: not available here.
set -eu
cache=${XDG_CACHE_HOME:-$HOME/.cache}/stint

skip() {
    echo "pypi.sh: $*" >&2
    exit 77
}

python_tag() {
    python3 -c 'import sys; print(sys.implementation.cache_tag)'
}

# The name of the folder says what is in it: another version is another folder.
folder_of() { # SET
    case $1 in
    cuda) echo "$cache/cuda-13.5" ;;
    headers) echo "$cache/cuda-headers-1" ;;
    scipy) echo "$cache/scipy-1.15-$(python_tag)" ;;
    otava) echo "$cache/otava-0.8.0-$(python_tag)" ;;
    *)
        echo "pypi.sh: '$1': expected cuda, headers, scipy or otava" >&2
        exit 2
        ;;
    esac
}

pip() {
    python3 -m pip -q --disable-pip-version-check "$@" >&2 || skip "PyPI does not give it here"
}

# A toolkit has its folders side by side, and the names that a linker looks for.
get_cuda() { # FOLDER
    pip install --no-compile --no-deps --root-user-action=ignore --target "$1" \
        nvidia-cuda-nvcc==13.5.* nvidia-cuda-crt==13.5.* nvidia-nvvm==13.5.* \
        nvidia-cuda-runtime==13.5.* nvidia-cuda-cupti==13.5.* nvidia-cuda-profiler-api==13.5.* \
        nvidia-nvtx==13.5.*
    mv "$1"/nvidia/cu13/* "$1"
    rm -r "$1/nvidia"
    ln -s lib "$1/lib64"
    for name in cudart cupti; do
        (cd "$1/lib" && ln -s lib$name.so.* lib$name.so)
    done
}

get_headers() { # FOLDER
    for version in 11.8 12.4 13.0 13.1 13.3; do
        suffix=
        case $version in 11.* | 12.*) suffix=-cu${version%.*} ;; esac
        rm -rf "$1/unpacked" && mkdir -p "$1/unpacked" "$1/$version"
        pip download --no-deps --dest "$1/unpacked" "nvidia-cuda-cupti$suffix==$version.*" \
            "nvidia-cuda-runtime$suffix==$version.*"
        for wheel in "$1"/unpacked/*.whl; do
            python3 -m zipfile -e "$wheel" "$1/unpacked"
        done
        for include in "$1"/unpacked/nvidia/*/include; do
            cp -r "$include/." "$1/$version"
        done
    done
    rm -r "$1/unpacked"
}

get_scipy() { # FOLDER
    pip install --no-compile --root-user-action=ignore --target "$1" scipy==1.15.* numpy
}

get_otava() { # FOLDER
    pip install --root-user-action=ignore --target "$1" apache-otava==0.8.0
}

get() { # SET
    folder=$(folder_of "$1")
    [ ! -e "$folder" ] || return 0
    case $1 in cuda | headers)
        [ "$(uname -m)" = x86_64 ] || skip "$1 is for x86_64"
        ;;
    esac
    python3 -m pip --version >/dev/null 2>&1 || skip "no pip for python3"
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/new-XXXXXX")
    trap 'rm -rf "$new"' EXIT
    "get_$1" "$new"
    chmod 755 "$new"
    mv -T "$new" "$folder" 2>/dev/null || [ -e "$folder" ] || skip "$folder cannot be written"
    rm -rf "$new"
}

if [ "${1:-}" = --where ]; then
    folder_of "$2"
    exit
fi
[ $# -gt 0 ] || { echo "usage: pypi.sh SET... | --where SET" >&2; exit 2; }
for set in "$@"; do
    get "$set"
done
