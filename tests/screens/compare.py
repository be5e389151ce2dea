# SPDX-License-Identifier: Apache-2.0
"""compare.py PROGRAM NAME FOLDER [VAR=value ...]: runs the screen NAME and compares what it prints
with FOLDER/NAME.txt. UPDATE=1 in the environment writes the file instead. Exit 0: equal."""

import difflib
import os
import re
import subprocess
import sys

# Texts that the fake clock cannot make equal: the wall clock in a glog prefix, the processor's
# counter.
MASKS = (
    (re.compile(r"I\d{4} \d\d:\d\d:\d\d\.\d{6} "), "IMMDD hh:mm:ss.uuuuuu "),
    (re.compile(r"clock (tsc|cntvct),"), "clock tsc,"),
)


def masked(text):
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


def environment(settings):
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("STINT_", "LC_")) and key != "LANG"}
    clean["STINT_WAITS"] = "0"
    clean.update(setting.split("=", 1) for setting in settings)
    return clean


def main(arguments):
    program, name, folder = arguments[:3]
    run = subprocess.run([program, name], env=environment(arguments[3:]), stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False)
    have = masked(run.stdout.decode("utf-8", "backslashreplace"))
    path = os.path.join(folder, name + ".txt")
    if run.returncode:
        print(f"{name}: exit status {run.returncode}\n{have}")
        return 1
    if os.environ.get("UPDATE"):
        with open(path, "w", encoding="utf-8", newline="\n") as out:
            out.write(have)
        return 0
    try:
        with open(path, encoding="utf-8", newline="\n") as golden:
            want = golden.read()
    except FileNotFoundError:
        want = ""
    if have == want:
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(want.splitlines(True), have.splitlines(True), path, "this run"))
    print("\nUPDATE=1 ctest -L screens writes the files anew.")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
