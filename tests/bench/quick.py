#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quick.py OVERHEAD: runs `overhead --quick`, prints its output, and checks that the output and the
file of --raw say that the figures are not measurements. The exit status is that of the program."""
import pathlib
import subprocess
import sys
import tempfile

NOTE = "--quick: a few scopes a row"
END = "these are not measurements"


def check_note(where, line):
    if NOTE not in line or not line.endswith(END):
        sys.exit(f"{where}: expected '{NOTE} [...] {END}', got: {line}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        raw = pathlib.Path(folder) / "raw"
        done = subprocess.run([sys.argv[1], "--quick", "--raw", raw], stdout=subprocess.PIPE,
                              text=True, check=False)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            sys.exit(done.returncode)
        lines = done.stdout.splitlines()
        check_note("the first line", lines[0])
        check_note("the last line", lines[-1])
        check_note("the first line of the file", raw.read_text().splitlines()[0])


if __name__ == "__main__":
    main()
