/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_run RUN: one of hand_run.h's runs, or one of these, as a report on stdout.
 *   big    10^5 call paths of 30000 names, 10^6 spans on 20 lanes, 50000 marks and values
 *   flat   3000 roots of no time at all
 *   sent   a scope of 100 ms that sent 60 ms and 80 ms of work to two other threads
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/tool/formats.h"
#include "hand_run.h"

#define NODES 100000u
#define SITES 30000u
#define LANES 20u
#define LANE_SPANS 50000u
#define LANE_POINTS 5000u

static uint64_t random_next(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Memory of the process's life. */
static void *many(size_t count, size_t size) {
    void *out = calloc(count, size);
    if (!out) {
        perror("html_run");
        exit(1);
    }
    return out;
}

static void big_sites(struct snapshot *s, uint32_t count) {
    s->sites = many(count + 1, sizeof *s->sites);
    for (uint32_t i = 1; i <= count; ++i) {
        char *name = many(1, 32);
        s->sites[i].length = (uint32_t)snprintf(name, 32, "part%u::scope%u", i % 97, i);
        s->sites[i].name = name;
    }
    s->site_count = count;
}

/* Each node takes a seventh of its parent's time, six have the same parent. */
static void big_nodes(struct snapshot *s, uint32_t count, uint32_t sites, uint64_t total) {
    s->nodes = many(count + 1, sizeof *s->nodes);
    s->nodes[0].parent = s->nodes[0].sender = SNAPSHOT_NONE;
    s->nodes[0].extra = &snapshot_no_extra;
    s->nodes[0].measures = &snapshot_no_measures;
    for (uint32_t i = 1; i <= count; ++i) {
        struct snapshot_node *n = &s->nodes[i];
        n->extra = &snapshot_no_extra;
        n->measures = &snapshot_no_measures;
        n->parent = total ? (i - 1) / 6 : 0;
        n->sender = SNAPSHOT_NONE;
        n->site = 1 + i * 7919u % sites;
        n->total = n->parent ? s->nodes[n->parent].total / 7 : total / 6;
        n->count = n->total ? 1 : 1 + i % 3;
        n->min = n->max = n->first = n->total / n->count;
    }
    s->node_count = count + 1;
}

static void big_lane(struct trace *t, struct trace_event *events, uint32_t index) {
    struct trace_lane *lane = &t->lanes[index];
    uint64_t first = t->event_count;
    uint64_t at = 0;
    snprintf(lane->name, sizeof lane->name, "thread %u", 1000 + index);
    lane->thread = index < LANES - 2 ? 0 : SNAPSHOT_NONE;
    for (uint32_t i = 0; i < LANE_SPANS + LANE_POINTS; ++i) {
        struct trace_event *e = &events[t->event_count++];
        int span = i % 11 != 10;
        e->kind = span ? TRACE_SPAN : i % 2 ? TRACE_MARK : TRACE_VALUE;
        e->start_ns = at;
        e->duration_ns = span ? 100 + (random_next() % 1000 << random_next() % 8) : 0;
        e->site = 1 + (uint32_t)(random_next() % 500);
        e->value = (double)i / 7;
        at += span ? e->duration_ns + random_next() % 5000 : 0;
    }
    lane->count = t->event_count - first;
}

static struct run *big(struct hand_run *h) {
    struct run *r = &h->run;
    hand_start(h);
    hand_thread(h, 1, "main");
    r->program = "big";
    big_sites(&r->snapshot, SITES);
    big_nodes(&r->snapshot, NODES, SITES, 900000000);
    r->trace.lanes = many(LANES, sizeof *r->trace.lanes);
    struct trace_event *events = many((size_t)LANES * (LANE_SPANS + LANE_POINTS), sizeof *events);
    r->trace.rings = (struct trace_rings *)(void *)events;
    for (; r->trace.lane_count < LANES; ++r->trace.lane_count) {
        big_lane(&r->trace, events, r->trace.lane_count);
    }
    return hand_run(h);
}

static struct run *flat(struct hand_run *h) {
    hand_start(h);
    hand_thread(h, 1, "main");
    big_sites(&h->run.snapshot, 3000);
    big_nodes(&h->run.snapshot, 3000, 3000, 0);
    return hand_run(h);
}

/* The work is below its sender and ran at the same time, so together it takes longer. */
static struct run *sent(struct hand_run *h) {
    uint32_t main_root, attention, worker;
    hand_start(h);
    main_root = hand_thread(h, 1, "main");
    attention = hand_node(h, main_root, hand_site(h, "attention", 9), 10, 100000000, 0);
    hand_node(h, main_root, hand_site(h, "norm", 4), 10, 20000000, 0);
    for (uint32_t i = 0; i < 2; ++i) {
        worker = hand_thread(h, 2 + i, "worker");
        uint32_t site = hand_site(h, i ? "values" : "scores", 6);
        uint32_t work = hand_node(h, worker, site, 10, 60000000 + 20000000 * i, 0);
        h->nodes[work].sender = attention;
    }
    return hand_run(h);
}

int main(int argc, char **argv) {
    static struct hand_run h;
    static struct sink out;
    const char *name = argc == 2 ? argv[1] : "";
    struct run *r = !strcmp(name, "big")    ? big(&h)
                    : !strcmp(name, "flat") ? flat(&h)
                    : !strcmp(name, "sent") ? sent(&h)
                                            : hand_run_of(&h, name);
    if (!r) {
        fprintf(stderr, "usage: html_run RUN\n");
        return 2;
    }
    sink_start(&out, 1);
    int failed = export_html(&out, r) || sink_close(&out);
    hand_end(&h);
    return failed;
}
