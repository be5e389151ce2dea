#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports and exports of a run on the platform ACME: its kernels, copies and waits appear under its
own words, and no word of another vendor does.

    acme_test.py --program acme_program --tool stint
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

OTHER_VENDORS = re.compile(r"(?i:cuda|cupti|nvidia)|\bcu[A-Z]")

# The words that each output has to contain. Keys are arguments of the tool; FILE is the run file.
EXPECTED = {
    "report --view gpu FILE": [
        "[ACME memcpy HtoD]", "rocket_gemm", "acmeCopy", "acmeLaunch", "acmeWait",
        "waiting on copy", "waiting on sync", "ACME Rocket",
        "pinned memory (acmePinned)"],
    "report --view fluid FILE": ["ACMEPlace", "step"],
    "report FILE": ["step", "forward"],
    "export --to csv -o - FILE": ["step"],
    "export --to json -o - FILE": ["rocket_gemm", "acmeCopy", "ACME Rocket", "overhead acme start"],
    "export --to html -o - FILE": ["forward"],
    "export --to prometheus -o - FILE": ["step"],
}


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **more)
    if done.returncode:
        sys.exit("%s: %d\n%s" % (" ".join(map(str, command)), done.returncode, done.stderr))
    return done


def check(what, text, expected):
    faults = ["%s: '%s' is missing" % (what, word) for word in expected if word not in text]
    for number, line in enumerate(text.split("\n"), 1):
        found = OTHER_VENDORS.search(line)
        if found and len(line) < 5000:
            faults.append("%s:%d: '%s' in: %.120s" % (what, number, found[0], line))
    if faults:
        faults.append(text[:6000])
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--tool", required=True)
    args = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "acme.stint"
        done = run([args.program], env=dict(os.environ, STINT_FILE=str(file)))
        faults += check("the program's own report", done.stderr, EXPECTED["report --view gpu FILE"])
        for command, expected in EXPECTED.items():
            words = [str(file) if word == "FILE" else word for word in command.split()]
            faults += check(command, run([args.tool, *words]).stdout, expected)
        merged = pathlib.Path(folder) / "merged.stint"
        second = pathlib.Path(folder) / "second.stint"
        run([args.program], env=dict(os.environ, STINT_FILE=str(second)))
        run([args.tool, "merge", "-o", str(merged), str(file), str(second)])
        faults += check("merge", run([args.tool, "report", "--view", "gpu", str(merged)]).stdout,
                        ["[ACME memcpy HtoD]"])
    if faults:
        print("\n".join(faults))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
