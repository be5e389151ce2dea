/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows of steps of a scope that waits for other ranks: which rank was the last one how
 * often, and what that cost in each part of the run. The first table counts the windows as they
 * were recorded; the second one adds up their costs in a few lines, so that a rank that is last in
 * some windows is not hidden by one that is last in the next ones.
 */
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "rank_windows.h"
#include "report_rank_parts.h"
#include "stint/stint.h"

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

void report_rank_heading(struct text *out, const struct ranks *r, uint32_t name) {
    const struct snapshot_site *site = &r->snapshot->sites[r->name[name].site];
    const char *set = r->snapshot->sets[r->name[name].set];
    int sets = 0;
    text_name(out, site->name, site->length, 0);
    for (uint32_t i = 0; i < r->name_count; ++i) {
        const struct snapshot_site *other = &r->snapshot->sites[r->name[i].site];
        sets += other->length == site->length && !memcmp(other->name, site->name, site->length);
    }
    if (sets > 1) {
        text_add(out, " @");
        text_name(out, set, strlen(set), 0);
    }
}

void report_rank_verdict(struct text *out, const struct rank_verdict *verdict, const char *named) {
    char share[TEXT_NUMBER];
    text_share(share, verdict->covered_ppm);
    if (verdict->why == RANK_WHY_CAUSE) {
        text_add(out, ": %s cover%s %s %% of the cost\n", named, verdict->count == 1 ? "s" : "",
                 share);
        return;
    }
    text_add(out, ": no cause is named, %s", rank_why_text(verdict->why));
    if (verdict->why == RANK_WHY_SEVERAL) {
        text_add(out, " (%s: %s %%)", named, share);
    }
    text_put(out, "\n", 1);
}

static void put_windows_heading(struct text *out, const struct rank_windows *w, uint32_t name,
                                const struct rank_tally *tally) {
    const char *of = w->by_calls ? "call" : "step";
    report_rank_heading(out, w->ranks, name);
    text_add(out, ": %u window%s of %llu %s%s, %u ranks", w->count, text_plural(w->count),
             (unsigned long long)w->width, of, text_plural(w->width), w->with);
    if (w->without) {
        text_add(out, ", %u without windows", w->without);
    }
    if (tally->differ) {
        text_add(out, "; %u not compared, the ranks have different numbers of calls in them",
                 tally->differ);
    }
    text_put(out, "\n", 1);
}

/* Whether the part of one rank alone means anything: of two ranks, one is always last, and of a
 * root that keeps the others waiting all of the cost is its own. */
static int has_alone(const struct rank_windows *w, const struct ranks_room *room) {
    return w->with > 2 && room->role == STINT_ROLE_WAITING;
}

/* How often each rank was the last. */
static int put_last_ranks(const struct report *r, const struct rank_windows *w,
                          const struct rank_tally *tally, int ranks_alone) {
    static const char *const titles[] = {"last", "host", "windows", "%", "cost", "alone", NULL};
    struct report_grid g;
    grid_start(&g, titles, 3u);
    for (uint32_t i = 0; i < tally->ranks && i < LAST_MOST; ++i) {
        uint32_t rank = tally->order[i];
        const struct rank_last *last = &tally->of[rank];
        grid_rank(&g, w->ranks, rank);
        grid_rank_host(&g, w->ranks, rank);
        grid_add(&g, "%u", last->windows);
        grid_share(&g, last->windows, tally->windows);
        grid_time(&g, last->cost_ns);
        if (ranks_alone) {
            grid_add(&g, "%u", last->alone);
        } else {
            grid_dashes(&g, 1);
        }
    }
    int failed = grid_print(&g, r->out, 4);
    if (tally->ranks > LAST_MOST) {
        text_add(r->out, "    (%u more)\n", tally->ranks - LAST_MOST);
    }
    return failed;
}

/* The windows from `first` to before `end` as a line. */
static int put_window_line(const struct report *r, struct report_grid *g,
                           const struct rank_windows *w, struct ranks_room *room, uint32_t first,
                           uint32_t end) {
    struct scratch_mark before = scratch_mark(&r->snapshot->memory);
    struct rank_tally tally;
    uint64_t from = first * w->width, last = u64_min(end * w->width, w->steps) - 1;
    if (rank_windows_tally(&tally, w, first, end, room, &r->snapshot->memory)) {
        return -1;
    }
    grid_add(g, "%llu-%llu", (unsigned long long)from, (unsigned long long)last);
    if (tally.differ == end - first) {
        grid_dashes(g, 5);
    } else if (!tally.ranks) {
        grid_time(g, 0);
        grid_dashes(g, 4);
    } else {
        const struct rank_last *of = &tally.of[tally.order[0]];
        grid_time(g, tally.cost_ns);
        grid_rank(g, w->ranks, tally.order[0]);
        grid_rank_host(g, w->ranks, tally.order[0]);
        grid_share(g, of->cost_ns, tally.cost_ns);
        if (has_alone(w, room)) {
            grid_share(g, of->alone_ns, tally.cost_ns);
        } else {
            grid_dashes(g, 1);
        }
    }
    scratch_release(&r->snapshot->memory, before);
    return 0;
}

/* The run from its start to its end. Steps are numbered as for captures: from 0. */
static int put_window_lines(const struct report *r, const struct rank_windows *w,
                            struct ranks_room *room) {
    static const char *const titles[] = {"steps", "cost", "last", "host", "%", "alone %", NULL};
    struct report_grid g;
    uint32_t each = 1;
    int failed = 0;
    while ((w->count + each - 1) / each > LINES_MOST) {
        each *= 2;
    }
    grid_start(&g, titles, 1u | 3u << 2);
    for (uint32_t i = 0; i < w->count && !failed; i += each) {
        uint32_t end = (uint32_t)u64_min((uint64_t)i + each, w->count);
        failed = put_window_line(r, &g, w, room, i, end);
    }
    return grid_print(&g, r->out, 4) || failed;
}

int report_rank_windows(const struct report *r, const struct ranks *ranks, struct ranks_room *room,
                        uint32_t name) {
    struct scratch *memory = &r->snapshot->memory;
    struct scratch_mark before = scratch_mark(memory);
    struct rank_windows w;
    struct rank_tally tally;
    int failed = rank_windows_read(&w, ranks, name, room, memory);
    int is_shown = w.count > 1 || (w.count && !w.by_calls);
    if (!failed && w.with > 1 && is_shown && ranks_room_knows_last(room)) {
        failed = rank_windows_tally(&tally, &w, 0, w.count, room, memory);
        if (!failed && (tally.windows || tally.differ)) {
            put_windows_heading(r->out, &w, name, &tally);
            failed = put_last_ranks(r, &w, &tally, has_alone(&w, room));
            text_put(r->out, "\n", 1);
            failed = failed || put_window_lines(r, &w, room);
            text_put(r->out, "\n", 1);
        }
    }
    scratch_release(memory, before);
    return failed ? -1 : 0;
}
