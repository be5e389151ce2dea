#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds and tests stint where it is not developed: with musl, for aarch64 under qemu, and, as root,
# in other releases of Debian. A place that this machine cannot have is one line and no failure;
# exits with 77 if that was all of them.
# "quick" is the first two, with the unit tests that have nothing to do with GPUs. "start" runs in
# the Debians the quick start of README.md only, without a compiler cache, and prints how long it
# takes from a fresh copy of the source to the first report. "consumers" runs in the newer ones the
# two tables of consumers only, on what is installed there.
# usage: tests/distros.sh FOLDER [quick | start | consumers | PLACE...]
# NATIVE_BUILD in the environment is a build for this machine that there is already; without it,
# aarch64 makes one to compare with.
#
# A Debian is made once, in FOLDER/NAME, and kept. What is mounted there is so in a namespace of its
# own that ends with the command, so that FOLDER may be removed at any time.
set -eu
folder=${1:?usage: tests/distros.sh FOLDER [PLACE...]}
shift
[ $# -gt 0 ] || set -- musl aarch64 debian-11 debian-13 debian-sid
unit=tests/unit label=unit left_out='^memcheck[.]' # which is for this processor and C library
if [ "$*" = quick ]; then
    set -- musl aarch64
    unit=stint_unit_core label=core
    left_out=every_ # instruction, byte or length: minutes
fi
only=''
case $* in
start) only=start && set -- debian-11 debian-13 debian-sid ;;
consumers) only=consumers && set -- debian-13 debian-sid ;;
esac
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.."
source=$PWD
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null) || jobs=2
mirror=http://deb.debian.org/debian
packages="make cmake python3 pkg-config ccache"
newer="gcc g++ clang libclang-rt-dev lld ninja-build"

say() {
    echo "distros: $*"
}

skip() {
    say "$place: skipped: $*"
    return 77
}

have() {
    command -v "$1" >/dev/null 2>&1
}

logged() { # LOG COMMAND...: its output only if it fails
    log=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        tail -n 60 "$log"
        say "$place: failed: $*"
        return 1
    fi
}

passed() { # LOG: CTest's summary in it
    sed -n '/tests passed/p' "$1"
}

# ---- Another C library, another processor -------------------------------------------------------

# Makefiles, for their targets by folder.
configure() { # BUILD OPTION...
    build=$1
    shift
    logged "$build.log" cmake -G "Unix Makefiles" -S . -B "$build" \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DWITH_TIMER=ON -DWITH_PROFILER=ON \
        -DSTINT_BUILD_CUDA=OFF -DSTINT_NVTX=OFF -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON "$@"
}

