#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libraries_test.py PROGRAM FOLDER driver|cupti: runs PROGRAM (no_device.c) on the real libraries
that fetch.sh put into FOLDER, on a machine without a GPU. Exit status 77: they are not there, or
there is a GPU."""
import glob
import os
import subprocess
import sys

# cuInit of a process of root makes this device file, with or without a device.
NODE = "/dev/nvidiactl"

failures = []


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def check(what, held, output):
    if not held:
        failures.append(f"{what}\n{output}")


def run(program, arguments, settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STINT_")}
    environment["STINT_WAITS"] = "0"
    environment.update(settings)
    result = subprocess.run([program, *arguments], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, timeout=120, check=False)
    return result.returncode, result.stdout.decode("utf-8", "replace")


def check_program(what, status, output):
    """Checks the results that no driver may change."""
    check(f"{what}: exit status {status}", status == 0, output)
    check(f"{what}: calls", "calls: 1000, of the GPU: 0\n" in output, output)


def check_driver(program, driver):
    for arguments in [], ["init"]:
        what = " ".join([driver, *arguments])
        status, output = run(program, arguments, {"STINT_CUDA_LIB": driver})
        check_program(what, status, output)
        if arguments:
            check(f"{what}: cuInit fails", "cuInit: 100\n" in output, output)
        check(f"{what}: the header",
              "GPU driver (no device, or CUDA was not initialised)" in output, output)
        check(f"{what}: the range",
              "nothing was captured in [range]: the CUDA driver has no device" in output, output)


def check_cupti(program, cupti, driver):
    """driver: None for a machine without one."""
    settings = {"STINT_GPU": "cupti", "STINT_CUPTI_LIB": cupti}
    settings["STINT_CUDA_LIB"] = driver or "/nonexistent/libcuda.so.1"
    if driver:
        settings["LD_LIBRARY_PATH"] = os.path.dirname(driver)
    for arguments in [[]] + [["init"]] * (driver is not None):
        what = " ".join([cupti, driver or "no driver", *arguments])
        status, output = run(program, arguments, settings)
        check_program(what, status, output)


def find(folder, *pattern):
    return sorted(glob.glob(os.path.join(folder, *pattern)))


def has_driver():
    """Returns whether the kernel has a driver. The node alone may be left from a process of root
    that called cuInit."""
    if os.path.exists("/proc/driver/nvidia"):
        return True
    try:
        os.close(os.open(NODE, os.O_RDWR))
    except OSError:
        return False
    return True


def main():
    program, folder, which = sys.argv[1:]
    drivers = find(folder, "driver-*", "usr/lib/*/nvidia/*/libcuda.so.1")
    cuptis = find(folder, "cupti-*", "usr/lib/*/libcupti.so.1[12]*")
    if not drivers or not cuptis:
        skip(f"no libraries in {folder}; tests/gpu/libraries/fetch.sh fetches them")
    if has_driver():
        skip("a machine with a GPU")
    had_node = os.path.exists(NODE)
    try:
        if which == "driver":
            for driver in drivers:
                check_driver(program, driver)
        else:
            for cupti in cuptis:
                for driver in [None, *drivers]:
                    check_cupti(program, cupti, driver)
    finally:
        if os.path.exists(NODE) and not had_node:
            os.remove(NODE)
    for failure in failures:
        print("libraries_test.py:", failure)
    return 1 if failures else 0


sys.exit(main())
