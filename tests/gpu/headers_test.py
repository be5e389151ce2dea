#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headers_test.py CC VERSION: the tables gen/cupti.ini and gen/driver.ini say what the headers of
that CUDA version say, by compiling the generated checks. Exit status 77: they are not here."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def folder_of(packages):
    found = subprocess.run(["sh", str(ROOT / "tests" / "pypi.sh"), "--where", packages],
                           check=True, stdout=subprocess.PIPE)
    return pathlib.Path(found.stdout.decode().strip())


def main():
    compiler, version = sys.argv[1:]
    toolkit, headers = folder_of("cuda"), folder_of("headers") / version
    if not headers.exists() or not toolkit.exists():
        print("skipped: no headers; tests/pypi.sh cuda headers fetches them")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        for name in ("cupti", "driver"):
            source = pathlib.Path(place) / (name + "_check.c")
            subprocess.run([sys.executable, "-B", str(ROOT / "gen" / "gen.py"), source.name,
                            str(ROOT / "gen" / (name + ".ini")), "-o", str(source)], check=True)
            # The headers of the compiler are those of the newest toolkit.
            failed |= subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror",
                                      "-fsyntax-only", "-iquote", str(ROOT / "runtime"),
                                      "-isystem", str(headers), "-isystem",
                                      str(toolkit / "include"), str(source)], check=False).returncode
    return int(bool(failed))


sys.exit(main())
