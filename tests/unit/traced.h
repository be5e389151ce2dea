/* SPDX-License-Identifier: Apache-2.0 */
/* A trace read for a test. */
#ifndef STINT_TESTS_TRACED_H
#define STINT_TESTS_TRACED_H

#include "interval/interval.h"
#include "model/trace.h"
#include "recorded.h"

#define TRACED static inline __attribute__((unused))

struct traced {
    struct snapshot s;
    struct trace t;
    struct trace_event *events; /* of all lanes, one after the other */
};

/* Reads the trace of the snapshot. */
TRACED int traced_read(struct traced *out) {
    const struct trace_event *e;
    struct trace_walk walk;
    uint64_t count = 0;
    if (trace_read(&out->t, &out->s)) {
        return -1;
    }
    out->events = (struct trace_event *)scratch_array(
        &out->s.memory, (size_t)out->t.event_count + 1, sizeof *out->events);
    for (uint32_t i = 0; i < out->t.lane_count; ++i) {
        uint64_t first = count;
        for (trace_walk_start(&walk, &out->t, i); (e = trace_walk_next(&walk));) {
            if (CHECK(count < out->t.event_count)) {
                out->events[count++] = *e;
            }
        }
        CHECK_EQ_U64(count - first, out->t.lanes[i].count);
    }
    CHECK_EQ_U64(count, out->t.event_count);
    return 0;
}

/* Reads the trace of this process, now. */
TRACED void traced_take(struct traced *out) {
    memset(out, 0, sizeof *out);
    if (CHECK(!snapshot_take(&out->s))) {
        CHECK(!traced_read(out));
    }
}

TRACED void traced_free(struct traced *t) {
    snapshot_free(&t->s);
}

/* The trace of this process, now; until the next call. */
TRACED struct traced *traced_now(void) {
    static struct traced newest;
    traced_free(&newest);
    traced_take(&newest);
    return &newest;
}

TRACED const char *traced_name(const struct traced *t, const struct trace_event *e) {
    return t->s.sites[e->site].name;
}

/* The lane whose name holds that text, NULL if there is none. */
TRACED const struct trace_lane *traced_lane(const struct traced *t, const char *text) {
    for (uint32_t i = 0; i < t->t.lane_count; ++i) {
        if (strstr(t->t.lanes[i].name, text)) {
            return &t->t.lanes[i];
        }
    }
    return NULL;
}

/* Its event of that number, or one that is nothing. */
TRACED const struct trace_event *traced_event(const struct traced *t, const struct trace_lane *l,
                                              uint64_t number) {
    static const struct trace_event none = {.kind = 99, .node = SNAPSHOT_NONE};
    if (!l || number >= l->count) {
        return &none;
    }
    for (const struct trace_lane *before = t->t.lanes; before < l; ++before) {
        number += before->count;
    }
    return &t->events[number];
}

TRACED uint64_t traced_overwritten(const struct traced *t) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->t.lane_count; ++i) {
        sum += t->t.lanes[i].overwritten;
    }
    return sum;
}

TRACED uint64_t traced_count(const struct traced *t, uint32_t kind, const char *name) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < t->t.event_count; ++i) {
        const struct trace_event *e = &t->events[i];
        count += e->kind == kind && (!name || !strcmp(traced_name(t, e), name));
    }
    return count;
}

/* Checks the rules for every trace: events are ordered by start, spans inside each other. */
TRACED void traced_check(const struct traced *t) {
    uint64_t wrong = 0;
    const struct trace_event *e = t->events;
    for (uint32_t i = 0; i < t->t.lane_count; ++i) {
        uint64_t ends[64] = {UINT64_MAX};
        const struct trace_event *first = e;
        for (; e < first + t->t.lanes[i].count && !wrong; ++e) {
            wrong += e > first && e->start_ns < e[-1].start_ns;
            if (e->kind == TRACE_SPAN && e->depth < 63) {
                wrong += e->start_ns + e->duration_ns > ends[e->depth] && e->depth;
                ends[e->depth + 1] = e->start_ns + e->duration_ns;
            }
        }
    }
    CHECK_EQ_U64(wrong, 0);
}

#endif
