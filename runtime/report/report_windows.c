/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows of steps of a scope that waits for other ranks: which rank was the last one how
 * often, and what that cost in each part of the run. The first table counts the windows as they
 * were recorded; the second one adds them up to a few lines.
 */
#include <stdio.h>
#include <string.h>

#include "read/rank_windows.h"
#include "report_rank_parts.h"

#define LINES_MOST 16u /* of the run */
#define LAST_MOST 5u   /* ranks */

void grid_rank(struct report_grid *g, const struct ranks *r, uint32_t rank) {
    char label[RANKS_LABEL];
    ranks_label(label, r, rank);
    grid_name(g, label, strlen(label), 0);
}

void grid_rank_host(struct report_grid *g, const struct ranks *r, uint32_t rank) {
    const char *host = ranks_text(r, r->rank[rank].host);
    grid_name(g, host, strlen(host), RANK_NAME_COLUMNS);
}

void grid_ppm(struct report_grid *g, uint32_t ppm) {
    grid_share(g, ppm, 1000000);
}

static void put_windows_heading(struct text *out, const struct rank_windows *w, uint32_t name,
                                const struct rank_tally *tally) {
    const struct ranks *r = w->ranks;
    const struct snapshot_site *site = &r->snapshot->sites[r->name[name].site];
    text_name(out, site->name, site->length, 0);
    text_add(out, ": %u window%s of %llu step%s, %u ranks", w->count, text_plural(w->count),
             (unsigned long long)w->width, text_plural(w->width), w->with);
    if (w->without) {
        text_add(out, ", %u without windows", w->without);
    }
    if (tally->differ) {
        text_add(out, "; %u not compared, the ranks have different numbers of calls in them",
                 tally->differ);
    }
    text_put(out, "\n", 1);
}

/* How often each rank was the last. */
static int put_last_ranks(const struct report *r, const struct ranks *ranks,
                          const struct rank_tally *tally) {
    static const char *const titles[] = {"last", "host", "windows", "%", "cost", "alone", NULL};
    struct report_grid g;
    grid_start(&g, titles, 3u);
    for (uint32_t i = 0; i < tally->ranks && i < LAST_MOST; ++i) {
        uint32_t rank = tally->order[i];
        const struct rank_last *last = &tally->of[rank];
        grid_rank(&g, ranks, rank);
        grid_rank_host(&g, ranks, rank);
        grid_add(&g, "%u", last->windows);
        grid_share(&g, last->windows, tally->windows);
        grid_time(&g, last->cost_ns);
        grid_add(&g, "%u", last->alone);
    }
    int failed = grid_print(&g, r->out, 4);
    if (tally->ranks > LAST_MOST) {
        text_add(r->out, "    (%u more)\n", tally->ranks - LAST_MOST);
    }
    return failed;
}

static void put_window(struct report_grid *g, const struct rank_windows *w, uint32_t window,
                       const struct rank_wait *wait) {
    uint64_t first = window * w->width, last = first + w->width - 1;
    if (last >= w->steps || last < first) {
        last = w->steps - 1;
    }
    grid_add(g, "%llu-%llu", (unsigned long long)first, (unsigned long long)last);
    if (wait->calls_differ) {
        grid_add(g, "-");
    } else {
        grid_time(g, wait->cost_ns);
    }
    if (wait->calls_differ || !wait->cost_ns) {
        for (int i = 0; i < 4; ++i) {
            grid_add(g, "-");
        }
        return;
    }
    grid_rank(g, w->ranks, wait->late);
    grid_rank_host(g, w->ranks, wait->late);
    grid_time(g, wait->late_ns);
    grid_ppm(g, wait->covered_ppm);
}

/* The run from its start to its end. Steps are numbered as for captures: from 0. */
static int put_window_lines(const struct report *r, const struct rank_windows *windows,
                            struct ranks_room *room) {
    static const char *const titles[] = {"steps", "cost", "last", "host", "waits", "alone %", NULL};
    struct rank_windows w = *windows;
    struct rank_wait wait;
    struct report_grid g;
    rank_windows_widen(&w, LINES_MOST);
    grid_start(&g, titles, 1u | 3u << 2);
    for (uint32_t i = 0; i < w.count; ++i) {
        rank_windows_wait(&wait, &w, i, room);
        put_window(&g, &w, i, &wait);
    }
    return grid_print(&g, r->out, 4);
}

int report_rank_windows(const struct report *r, const struct ranks *ranks, struct ranks_room *room,
                        uint32_t name, uint32_t *put) {
    struct scratch *memory = &r->snapshot->memory;
    struct scratch_mark before = scratch_mark(memory);
    struct rank_windows w;
    struct rank_tally tally;
    int failed = rank_windows_read(&w, ranks, name, memory);
    if (!failed && w.with > 1 && w.count) {
        ++*put;
        failed = rank_windows_tally(&tally, &w, room, memory);
        if (!failed) {
            put_windows_heading(r->out, &w, name, &tally);
            failed = put_last_ranks(r, ranks, &tally);
            text_put(r->out, "\n", 1);
            failed = failed || put_window_lines(r, &w, room);
            text_put(r->out, "\n", 1);
        }
    }
    scratch_release(memory, before);
    return failed ? -1 : 0;
}
