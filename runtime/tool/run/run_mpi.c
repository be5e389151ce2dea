/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library with timers for MPI that `stint run --mpi` preloads (cmd_run.c calls): the one that
 * was named, else the one for the program's MPI, found by the libraries that it needs, or for the
 * launcher's, or the only one that there is. Where none is found the program runs without.
 */
#include "run_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "needed.h"
#include "system/log.h"

/* The MPI libraries with a binary interface of their own. MVAPICH, Intel MPI and Cray's MPI have
 * the interface of MPICH. */
static const struct mpi_kind {
    const char *name;
    const char *library;     /* of stint */
    const char *needed[2];   /* by programs, directly or not, and by the launcher */
    const char *variable;    /* that the launcher sets */
    const char *launcher[2]; /* in its name */
} kinds[] = {
    {"mpich",
     "stint-mpi-mpich",
     {"libmpich.so", "libmpi.so.12"},
     "HYDI_CONTROL_FD",
     {"hydra", "mpich"}},
    {"openmpi",
     "stint-mpi-openmpi",
     {"libmpi.so", "libopen-rte.so"},
     "OMPI_COMM_WORLD_RANK",
     {"orterun", "openmpi"}},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static int is_needed(const struct text *names, const struct mpi_kind *kind) {
    return needed_has(names, kind->needed[0]) || needed_has(names, kind->needed[1]);
}

/* Returns the kind of the first word of the command that is a program with MPI; NULL: none is. */
static const struct mpi_kind *find_mpi_of(char **command) {
    const struct mpi_kind *found = NULL;
    for (; *command && !found; ++command) {
        struct text names;
        needed_read(&names, *command);
        for (size_t i = 0; i < KINDS && !found; ++i) {
            found = is_needed(&names, &kinds[i]) ? &kinds[i] : NULL;
        }
        text_free(&names);
    }
    return found;
}

/* The only one for which stint has a library. NULL after one line. */
static const struct mpi_kind *find_mpi_here(const char *program) {
    const struct mpi_kind *found = NULL;
    char path[PATH_MAX];
    size_t count = 0;
    for (size_t i = 0; i < KINDS; ++i) {
        if (!run_library_seek(path, kinds[i].library)) {
            found = &kinds[i];
            ++count;
        }
    }
    if (count == 0) {
        log_warning("run: --mpi: no calls of MPI are recorded: stint was built without MPI: "
                    "docs/ranges.md says how its library is built");
    } else if (count > 1) {
        log_warning("run: --mpi: no calls of MPI are recorded: %.200s does not say which MPI it "
                    "uses: give --mpi=openmpi or --mpi=mpich",
                    program);
        found = NULL;
    }
    return found;
}

/* By what the launcher says, around the tool or in the command: the program may be a script, or
 * python3, which loads MPI when it runs. NULL after one line. */
static const struct mpi_kind *find_mpi_of_launcher(const char *program) {
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    for (size_t i = 0; i < KINDS; ++i) {
        if (getenv(kinds[i].variable) || strstr(name, kinds[i].launcher[0]) ||
            strstr(name, kinds[i].launcher[1])) {
            return &kinds[i];
        }
    }
    /* Slurm sets it for each MPI. */
    return getenv("PMI_RANK") && !getenv("SLURM_PROCID") ? &kinds[0] : find_mpi_here(program);
}

/* of: the program's, if it is known. NULL after one line. */
static const struct mpi_kind *find_mpi_named(const char *name, const struct mpi_kind *of) {
    for (size_t i = 0; i < KINDS; ++i) {
        if (strcmp(kinds[i].name, name)) {
            continue;
        }
        if (!of || of == &kinds[i]) {
            return &kinds[i];
        }
        log_error("run: --mpi=%s: the program uses %s", name, of->name);
        return NULL;
    }
    log_error("run: --mpi=%.200s: expected openmpi, mpich or the path of a library", name);
    return NULL;
}

static int preload_given(const char *library) {
    char path[PATH_MAX];
    if (!realpath(library, path) || access(path, R_OK)) {
        log_error("run: --mpi=%.500s: %s", library, error_text(errno));
        return -1;
    }
    return run_library_preload_path(path);
}

int run_mpi_set(const char *which, char **command) {
    char path[PATH_MAX];
    if (which && strchr(which, '/')) {
        return preload_given(which);
    }
    const struct mpi_kind *kind = find_mpi_of(command);
    if (which) {
        kind = find_mpi_named(which, kind);
    } else if (!kind) {
        kind = find_mpi_of_launcher(*command);
    }
    if (kind && !run_library_seek(path, kind->library)) {
        return run_library_preload_path(path);
    }
    if (kind) {
        log_warning("run: --mpi: no calls of MPI are recorded: stint was built without %s: "
                    "docs/ranges.md says how its library is built",
                    kind->name);
    }
    return which ? -1 : 0; /* one that was not named may lack */
}
