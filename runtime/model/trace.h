/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a run: what its rings still hold, in order, lane by lane. Read from a snapshot's
 * arena, checked like everything there. The events stay in the rings: there is an array of their
 * order, and a walk over a lane reads them one by one.
 */
#ifndef STINT_TRACE_H
#define STINT_TRACE_H

#include "arena/arena.h"
#include "snapshot.h"

enum trace_kind { TRACE_SPAN, TRACE_MARK, TRACE_VALUE };

struct trace_event {
    uint64_t start_ns; /* since the run began */
    uint64_t duration_ns;
    union {
        double value;       /* of a TRACE_VALUE; finite */
        uint64_t launch_ns; /* of an activity: when its launch was called, by launch_thread */
    };
    uint32_t site;          /* its name: snapshot.sites[site]; 0 of an activity */
    uint32_t node;          /* of a scope's span: index into snapshot.nodes, else SNAPSHOT_NONE */
    uint16_t kind;          /* enum trace_kind */
    uint16_t set;           /* of a scope's span, else 0 */
    uint32_t depth;         /* of a span: spans of its lane around it */
    uint32_t activity;      /* of a span, and of a value on a lane of memory: index into
                             * snapshot.activities, or SNAPSHOT_NONE */
    uint32_t launch_thread; /* index into snapshot.threads, or SNAPSHOT_NONE: not known */
};

/* A recorder's thread, or a GPU stream: the spans of its timers, or on a lane of its own what ran
 * there, kernel by kernel. Spans of a lane nest properly, activities not at all: what would overlap
 * is on another lane. */
struct trace_lane {
    char name[112];
    uint32_t thread;      /* index into snapshot.threads, SNAPSHOT_NONE: a stream */
    uint32_t device;      /* of a stream: the GPU's number */
    int activities;       /* its spans are activities, not scopes */
    int memory;           /* its values are bytes that are allocated on the device */
    uint64_t count;       /* its events */
    uint64_t overwritten; /* older ones that are gone, and what cannot be told or drawn; a value or
                           * a very long span takes two places and counts twice */
    uint32_t source;      /* the ring that they are in: trace_rings.source */
    uint32_t split;       /* which of the lanes that the ring needs */
};

struct trace_rings;
struct trace_source;

struct trace {
    struct trace_lane *lanes;
    uint32_t lane_count;
    uint64_t event_count;
    /* Walks return what ends at `from_ns` or later and starts before `until_ns`: all of it, until
     * the caller sets them. */
    uint64_t from_ns;
    uint64_t until_ns;
    uint64_t vanished; /* events that a walk did not find again, as the file was cut meanwhile */
    struct trace_rings *rings;
};

/* In the snapshot's memory, 5 bytes for each span of a thread and 16 for each place of the rings
 * whose events do not nest; where threads record meanwhile, also a copy of the rings. 0, also when
 * there is no trace; -1 without memory. */
int trace_read(struct trace *out, struct snapshot *s);

/* A walk over the events of a lane: by start, the longer first. One walk of a trace at a time. */
struct trace_walk {
    struct trace *trace;
    struct trace_rings *rings;
    uint64_t from_ns;
    uint64_t until_ns;
    const struct trace_lane *lane;
    const struct trace_source *from;
    const struct stint_impl_event *row; /* events that are in memory, with their places */
    uint32_t row_first;
    uint32_t row_count;
    uint64_t next;
    /* Events that nest as the ring has them, and the depth of each. */
    const uint32_t *nested;
    const unsigned char *depth;
    uint64_t nested_count;
    struct trace_event event;
};
void trace_walk_start(struct trace_walk *w, struct trace *t, uint32_t lane);
/* The next event, which is valid until the next call; NULL after the last one. */
const struct trace_event *trace_walk_next(struct trace_walk *w);

/* Numbers of the events in the rings, without having them in memory or in order. */
struct trace_count {
    uint32_t rings; /* that anything was recorded in */
    uint64_t kinds[TRACE_VALUE + 1];
    uint64_t overwritten; /* as trace_lane.overwritten */
};

/* 0, also when there is no trace; -1 without memory. */
int trace_count(struct trace_count *out, struct snapshot *s);

/* ---- trace_name.c: the names of lanes. */

void trace_name_thread(struct trace_lane *out, const struct snapshot_thread *t);
/* Says also of which GPU it is, and of what its spans are. */
void trace_name_stream(struct trace_lane *out, const struct arena_lane *l,
                       const struct snapshot *s);

#endif
