#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.c for a while, watched from outside.

    soak_test.py PROGRAM TOOL

SOAK_SECONDS in the environment says how long (default 20). What has to hold:
  memory   after a third of the time neither the process nor its arena grows
  ledger   scopes opened = recorded, abandoned ones too, + counted as lost, exactly
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM, TOOL = sys.argv[1:3]
SECONDS = int(os.environ.get("SOAK_SECONDS") or 20)
KIB = 1024
GROWTH = 768 * KIB  # pages of the arena touched late, the noise of sampling
OF_A_SCOPE = ("too_deep", "no_node", "no_thread", "after_end", "in_slow_path", "clock_back")


class Wrong(Exception):
    """The program grew, or the ledger is not exact."""


def resident(pid):
    """Bytes in memory; of a report under way perhaps also its own."""
    with open("/proc/%d/status" % pid) as lines:
        sizes = [int(line.split()[1]) * KIB for line in lines
                 if line.startswith(("RssAnon:", "RssShmem:"))]
    if not sizes:
        raise ProcessLookupError(pid)  # a zombie
    return sum(sizes)


def arena_used(path):
    """struct arena_header: see docs/format.md."""
    with open(str(path), "rb") as run:
        head = run.read(32)
    return struct.unpack_from("<Q", head, 24)[0] if len(head) == 32 else 0


def watch(process, run):
    """(time, resident, used): often enough to see also the moments between two reports."""
    samples = []
    start = time.monotonic()
    while process.poll() is None:
        time.sleep(0.01)
        try:
            samples.append((time.monotonic() - start, resident(process.pid), arena_used(run)))
        except (OSError, struct.error):
            pass  # not begun, or over
        if time.monotonic() - start > SECONDS * 3 + 120:
            process.kill()
            raise Wrong("it does not end")
    return samples


def least(samples, column, begin, end):
    """The minimum of a column in a part of the time: temporary memory is not there all the time."""
    whole = samples[-1][0]
    return min(s[column] for s in samples if begin * whole <= s[0] <= end * whole)


def check_growth(samples, sanitized):
    memory = [least(samples, 1, 0.33, 0.5), least(samples, 1, 0.83, 1)]
    used = [least(samples, 2, 0.33, 0.5), least(samples, 2, 0.83, 1)]
    print("resident %d KiB, then %d KiB; arena %d KiB, then %d KiB"
          % (*[m // KIB for m in memory], *[u // KIB for u in used]))
    if used[1] - used[0] > GROWTH:
        raise Wrong("the arena grows")
    if memory[1] - memory[0] > GROWTH and not sanitized:
        raise Wrong("the process grows")


def check_ledger(opened, run):
    done = subprocess.run([TOOL, "export", str(run), "--to", "json"], stdout=subprocess.PIPE,
                          check=True)
    story = json.loads(done.stdout.decode())
    lost = {entry["what"]: entry["count"] for entry in story["lost"]}
    recorded = sum(row["calls"] for row in story["stats"] if row["name"] != "stint_step")
    counted = sum(lost.get(what, 0) for what in OF_A_SCOPE)
    print("%d opened = %d recorded + %s" % (opened, recorded, lost))
    if opened < 1000 or lost.get("abandoned", 0) < 100 or lost.get("too_deep", 0) < 100:
        raise Wrong("that is no load")
    for what in lost:
        if what not in OF_A_SCOPE + ("abandoned",):
            raise Wrong("lost: %s" % what)
    if opened != recorded + counted:
        raise Wrong("%d scopes are not accounted for" % (opened - recorded - counted))


def soak(folder):
    run = folder / "run.stint"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    environment.update({"STINT_FILE": str(run), "STINT_TRACE": "4M", "STINT_MEMORY": "32M",
                        "STINT_OUTPUT": "/dev/null"})
    with open(PROGRAM, "rb") as program:
        image = program.read()
    with subprocess.Popen([PROGRAM, str(SECONDS), str(folder)], env=environment,
                          stdout=subprocess.PIPE) as process:
        samples = watch(process, run)
        out = process.stdout.read()
    if process.returncode:
        raise Wrong("exit status %d" % process.returncode)
    check_ledger(int(out), run)
    check_growth(samples, b"__asan_init" in image or b"__tsan_init" in image)


def main():
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="stint-soak-", dir=shm))
    try:
        soak(folder)
    except Wrong as wrong:
        print("soak: %s" % wrong)
        return 1
    finally:
        shutil.rmtree(str(folder), ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
