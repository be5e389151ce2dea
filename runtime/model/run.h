/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as the tool sees it: a run file, read whole into memory and untrusted.
 */
#ifndef STINT_RUN_H
#define STINT_RUN_H

#include "snapshot.h"
#include "trace.h"

enum run_state {
    RUN_LIVE,  /* its writer runs */
    RUN_ENDED, /* it said so at its end */
    RUN_KILLED /* neither: killed, crashed, or ended by _exit or exec */
};

struct arena_cost;
struct arena_job;

struct run {
    const char *path;
    struct snapshot snapshot;
    struct trace trace; /* read on demand: run_trace */
    /* Its own description; "" = not given. Printable as they are only through text_name. */
    const char *program;
    const char *command; /* with its arguments */
    const char *host;
    const char *cpu;
    const char *compiler; /* of the runtime */
    const char *clock;
    const char *conditions; /* "" or as in docs/format.md */
    const char *gpu;        /* back end and why it can do nothing */
    uint32_t rank;          /* + 1; 0 = not known */
    uint32_t local;         /* rank among those of the host, + 1; 0 = not known */
    uint32_t size;          /* ranks of the job; 0 = not known */
    const char *job;        /* its id; "" = not known */
    const char *clocks;     /* of a merged trace: how exact they are; "" = it has one */
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t cpus;
    uint64_t start_real_ns; /* CLOCK_REALTIME */
    /* The cost of a call; NULL: unknown. */
    const struct arena_cost *cost;
    enum run_state state;
    uint32_t killed; /* of a merged run: processes whose end is not known */
    uint32_t merged; /* processes that it is of; 0: it was not merged */
    /* Its end, or that of a process that it is of, is not known: ages are computed up to the last
     * recorded action. */
    int at_least;
    char warning[160]; /* "" or what is wrong with it though it can be read */
};

/* Fills the properties of the run from its snapshot. */
void run_read_about(struct run *r);
/* Its record of a parallel job; NULL: there is none. */
const struct arena_job *run_job(const struct run *r);
/* The part of its conditions that is the label; "" = none. */
const char *run_label(const struct run *r);
/* The trace; 0, or -1 without memory. */
int run_trace(struct run *r);

#endif
