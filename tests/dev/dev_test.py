#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dev_test.py DEV: with STINT_BUILD_DIR, nothing is built or tested below the source, and a
preset's labels are still left out. cmake and ctest are stubs that write down how they were called.
./dev bench measures, if it is not told --quick. And ./dev distros on a machine without what it
needs: a line per place, and 77. The demo needs no presets, and a package manager whose lock is
taken is tried again; apt-get is a stub, too."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STUB = """#!/bin/sh
[ "$1" != --version ] || { echo "cmake version ${CMAKE_STUB:-3.31.0}"; exit; }
echo "%s in $PWD: $*${STINT_BUILD_DIR:+, which stint would complain of}" >>"$CALLS"
for word in "$@"; do
    case $word in -B) made=next ;; *) [ "$made" != next ] || { mkdir -p "$word"; made=; } ;; esac
done
"""


def run(dev, work, where, *arguments):
    """Runs dev in the folder `work` with STINT_BUILD_DIR=`where`; returns the calls of the stubs,
    and stderr."""
    calls = work / "calls"
    calls.write_text("")
    environment = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}",
                   "CALLS": str(calls), "STINT_BUILD_DIR": where}
    for name in ("CC", "CXX"):
        environment.pop(name, None)
    done = subprocess.run([dev, *arguments], cwd=work, env=environment, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return calls.read_text().splitlines(), done.stderr


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}\n  expected: {wanted}\n  got:      {got}")


def check_distros(dev, work):
    """Checks that `dev distros` skips every place if PATH has only a shell's own tools."""
    tools = work / "few"
    tools.mkdir()
    for name in ("sh", "dirname", "mkdir", "getconf", "id", "unshare", "true"):
        if shutil.which(name):
            (tools / name).symlink_to(shutil.which(name))
    environment = {**os.environ, "PATH": str(tools), "STINT_BUILD_DIR": str(work / "few-out")}
    for name in ("CC", "CXX"):
        environment.pop(name, None)
    done = subprocess.run([dev, "distros"], cwd=work, env=environment, capture_output=True,
                          text=True, check=False)
    expect("distros: status", (done.returncode, done.stderr), (77, ""))
    expect("distros: a line per place",
           [line.split(": ")[:3] for line in done.stdout.splitlines()],
           [["distros", place, "skipped"]
            for place in ("musl", "aarch64", "debian-11", "debian-13", "debian-sid")])


def check_bench(dev, work):
    """Checks that `dev bench` runs the benchmark with the options given, and no others: with
    --quick its figures are not measurements."""
    for preset in ("release", "static"):
        bench = work / "out" / preset / "tests" / "bench" / "overhead"
        bench.parent.mkdir(parents=True)
        bench.write_text(f'#!/bin/sh\necho "{preset} $#: $*" >>"$CALLS"\n')
        bench.chmod(0o755)
    for first, *options in (("release",), ("release", "--quick"), ("static", "--raw", "file")):
        static = ["--static"] if first == "static" else []
        lines, _ = run(dev, work, "out", "bench", *static, *options)
        expect("bench", lines[-1], f"{first} {len(options)}: {' '.join(options)}")


# The lock is taken twice; what else fails is not tried again. The messages are those of apt 2.6.
APT = """#!/bin/sh
echo "apt-get $*" >>"$CALLS"
case "$*" in *broken*) echo "E: Unable to locate package broken" >&2; exit 100 ;; update) exit 0 ;; esac
if [ "$(grep -c 'apt-get install' "$CALLS")" -lt 3 ]; then
    echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (dpkg)" >&2
    exit 100
fi
printf '#!/bin/sh\\n' >"$(dirname "$0")/gadget"
chmod +x "$(dirname "$0")/gadget"
"""


def check_tools(dev, work):
    """Checks `dev tools` as root, with stubs in place of the commands that would change the
    machine."""
    for name, text in (("apt-get", APT), ("id", "#!/bin/sh\necho 0\n"),
                       ("sleep", '#!/bin/sh\necho "sleep $*" >>"$CALLS"\n')):
        (work / "bin" / name).write_text(text)
        (work / "bin" / name).chmod(0o755)
    calls = work / "calls"
    environment = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}", "CALLS": str(calls),
                   "STINT_BUILD_DIR": str(work / "out")}
    for name in ("CC", "CXX"):
        environment.pop(name, None)

    def dev_says(*arguments, version="3.31.0"):
        calls.write_text("")
        done = subprocess.run([dev, *arguments], cwd=work, env={**environment, "CMAKE_STUB": version},
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, [line for line in calls.read_text().splitlines()]

    code, said, lines = dev_says("tools", "gadget")
    expect("a taken lock", (code, [line.split()[1] for line in lines if "apt-get" in line]),
           (0, ["update", "install"] * 3))
    expect("is waited for", (lines.count("sleep 5"), said.count("waiting for the lock of apt-get")), (2, 2))
    code, said, lines = dev_says("tools", "broken")
    expect("another error", (code, sum("install" in line for line in lines), "Unable to locate" in said),
           (1, 1, True))
    # The demo itself fails: nothing was built.
    code, said, lines = dev_says("demo", version="3.18.4")
    lines = [line for line in lines if line.startswith("cmake")]
    expect("the demo's build", ["-S . -B" in lines[0], "--preset" in "".join(lines), len(lines)],
           [True, False, 2])
    code, said, lines = dev_says("test", version="3.18.4")
    expect("presets", (code, "still missing: cmake (cmake must be 3.21 or later)" in said), (1, True))


def main():
    dev = pathlib.Path(sys.argv[1]).resolve()
    jobs = os.cpu_count()
    generator = " -G Ninja" if shutil.which("ninja") else ""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        (work / "bin").mkdir()
        for name in ("cmake", "ctest"):
            stub = work / "bin" / name
            stub.write_text(STUB % name)
            stub.chmod(0o755)
        for where in (str(work / "out"), "out"):
            lines, said = run(dev, work, where, "test", "asan", "--", "-E", "x")
            built = work / "out" / "asan"
            expect("calls", [line.replace(f"--parallel {jobs + 1}", "--parallel N+1")
                             .replace(f"--parallel {jobs}", "--parallel N") for line in lines],
                   [f"cmake in {dev.parent}: --preset asan -B {built}{generator}",
                    f"cmake in {dev.parent}: --build {built} --parallel N",
                    f"ctest in {built}: --output-on-failure --no-tests=error "
                    f"-LE ^(build|bench|long|engines|soak)$ --parallel N+1 -E x"])
        lines, said = run(dev, work, "out", "test")
        expect("left out", "-LE ^(long|engines|soak)$" in lines[-1], True)
        expect("how long", "minutes on 2 cores; ./dev test-long runs" in said, True)
        for chosen in ("-R", "-L", "-LE"):
            lines, said = run(dev, work, "out", "test", "--", chosen, "x")
            expect("chosen by " + chosen, lines[-1].split("--parallel")[0].split(": ")[1],
                   "--output-on-failure --no-tests=error ")
        lines, said = run(dev, work, "out", "test-long", "-R", "x")
        expect("long", lines[-1].endswith(" -L ^(long|engines|soak)$ -R x"), True)
        check_bench(dev, work)
        check_distros(dev, work)
        check_tools(dev, work)


if __name__ == "__main__":
    main()
