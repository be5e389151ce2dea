/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorder that keeps every call: what the statistics have to be, by the rules of the docs and by
 * none of the library's code. It is told what a program does, on which thread and when; it is slow,
 * and knows no limits of memory.
 */
#ifndef STINT_TESTS_REFERENCE_H
#define STINT_TESTS_REFERENCE_H

#include <stdint.h>

#include "program.h"

#define REFERENCE_DEPTH 256
#define REFERENCE_NODES 4096
#define REFERENCE_CALLS 8192
#define REFERENCE_NONE (-1)

enum reference_loss {
    LOSS_OTHER_THREAD,
    LOSS_TOO_DEEP,
    LOSS_CLOCK_BACK,
    LOSS_LAST_OF_SCOPES = LOSS_CLOCK_BACK, /* those above are of scopes that were opened */
    LOSS_ABANDONED,                        /* the call is counted */
    LOSS_STRAY_END,
    LOSS_BAD_SAMPLE,
    LOSS_NO_SCOPE,
    LOSSES
};

/* A site is a static one or a run-time name; equal names are one row. */
struct reference_site {
    struct program_name name;
    int level;
};

/* A scope at its place in one recorder's tree, or an interval. */
struct reference_node {
    int recorder, parent, site, set, interval;
    int name; /* reference_name */
    int path; /* the first node of the same names and sets up to the root */
    uint64_t recursions, bytes, flops;
    uint64_t left; /* calls that a jump or the end of the thread left */
    uint64_t
        inner; /* self time of its recursive calls, where it is not that of the outermost one */
    /* Since the last reset that concerns it: */
    uint64_t old_recursions, old_left, old_bytes, old_flops, old_inner;
    int reset;         /* there was one */
    int had_calls;     /* before it */
    uint64_t reset_at; /* when it was */
};

struct reference_call {
    int node;
    uint64_t start, ticks;
    uint64_t nested; /* of recorded calls right inside it */
    const char *info;
    int old; /* before the last reset that concerns it */
};

struct reference_frame {
    uint64_t guard;   /* an address; of a scope opened by name its site, with the top bit */
    uint64_t opening; /* a number of its own */
    int node, recursive;
    int moved;  /* another thread has ended it */
    int sooner; /* its start was given, and is before that of the call around it */
    uint64_t start, nested;
};

struct reference_thread {
    struct reference_frame frame[REFERENCE_DEPTH];
    int depth;
    int recorder; /* the number of the one that the library gave it */
};

struct reference {
    struct reference_thread thread[PROGRAM_THREADS];
    struct reference_node node[REFERENCE_NODES];
    struct reference_call call[REFERENCE_CALLS];
    int nodes, calls;
    uint64_t lost[LOSSES];
    uint64_t opened; /* scopes and intervals that were to be recorded */
    uint64_t openings;
    uint64_t now, start;
    uint64_t interval; /* when it began */
    int enabled, level;
    const char *filter;
};
extern struct reference reference;

#define REFERENCE_DYNAMIC (PROGRAM_SITES + PROGRAM_HANDLE_SITES)
#define REFERENCE_DEEP (REFERENCE_DYNAMIC + PROGRAM_NAMES)
#define REFERENCE_SITES (REFERENCE_DEEP + PROGRAM_DEEP)
struct reference_site reference_site(int site);
/* The number of the first site of that name. */
int reference_name(int site);

/* Returns whether a call that begins now is to be recorded. */
int reference_on(int site);
/* A scope begins, at `start` or, 0, now; returns its opening, 0 = it has no frame. */
uint64_t reference_open(int thread, uint64_t guard, int site, int set, uint64_t start);
/* The guard of that opening ends on that thread. */
void reference_close(int thread, uint64_t guard, uint64_t opening, const char *info);
#define REFERENCE_NAMED ((uint64_t)1 << 63)
/* stint_scope_end: 0, or -1 if no such scope is open. */
int reference_end_named(int thread, int site);
void reference_interval(int thread, int site, uint64_t start, uint64_t ticks);
void reference_lose(enum reference_loss what);
void reference_work(int thread, uint64_t bytes, uint64_t flops);
void reference_reset(int set); /* PROGRAM_SETS: all */
void reference_thread_end(int thread);

#endif
