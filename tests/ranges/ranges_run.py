# SPDX-License-Identifier: Apache-2.0
"""Functions that the tests of ranges of other interfaces share: programs under the tool, and what is in
their run files. The first argument of a test is the tool.
"""
import csv
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tool"))
# pylint: disable=wrong-import-position
import cases
from cases import SKIPPED, main, need

TOOL = sys.argv[1]
# The tests may run inside a job: variables that launchers of jobs set are removed, too.
FOREIGN = ("STINT_", "NVTX_", "INTEL_LIB", "OMP_", "KMP_", "KOKKOS_", "LD_PRELOAD", "ONEDNN_", "DNNL_",
           "OMPI_", "PMI_", "PMIX_", "SLURM_", "HYDRA_", "MPI_")
SETTINGS = {"STINT_WAITS": "0", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(*command, rc=None, **env):
    base = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return cases.run(*command, rc=rc, env={**base, **SETTINGS, **env})


def skip(why):
    print("skipped: " + why)
    sys.exit(SKIPPED)


def tool(*arguments):
    done = run(TOOL, *arguments, rc=0)
    return done.stdout


def rows(file):
    """(name, set) -> row; the default set as ""."""
    out = {}
    for row in csv.DictReader(tool("export", file, "--to", "csv").splitlines()):
        key = (row["name"], row["set"].replace("GlobalStatInfo", ""))
        need(key not in out, key)
        out[key] = {k: int(v) for k, v in row.items() if v.isdigit()}
    return out


def calls(file):
    return {key: row["calls"] for key, row in rows(file).items()}


def losses(file):
    lost = json.loads(tool("export", file, "--to", "json"))["lost"]
    return {entry["what"]: entry["count"] for entry in lost}
