# SPDX-License-Identifier: Apache-2.0
"""Files that scripts make at build time: what would not change keeps its time, so that nothing is built
again for it. Used by gen/gen.py, too; here, because the installed package has only this folder."""

import os


def write_if_changed(path, data):
    try:
        with open(path, "rb") as old:
            if old.read() == data:
                return
    except FileNotFoundError:
        pass
    # Renamed into place: an interrupted or a parallel run never leaves half a file.
    temporary = "%s.%d.tmp" % (path, os.getpid())
    with open(temporary, "wb") as new:
        new.write(data)
    os.replace(temporary, path)
