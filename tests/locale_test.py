#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""locale_test.py PROGRAM [ARGUMENT[:ARGUMENT]...]: what PROGRAM prints is the same in the C locale
and in locales with another decimal point and with grouping. Without arguments the program lists
what it can be run with, one a line. The program takes the locale with test_locale.h.

The locales are made here, by localedef; where that cannot be, the test is skipped (77)."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
DEFINITION = """comment_char %
escape_char /
LC_NUMERIC
decimal_point "{point}"
thousands_sep "{group}"
grouping 3;3
END LC_NUMERIC
"""
# Name, point, group, charmap. The second has a point of two bytes; its charmap is a file that not
# every machine has.
LOCALES = (("comma", ",", ".", "ANSI_X3.4-1968"),
           ("momayyez", "<U066B>", "<U066C>", "UTF-8"))


def make_locale(folder, name, point, group, charmap):
    source = folder / f"{name}.def"
    source.write_text(DEFINITION.format(point=point, group=group), encoding="ascii")
    subprocess.run(["localedef", "-c", "-f", charmap, "-i", str(source), str(folder / name)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return (folder / name / "LC_NUMERIC").exists()


def output_of(command, settings):
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("STINT_", "LC_")) and key != "LANG"}
    run = subprocess.run(command, env={**clean, "STINT_WAITS": "0", **settings}, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False)
    if run.returncode:
        print(f"{' '.join(command)}: exit status {run.returncode}\n{run.stdout!r}")
    return None if run.returncode else run.stdout


def differs(command, settings):
    """The clock of a log prefix may tick between the runs: the second try has it."""
    for _ in range(3):
        plain, local = output_of(command, {}), output_of(command, settings)
        if plain is None or local is None:
            return True
        if plain == local:
            return False
    print(f"{' '.join(command)}: with {settings}:")
    for a, b in zip(plain.splitlines(), local.splitlines()):
        if a != b:
            print(f"  {a!r}\n  {b!r}")
    return True


def main(arguments):
    program, runs = arguments[0], arguments[1:]
    runs = runs or output_of([program], {}).decode().split()
    failed = made = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, point, group, charmap in LOCALES:
            if not shutil.which("localedef") or not make_locale(pathlib.Path(folder), name, point,
                                                                group, charmap):
                print(f"no locale {name} here")
                continue
            made += 1
            settings = {"LOCPATH": folder, "TEST_LOCALE": name}
            failed += sum(differs([program] + run.split(":"), settings) for run in runs)
    print(f"{len(runs)} runs in {made} locales, {failed} differ")
    if not made:
        return SKIPPED
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
