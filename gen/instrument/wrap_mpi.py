# SPDX-License-Identifier: Apache-2.0
"""The adapter of wrap.py for mpi.h: what the wrapper of a function of MPI records besides its time.

The set is that of the communicator, for functions with one, and of the root. Collectives and waits
have the role waiting, by root where there is one. The bytes are those that the call hands over, by
the size of its type: a receive and a read have none, as their count is an upper bound, and so have
calls with a count for each rank. The C that it calls is in wrap_mpi.h.

Parameters are known by their types, and by the names that the standard gives them.
"""

import fnmatch
import re

import wrap_mpi_fortran

HEADER = "wrap_mpi.h"
DEFAULT_SET = "mpi"

# Functions that wait, without their suffix _c, which only has larger counts.
WAITING = ["MPI_Wait*", "MPI_Probe", "MPI_Mprobe", "MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv*",
           "MPI_Barrier", "MPI_Allgather*", "MPI_Alltoall*", "MPI_Reduce_scatter*",
           "MPI_Allreduce", "MPI_Scan", "MPI_Exscan", "MPI_Neighbor_*", "MPI_Comm_dup*",
           "MPI_Comm_split*", "MPI_Comm_create", "MPI_Comm_create_group", "MPI_Win_fence",
           "MPI_Win_wait", "MPI_Win_complete", "MPI_Win_lock*", "MPI_Win_unlock*",
           "MPI_Win_flush*", "MPI_Init", "MPI_Init_thread", "MPI_Finalize"]
WAITING_FOR_ROOT = ["MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"]
ROOT_WAITING = ["MPI_Reduce", "MPI_Gather", "MPI_Gatherv"]
# A persistent operation moves nothing before it is started.
SETS_UP = "*_init"
UPPER_BOUND = ["MPI_Recv", "MPI_Irecv", "MPI_Mrecv", "MPI_Imrecv", "MPI_File_*read*"]
# The count is that for each rank.
PER_RANK = ["MPI_Alltoall", "MPI_Ialltoall", "MPI_Reduce_scatter_block",
            "MPI_Ireduce_scatter_block"]
RECEIVES_FIRST = ["MPI_Scatter*", "MPI_Iscatter*"]  # at all ranks but the root, only this count is valid

# Statements before and after the call; the result is in stint_result.
BEFORE = {"MPI_Comm_free": "stint_mpi_comms_change(*stint_arg0);",
          "MPI_Comm_disconnect": "stint_mpi_comms_change(*stint_arg0);",
          "MPI_Finalize": "stint_mpi_finalize();"}
AFTER = {"MPI_Comm_set_name": "stint_mpi_comms_change(stint_arg0);",
         "MPI_Comm_rank": "stint_mpi_rank_see(stint_arg0, stint_arg1, stint_result);"}


def matches_any(name, globs):
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def base_name(name):
    return name[:-2] if name.endswith("_c") else name


def role(name):
    name = base_name(name)
    if name in WAITING_FOR_ROOT:
        return "STINT_ROLE_WAITING_FOR_ROOT"
    if name in ROOT_WAITING:
        return "STINT_ROLE_ROOT_WAITING"
    waits = matches_any(name, WAITING) and not fnmatch.fnmatchcase(name, SETS_UP)
    return "STINT_ROLE_WAITING" if waits else "STINT_ROLE_NONE"


def find_triples(types):
    """The places of a buffer that is followed by its count and its type."""
    found = []
    for at in range(len(types) - 2):
        if re.fullmatch(r"(const )?void \*", types[at]) and \
                types[at + 1] in ("int", "MPI_Count") and types[at + 2] == "MPI_Datatype":
            found.append(at)
    return found


def bytes_expression(name, types, names, comm):
    """The expression for the bytes that the call hands over; "" if the arguments do not tell."""
    triples = find_triples(types)
    name = base_name(name)
    if not triples or fnmatch.fnmatchcase(name, SETS_UP) or matches_any(name, UPPER_BOUND):
        return ""
    if matches_any(name, RECEIVES_FIRST):
        triples.reverse()
    first, last = triples[0], triples[-1]
    buffers = ["stint_arg%d, stint_arg%d, stint_arg%d" % (at, at + 1, at + 2)
               for at in (first, last)]
    peer = "0"
    for word in ("dest", "root", "target_rank"):
        if word in names:
            peer = "stint_arg%d" % names.index(word)
    if "root" in names:
        peer = "stint_mpi_root(stint_comm, %s)" % peer
    text = "stint_mpi_bytes(%s, %s, %s)" % (buffers[0], buffers[1], peer)
    if comm and matches_any(name, PER_RANK):
        text += " * (uint64_t)stint_comm->size"
    return text


def scope(shown, name, types, names):
    """(the statement that opens the scope, statements before it, in it before the call, and after
    the call); shown: the scope's name, in C."""
    comm = next((at for at, text in enumerate(types) if text == "MPI_Comm"), None)
    found = "stint_mpi_comm_none()"
    if comm is not None:
        found = "stint_mpi_comm_find(stint_arg%d)" % comm
    before = ["struct stint_mpi_comm *stint_comm = %s;" % found]
    inside = []
    size = bytes_expression(name, types, names, comm is not None)
    if size:
        before.append("uint64_t stint_bytes = %s;" % size)
        inside.append("if (stint_bytes) {")
        inside.append("    STINT_TIMER_BYTES(stint_bytes);")
        inside.append("}")
    if name in BEFORE:
        before.append(BEFORE[name])
    after = [AFTER[name]] if name in AFTER else []
    own_set, what = "stint_comm->set", role(name)
    if "ROOT" in what:
        own_set = "stint_mpi_root_set(stint_comm, stint_arg%d)" % names.index("root")
    if what == "STINT_ROLE_NONE":
        timer = "STINT_IMPL_SCOPE(%s, STINT_LEVEL_DEFAULT, STINT_ROLE_NONE, %s);" % (shown, own_set)
    else:
        timer = "STINT_MPI_WAITING_SCOPE(%s, %s, %s);" % (shown, what, own_set)
    return timer, before, inside, after


def write_more(out, header, chosen, scope_of, place_of):
    """The wrappers of functions that are not in the header."""
    wrap_mpi_fortran.write(out, chosen, "OPEN_MPI" in header.macros, scope_of, place_of)