make_parts() { # BUILD TARGET-OR-FOLDER...
    build=$1
    shift
    for part in "$@"; do
        case $part in
        tests/*) logged "$build.log" make -C "$build/$part" -j "$jobs" || return 1 ;;
        *) logged "$build.log" make -C "$build" -j "$jobs" "$part" || return 1 ;;
        esac
    done
}

test_part() { # BUILD FOLDER CTEST-OPTION...
    build=$1 part=$2
    shift 2
    (cd "$build/$part" && logged "$build.log" ctest --output-on-failure --no-tests=error \
        --parallel "$jobs" "$@") || return 1
    say "$place: $part: $(passed "$build.log")"
}

musl() {
    have musl-gcc || skip "no musl-gcc (package musl-tools)" || return
    configure "$folder/musl" -DCMAKE_C_COMPILER=musl-gcc -DCMAKE_CXX_COMPILER=NOTFOUND || return
    make_parts "$folder/musl" stint_tool "$unit" || return
    test_part "$folder/musl" tests/unit -L "$label" -E "$left_out" || return
    [ "$label" = unit ] || return 0
    make_parts "$folder/musl" tests/harness tests/run tests/mem &&
        test_part "$folder/musl" tests/harness &&
        test_part "$folder/musl" tests/run &&
        test_part "$folder/musl" tests/mem
}

# Both tools say the same of a run file, whichever machine wrote it.
exchange() { # EMULATOR...
    for writer in "" "$*"; do
        build=$native
        [ -z "$writer" ] || build=$folder/aarch64
        file=$folder/exchange.stint
        rm -f "$file"
        # shellcheck disable=SC2086 # a command
        STINT_FILE=$file $writer "$build/samples/quickstart" >"$folder/exchange.log" 2>&1 ||
            return 1
        "$native/runtime/tool/stint" report "$file" >"$folder/read-native.txt" || return 1
        "$@" "$folder/aarch64/runtime/tool/stint" report "$file" >"$folder/read-aarch64.txt" ||
            return 1
        grep -q pi_of "$folder/read-native.txt" || return 1
        cmp "$folder/read-native.txt" "$folder/read-aarch64.txt" || return 1
    done
    say "$place: run files written on x86-64 and aarch64: read alike by both tools"
}

# qemu's user mode takes RLIMIT_AS and does not apply it, so that memory is never refused. It writes
# a line of its own to stderr where a program aborts. In /proc/self/statm its own memory is counted,
# and grows by each fork. It starts a program by execve only where the kernel knows it
# (binfmt_misc). (What steps through instructions needs x86-64 and skips itself.)
qemu_left_out='^arena[.](smaller|none)_when_|^activity[.]no_(arena|tables)$'
qemu_left_out="$qemu_left_out|^lock[.]a_violation_names_both\$|^fork[.]generations_do_not_grow\$"
qemu_left_out="$qemu_left_out|^capture_ranges[.]rules_that_took_nothing_are_named_at_exit\$"

aarch64() {
    have aarch64-linux-gnu-gcc ||
        skip "no aarch64-linux-gnu-gcc (package gcc-aarch64-linux-gnu)" || return
    have qemu-aarch64-static || skip "no qemu-aarch64-static (package qemu-user-static)" || return
    set -- qemu-aarch64-static -L /usr/aarch64-linux-gnu
    configure "$folder/aarch64" -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=NOTFOUND \
        -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        "-DCMAKE_CROSSCOMPILING_EMULATOR=$(echo "$*" | tr ' ' ';')" || return
    native=${NATIVE_BUILD:-$folder/native}
    if [ -z "${NATIVE_BUILD:-}" ]; then
        configure "$native" -DSTINT_BUILD_TESTS=OFF &&
            make_parts "$native" stint_tool quickstart || return
    fi
    make_parts "$folder/aarch64" stint_tool quickstart "$unit" &&
        exchange "$@" &&
        test_part "$folder/aarch64" tests/unit -L "$label" -E "$left_out|$qemu_left_out"
}

# ---- Debian -------------------------------------------------------------------------------------

# The source is there read-only: what is built is built in the root's /build.
inside() { # ROOT COMMAND
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --propagation private sh -c '
        mount -t proc proc "$1/proc" && mkdir -p "$1/source" "$1/build" &&
        mount --bind /dev/pts "$1/dev/pts" &&
        mount --bind "$2" "$1/source" && mount -o remount,ro,bind "$1/source" &&
        exec chroot "$1" /bin/sh -c "$3"' sh "$1" "$source" "$2"
}

# A mirror may lag, and its newest index be past its date.
make_root() { # RELEASE PACKAGE...
    release=$1
    shift
    root=$folder/$place
    [ "$(cat "$root/ready" 2>/dev/null)" != "$*" ] || return 0
    rm -rf "$root"
    say "$place: making it, some minutes"
    logged "$root.log" debootstrap --variant=minbase "$release" "$root" "$mirror" || return 1
    logged "$root.log" inside "$root" "export DEBIAN_FRONTEND=noninteractive
        apt-get -o Acquire::Check-Valid-Until=false update &&
        apt-get install -y --no-install-recommends $packages $* && apt-get clean" || return 1
    echo "$*" >"$root/ready"
}

can_chroot() { # RELEASE
    [ "$(id -u)" = 0 ] || skip "needs root" || return
    unshare --mount true 2>/dev/null || skip "cannot have a mount namespace (unshare)" || return
    have debootstrap || skip "no debootstrap (package debootstrap)" || return
    [ -e "$folder/$place/ready" ] || [ -z "$(missing_mirror "$1")" ] ||
        skip "$mirror cannot be reached" || return
}

missing_mirror() { # RELEASE
    python3 -c 'import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=20)' "$mirror/dists/$1/InRelease" 2>/dev/null ||
        echo missing
}

environment='export CCACHE_DIR=/ccache CMAKE_C_COMPILER_LAUNCHER=ccache LC_ALL=C.UTF-8
export CMAKE_CXX_COMPILER_LAUNCHER=ccache STINT_BUILD_DIR=/build
cd /source
set -e
'

# The commands of docs/install.md, for both kinds of library: CMake 3.18 has no presets of ./dev's
# version.
# shellcheck disable=SC2016 # for the inner shell
installed='for shared in ON OFF; do
    b=/build/shared-$shared p=/build/prefix-$shared
    cmake -S . -B $b -DSTINT_BUILD_SAMPLES=OFF -DSTINT_BUILD_TESTS=OFF -DBUILD_SHARED_LIBS=$shared
    cmake --build $b -- -j '$jobs'
    cmake --install $b --prefix $p
    cc -DWITH_TIMER samples/quickstart.c -o /build/quickstart-$shared \
        $(PKG_CONFIG_PATH=$p/lib/pkgconfig pkg-config --cflags --libs stint) -Wl,-rpath,$p/lib
    STINT_FILE=/build/run-$shared.stint STINT_REPORT=table /build/quickstart-$shared >/dev/null
    $p/bin/stint report /build/run-$shared.stint | grep pi_of
done
cc -DWITH_TIMER -I/build/prefix-OFF/include samples/quickstart.c -L/build/prefix-OFF/lib -lstint \
    -pthread -ldl -o /build/quickstart-by-hand
/build/quickstart-by-hand >/dev/null
'

# The commands are those of README.md.
# shellcheck disable=SC2016 # for the inner shell
quick_start='set -e
export LC_ALL=C.UTF-8
rm -rf /build/start && mkdir -p /build/start
tar -C /source --exclude=./build --exclude=./.git -cf - . | tar -C /build/start -xf -
cd /build/start
sed -n "/^\.\/dev demo$/p; /^cc -O2 .*quickstart/p" README.md >steps.sh
[ "$(wc -l <steps.sh)" = 2 ]
start=$(date +%s)
sh -ex steps.sh
STINT_REPORT=table ./quickstart 2>report.txt
grep pi_of report.txt
echo $(($(date +%s) - start)) >/build/seconds
times >times.txt
tail -n 1 times.txt >/build/times
'

first_report() {
    logged "$folder/$place.log" inside "$folder/$place" "$quick_start" || return 1
    say "$place: from a fresh copy of the source to the first report:" \
        "$(cat "$folder/$place/build/seconds") s on $jobs processors, load $(cut -d' ' -f1 /proc/loadavg)," \
        "CPU time $(cat "$folder/$place/build/times") (user, system)"
}

# Both tables with the compilers of the place: those of flags and macros, and of CMake projects.
# shellcheck disable=SC2016 # for the inner shell
tables='for cc in gcc clang; do
    cxx=$(echo $cc | sed "s/gcc/g/")++
    for long in "" --long; do
        python3 -B tests/macros/consumers.py --prefix /build/prefix-ON --cc $cc $long
    done
    python3 -B tests/package/consumers.py --source /source --work /build/consumers \
        --prefix /build/prefix-ON --static /build/prefix-OFF --cc $cc --cxx $cxx
done
'

part() { # TEXT COMMANDS
    logged "$folder/$place.log" inside "$folder/$place" "$environment$2" || return 1
    say "$place: $1"
}

debian() { # RELEASE PACKAGE...
    can_chroot "$1" && make_root "$@" || return
    [ "$only" = consumers ] || first_report || return
    [ "$only" != start ] || return 0
    part "installs, shared and static; programs link as install.md says" "$installed" || return
    say "$place: $(inside "$folder/$place" 'for program in gcc clang ldd cmake; do
        $program --version 2>/dev/null | head -n 1
    done' | paste -s -d ';' -)"
    [ "$place" = debian-11 ] || part "both tables of consumers" "$tables" || return
    [ "$only" = consumers ] || part "./dev demo" "./dev demo" || return
    [ "$place$only" = debian-sid ] || return 0
    part "./dev test" "./dev test" || return
    say "$place: ./dev test: $(passed "$folder/$place.log")"
}

failed='' ran=0
for place in "$@"; do
    status=0
    case $place in
    musl | aarch64) $place || status=$? ;;
    debian-11) debian bullseye "gcc libc6-dev" || status=$? ;;
    debian-13) debian trixie "$newer" || status=$? ;;
    debian-sid) debian sid "$newer" || status=$? ;;
    *)
        say "no such place: $place"
        exit 2
        ;;
    esac
    [ "$status" = 77 ] || ran=1
    [ "$status" = 0 ] || [ "$status" = 77 ] || failed="$failed $place"
done
if [ -n "$failed" ]; then
    say "failed:$failed"
    exit 1
fi
[ "$ran" = 1 ] || exit 77
