# SPDX-License-Identifier: Apache-2.0
"""python -m stint run [OPTION]... SCRIPT [ARGUMENT]...

Runs a script of Python by `stint run`, which prints its report when it ends, however it ends. The
options are those of `stint run`; `-m MODULE` in place of SCRIPT runs a module. The whole script is
one scope, `python SCRIPT`. The exit status is the script's.
"""

import os
import runpy
import sys

FLAGS = ("--keep", "-k", "--help")
QUIET = "--quiet"  # of `exec`: no report follows


def split(arguments):
    """(the options of `stint run`, the script and its arguments)"""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "-m":
        if arguments[at] == "--":
            return arguments[:at], arguments[at + 1:]
        at += 1 if "=" in arguments[at] or arguments[at] in FLAGS else 2
    return arguments[:at], arguments[at:]


def run(arguments):
    from ._read import tool
    from . import available, reason
    options, script = split(arguments)
    if not script and "--help" not in options:
        print("stint: run: a script is missing (python -m stint)", file=sys.stderr)
        return 2
    if not available:
        print("stint: %s; PYSTINT_LIBRARY can name libstint.so" % reason, file=sys.stderr)
        return 1
    try:
        path = tool()
    except FileNotFoundError as error:
        print("stint: %s" % error, file=sys.stderr)
        return 1
    quiet = [QUIET] if {"none", "--report=none"}.intersection(options) else []
    command = [path, "run", *options, "--", sys.executable, "-m", "stint", "exec", *quiet, *script]
    sys.stdout.flush()
    os.execv(path, command)


def execute(arguments):
    """In the process that `stint run` started: the script is __main__, as `python SCRIPT` makes
    it."""
    from . import scope, _say_cost_at_exit
    if arguments[0] == QUIET:
        del arguments[0]
    else:
        _say_cost_at_exit()
    module = arguments[0] == "-m"
    if module:
        del arguments[0]
    sys.argv = arguments
    with scope("python " + os.path.basename(arguments[0])):
        if module:
            runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
            return
        # `python -m` put the current folder first; a script's own folder is there.
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "run":
        return run(sys.argv[2:])
    if len(sys.argv) > 2 and sys.argv[1] == "exec":
        execute(sys.argv[2:])
        return 0
    print(__doc__.strip(), file=sys.stdout if sys.argv[1:] == ["--help"] else sys.stderr)
    return 0 if sys.argv[1:] == ["--help"] else 2


if __name__ == "__main__":
    sys.exit(main())
