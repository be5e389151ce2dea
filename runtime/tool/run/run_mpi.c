/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library with timers for MPI that `stint run --mpi` preloads (cmd_run.c calls): the one that
 * was named, else that of the program's MPI, found by the libraries that it needs, or that of the
 * launcher, or the only one that there is. Where none is found the program runs without.
 */
#include "run_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "needed.h"

/* The MPI libraries with a binary interface of their own. MVAPICH, Intel MPI and that of Cray have
 * the one of MPICH. */
static const struct mpi_kind {
    const char *name;
    const char *library;     /* of stint */
    const char *needed[3];   /* by programs, directly or not, and by the launcher */
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
     {"libmpi.so", "libmpi_cxx.so", "libopen-rte.so"},
     "OMPI_COMM_WORLD_RANK",
     {"orterun", "openmpi"}},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Returns the kind that the program needs, or a library of it; NULL: none. */
static const struct mpi_kind *find_mpi_of_program(const char *program) {
    const struct mpi_kind *found = NULL;
    struct text names;
    needed_read(&names, program);
    for (size_t i = 0; i < KINDS && !found; ++i) {
        for (size_t n = 0; n < 3 && kinds[i].needed[n] && !found; ++n) {
            found = needed_has(&names, kinds[i].needed[n]) ? &kinds[i] : NULL;
        }
    }
    text_free(&names);
    return found;
}

/* Returns the kind of the first word of the command that is a program with MPI; NULL: none is. */
static const struct mpi_kind *find_mpi_of(char **command) {
    const struct mpi_kind *found = NULL;
    while (*command && !found) {
        found = find_mpi_of_program(*command);
        ++command;
    }
    return found;
}

/* By what the launcher says, around the tool or in the command: the program may be a script, or
 * python3, which loads MPI when it runs. */
static const struct mpi_kind *find_mpi_of_launcher(const char *program) {
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    for (size_t i = 0; i < KINDS; ++i) {
        if (getenv(kinds[i].variable) || strstr(name, kinds[i].launcher[0]) ||
            strstr(name, kinds[i].launcher[1])) {
            return &kinds[i];
        }
    }
    /* Slurm sets it for each MPI. */
    return getenv("PMI_RANK") && !getenv("SLURM_PROCID") ? &kinds[0] : NULL;
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

static const struct mpi_kind *find_mpi_named(const char *name) {
    for (size_t i = 0; i < KINDS; ++i) {
        if (!strcmp(kinds[i].name, name)) {
            return &kinds[i];
        }
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

/* Without one, the program runs all the same, after one line. */
static int preload_found(const struct mpi_kind *of, const char *program) {
    char path[PATH_MAX];
    const struct mpi_kind *kind = of ? of : find_mpi_of_launcher(program);
    if (!kind) {
        kind = find_mpi_here(program);
    }
    if (!kind) {
        return 0;
    }
    if (run_library_seek(path, kind->library)) {
        log_warning("run: --mpi: no calls of MPI are recorded: stint was built without %s: "
                    "docs/ranges.md says how its library is built",
                    kind->name);
        return 0;
    }
    return run_library_preload_path(path);
}

static int preload_named(const struct mpi_kind *of, const char *name) {
    char path[PATH_MAX];
    const struct mpi_kind *kind = find_mpi_named(name);
    if (!kind) {
        return -1;
    }
    if (of && of != kind) {
        log_error("run: --mpi=%s: the program uses %s", kind->name, of->name);
        return -1;
    }
    if (run_library_seek(path, kind->library)) {
        log_error("run: --mpi: stint was built without %s: docs/ranges.md says how its library is "
                  "built",
                  kind->name);
        return -1;
    }
    return run_library_preload_path(path);
}

int run_mpi_set(const char *which, char **command) {
    if (which && strchr(which, '/')) {
        return preload_given(which);
    }
    const struct mpi_kind *of = find_mpi_of(command);
    return which ? preload_named(of, which) : preload_found(of, *command);
}
