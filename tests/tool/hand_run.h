/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run made by hand, one tick per nanosecond, on which exporters are tested. It replaces the
 * loader of run files: a program links one of the two.
 */
#ifndef STINT_TESTS_HAND_RUN_H
#define STINT_TESTS_HAND_RUN_H

#include "base/sink.h"
#include "model/run.h"

#define HAND_MOST 64u

struct hand_run {
    struct run run;
    struct snapshot_site sites[HAND_MOST];
    const char *sets[HAND_MOST];
    struct snapshot_thread threads[HAND_MOST];
    struct snapshot_open open[HAND_MOST];
    uint32_t open_count;
    struct snapshot_node nodes[HAND_MOST];
    struct snapshot_extra extras[HAND_MOST];
    struct snapshot_activity activities[HAND_MOST];
    struct snapshot_device devices[SNAPSHOT_DEVICES];
    struct trace_lane lanes[HAND_MOST];
    struct trace_event events[HAND_MOST];
    _Alignas(64) struct stint_impl_histogram histograms[32]; /* the first is unit 0: not used */
    uint32_t histogram_count;
};

/* An empty run of a second. */
void hand_start(struct hand_run *h);
uint32_t hand_site(struct hand_run *h, const char *name, size_t length);
uint32_t hand_set(struct hand_run *h, const char *name);
/* Adds a thread and its root; returns the root's index. */
uint32_t hand_thread(struct hand_run *h, uint32_t tid, const char *name);
/* Adds a node; parents come before children. It has `count` samples of total / count each, and a
 * histogram if `percentiles` is set. Returns its index, by which the caller sets the other
 * members. */
uint32_t hand_node(struct hand_run *h, uint32_t parent, uint32_t site, uint64_t count,
                   uint64_t total, int percentiles);
/* The node is open, innermost of its thread so far. */
void hand_open(struct hand_run *h, uint32_t node, uint64_t ticks);
/* Events go to the newest lane. A root, or SNAPSHOT_NONE for a stream of GPU 0. */
void hand_lane(struct hand_run *h, uint32_t root, const char *name);
void hand_span(struct hand_run *h, uint32_t node, uint64_t start, uint64_t duration,
               uint32_t depth);
void hand_mark(struct hand_run *h, uint32_t site, uint64_t at);
void hand_value(struct hand_run *h, uint32_t site, uint64_t at, double value);
/* The bytes that are allocated from that moment on; the activity is the memory of a device. */
void hand_memory(struct hand_run *h, uint32_t activity, uint64_t at, double bytes);
uint32_t hand_device(struct hand_run *h, uint32_t number, const char *name);
/* `count` of total / count each, with a histogram of them; of device 0 and stream 7, for what is
 * not a parameter there is the index that it returns. name "": none; node SNAPSHOT_NONE: of no
 * scope. */
uint32_t hand_activity(struct hand_run *h, uint32_t kind, uint32_t detail, const char *name,
                       uint32_t node, uint64_t count, uint64_t total, uint64_t bytes);
/* Launched at a moment by the thread of that root, or SNAPSHOT_NONE: the thread is unknown. */
void hand_ran(struct hand_run *h, uint32_t activity, uint64_t start, uint64_t duration,
              uint32_t root, uint64_t launch);
/* Sums of children; after the last node. */
struct run *hand_run(struct hand_run *h);
void hand_end(struct hand_run *h);

/* The runs of the golden files; NULL for a name that is none:
 *   full   everything at once, hostile names, streams that overlap
 *   tree   the same without a trace
 *   empty  nothing was recorded
 *   zero   scopes without a sample, a thread without a scope
 *   gpu    two GPUs and what they did, hostile names, launches of known and unknown threads */
struct run *hand_run_of(struct hand_run *h, const char *name);
extern const char *const hand_run_names[];

/* Returns the exporter's output in memory, with a NUL; the caller frees it. NULL if the exporter
 * failed. */
char *hand_export(int (*exporter)(struct sink *, struct run *), struct run *r, size_t *length);

#endif
