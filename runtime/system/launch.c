/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the variables of the common launchers. The session calls at the start and for reports,
 * output.c for the names of files. A bad value is only described: the session logs it, once.
 */
#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/print.h"

/* The variables of a launcher. all: they are a launcher's only together, because other programs
 * use the names as well. */
struct launcher {
    const char *rank, *size, *local, *job;
    int all;
};

static const struct launcher launchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID", 1},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE",
     0},
    {"PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID", "PMIX_NAMESPACE", 0},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "", 0},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", 0},
};

static const char *read_launch_variable(const char *name) {
    const char *value = NULL;
    if (*name) {
        value = getenv(name);
    }
    return value ? value : "";
}

static void refuse_launch_value(struct launch *out, const char *name, const char *expected) {
    if (!*out->wrong) {
        print_text(out->wrong, sizeof out->wrong, "%s=%.60s: expected %s; ignored", name,
                   read_launch_variable(name), expected);
    }
}

/* -1: the variable is not set, or after a complaint. */
static int64_t read_launch_number(struct launch *out, const char *name, uint64_t min) {
    const char *value = read_launch_variable(name);
    uint64_t number;
    if (!*value) {
        return -1;
    }
    if (number_read_whole(value, min, LAUNCH_RANK_MAX, &number)) {
        refuse_launch_value(out, name, min ? "a number above 0" : "a number");
        return -1;
    }
    return (int64_t)number;
}

/* A rank that the size does not allow is kept, as the name of the process: it keeps the files of
 * processes apart. */
static void take_launch_size(struct launch *out, int64_t size, const char *name) {
    out->size = 0;
    if (size > 0 && out->rank < size) {
        out->size = (uint32_t)size;
    } else if (size > 0 && !*out->wrong) {
        print_text(out->wrong, sizeof out->wrong,
                   "rank %lld is not below the size of the job, %s=%lld; the size is ignored",
                   (long long)out->rank, name, (long long)size);
    }
}

/* STINT_RANK=RANK or RANK/SIZE. 0, or -1: it is not set, or not that. */
static int read_given_rank(struct launch *out) {
    const char *value = read_launch_variable("STINT_RANK");
    uint64_t rank, size = 0;
    if (!*value) {
        return -1;
    }
    const char *rest = number_parse_whole(value, LAUNCH_RANK_MAX, &rank);
    if (rest && *rest == '/' && number_read_whole(rest + 1, 1, LAUNCH_RANK_MAX, &size)) {
        rest = NULL;
    }
    if (!rest || (*rest && *rest != '/')) {
        refuse_launch_value(out, "STINT_RANK", "RANK or RANK/SIZE, as 3 or 3/64");
        return -1;
    }
    out->rank = (int64_t)rank;
    take_launch_size(out, (int64_t)size, "STINT_RANK");
    return 0;
}

static int read_launcher(struct launch *out, const struct launcher *from) {
    int complete = *read_launch_variable(from->size) && *read_launch_variable(from->local);
    if (from->all && !complete) {
        return -1;
    }
    out->rank = read_launch_number(out, from->rank, 0);
    if (out->rank < 0) {
        return -1;
    }
    out->local = read_launch_number(out, from->local, 0);
    take_launch_size(out, read_launch_number(out, from->size, 1), from->size);
    return 0;
}

static void copy_job(struct launch *out, const char *job) {
    if (!*out->job && strcmp(job, "none") != 0) { /* none: torchrun without an id */
        print_text(out->job, sizeof out->job, "%.60s", job);
    }
}

/* A launcher's own id names one start; a job of SLURM may have several steps. */
static void read_job(struct launch *out, const struct launcher *from) {
    const char *job = read_launch_variable("SLURM_JOB_ID");
    const char *step = read_launch_variable("SLURM_STEP_ID");
    if (from) {
        copy_job(out, read_launch_variable(from->job));
    }
    if (*job && *step && !*out->job) {
        print_text(out->job, sizeof out->job, "%.40s.%.20s", job, step);
    }
    copy_job(out, job);
}

void launch_read(struct launch *out) {
    const struct launcher *found = NULL;
    memset(out, 0, sizeof *out);
    out->rank = out->local = -1;
    int known = !read_given_rank(out);
    for (size_t i = 0; !known && i < sizeof launchers / sizeof *launchers; ++i) {
        known = !read_launcher(out, &launchers[i]);
        if (known) {
            found = &launchers[i];
        }
    }
    if (known) {
        read_job(out, found);
    }
}

void launch_place(char out[LAUNCH_PLACE_BYTES], uint32_t rank, uint32_t local, uint32_t size,
                  const char *job) {
    size_t used;
    *out = '\0';
    if (!rank) {
        return;
    }
    used = print_text(out, LAUNCH_PLACE_BYTES, "rank %u", rank - 1);
    if (size) {
        used += print_text(out + used, LAUNCH_PLACE_BYTES - used, " of %u", size);
    }
    if (local) {
        used += print_text(out + used, LAUNCH_PLACE_BYTES - used, ", local rank %u", local - 1);
    }
    if (*job) {
        print_text(out + used, LAUNCH_PLACE_BYTES - used, ", job %.60s", job);
    }
}
