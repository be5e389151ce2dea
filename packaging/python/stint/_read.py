# SPDX-License-Identifier: Apache-2.0
"""Run files as dicts, by the tool `stint`."""

import json
import os
import shutil
import subprocess


def tool():
    """The tool's path: PYSTINT_TOOL, else from PATH."""
    path = os.environ.get("PYSTINT_TOOL") or shutil.which("stint")
    if not path:
        raise FileNotFoundError("the tool `stint` is not in PATH; PYSTINT_TOOL can name it")
    return path


def read(path):
    """A run file as a dict of lists and dicts, as docs/stint.schema.json describes it: times are
    nanoseconds, read(path)["stats"] has one dict per name. FileNotFoundError if there is no such
    file, ValueError if it is not a run file; of a damaged file what can be read, with
    ["run"]["warning"]."""
    os.stat(path)
    done = subprocess.run([tool(), "export", "--to", "json", "--", os.fspath(path)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if not done.stdout:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip() or
                         "stint export: exit status %d" % done.returncode)
    return json.loads(done.stdout)
