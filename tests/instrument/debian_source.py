# SPDX-License-Identifier: Apache-2.0
"""Source packages of Debian, which apt-get fetches into a folder, without a change of the machine."""

import glob
import os
import shutil
import subprocess
import sys
import tarfile

SUITE = "deb-src http://deb.debian.org/debian bookworm main\n"


def run(words, **more):
    return subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, errors="replace", **more)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fetch(folder, package):
    """The folder of the sources of the package; without it the test is skipped."""
    for name in ("apt-get", "make"):
        if not shutil.which(name):
            skip("no " + name)
    with open(os.path.join(folder, "sources.list"), "w", encoding="utf-8") as file:
        file.write(SUITE)
    os.makedirs(os.path.join(folder, "lists", "partial"))
    apt = ["apt-get", "-o", "Dir::Etc::SourceList=%s/sources.list" % folder,
           "-o", "Dir::Etc::SourceParts=-", "-o", "Dir::State::Lists=%s/lists" % folder,
           "-o", "Dir::Cache=%s/cache" % folder, "-o", "Acquire::http::Timeout=20",
           "-o", "Acquire::Retries=0", "-o", "APT::Sandbox::User=root"]
    for words in (["update"], ["--download-only", "source", package]):
        done = run(apt + words, cwd=folder)
        if done.returncode:
            skip("apt-get %s: %s" % (words[0], done.stdout.strip().splitlines()[-1:]))
    archives = [path for path in glob.glob(os.path.join(folder, package + "_*.orig.tar.*"))
                if not path.endswith(".asc")]
    if not archives:
        skip("apt-get fetched no source of " + package)
    top = os.path.join(folder, "source")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(top)
    inside = os.listdir(top)
    return os.path.join(top, inside[0]) if len(inside) == 1 else top
