/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stint's own JSON of a run file: that of a snapshot (export_json_snapshot.c), with the ranks of a
 * merged run as the object "ranks", which the page has, too: how evenly each name is spread, for
 * each waiting scope which rank is late, what that costs, whether ranks are the cause, and its
 * windows. The numbers are those of the view `ranks`.
 */
#include "export_json.h"

#include <string.h>

#include "export/export_columns.h"
#include "formats.h"
#include "ranks/rank_judge.h"
#include "stint/stint.h"

static void rank_put_key(struct sink *out, const char *prefix, const char *key) {
    sink_put(out, ",\"", 2);
    sink_text(out, prefix);
    sink_text(out, key);
    sink_put(out, "\":", 2);
}

/* Members `,"PREFIX_rank":3,"PREFIX_host":"node1","PREFIX_pid":12`; without a rank if no launcher
 * gave one. */
static void export_rank(struct sink *out, const char *prefix, const struct ranks *r,
                        uint32_t rank) {
    const struct arena_rank *of = &r->rank[rank];
    struct export_name host = export_text(ranks_text(r, of->host));
    if (of->rank) {
        rank_put_key(out, prefix, "_rank");
        sink_u64(out, of->rank - 1);
    }
    rank_put_key(out, prefix, "_host");
    sink_json(out, host.bytes, host.length);
    rank_put_key(out, prefix, "_pid");
    sink_u64(out, of->pid);
}

/* The beginning of a row's object. */
static void rank_put_name(struct sink *out, const struct ranks *r, uint32_t name) {
    struct export_name text = export_site(r->snapshot, r->name[name].site);
    const char *set = export_set_name(r->snapshot, r->name[name].set, "?");
    sink_text(out, "{\"name\":");
    sink_json(out, text.bytes, text.length);
    sink_member(out, "set");
    sink_json(out, set, strlen(set));
}

static void rank_put_spread(struct sink *out, const struct ranks *r, uint32_t name,
                            const struct rank_spread *spread) {
    rank_put_name(out, r, name);
    sink_member_u64(out, "ranks", spread->ranks);
    sink_member_u128(out, "calls", spread->calls);
    sink_member_u128(out, "total_ns", spread->total_ns);
    sink_member_u64(out, "min_ns", spread->min_ns);
    sink_member_u64(out, "mean_ns", spread->mean_ns);
    sink_member_u64(out, "median_ns", spread->median_ns);
    sink_member_u64(out, "max_ns", spread->max_ns);
    sink_member_u64(out, "stddev_ns", spread->stddev_ns);
    sink_member_u128(out, "lost_ns", spread->lost_ns);
    sink_member_u64(out, "imbalance_ppm", spread->imbalance_ppm);
    export_rank(out, "min", r, spread->min_rank);
    export_rank(out, "max", r, spread->max_rank);
    sink_put(out, "}", 1);
}

/* ---- Waiting. */

struct rank_export {
    struct sink *out;
    struct scratch *memory;
    const struct ranks *ranks;
    struct ranks_room *room;
    uint32_t most; /* items of a list */
    uint32_t rows; /* that are judged */
};

static void rank_put_bool(struct sink *out, const char *key, int value) {
    sink_member(out, key);
    sink_text(out, value ? "true" : "false");
}

/* The late rank; nothing where no rank waited for another one or their calls differ. */
static void rank_put_last(const struct rank_export *e, const struct rank_wait *wait) {
    if (wait->calls_differ) {
        rank_put_bool(e->out, "calls_differ", 1);
        return;
    }
    if (!wait->cost_ns || wait->late == RANK_NONE) {
        return;
    }
    export_rank(e->out, "last", e->ranks, wait->late);
    sink_member_u64(e->out, "last_wait_ns", wait->late_ns);
    if (wait->spread.ranks > 2 && e->room->role == STINT_ROLE_WAITING) {
        sink_member_u64(e->out, "alone_ppm", wait->covered_ppm);
    }
}

static int rank_put_excesses(const struct rank_export *e, const struct rank_verdict *verdict) {
    struct rank_excesses excesses;
    if (ranks_excesses(&excesses, e->ranks, verdict->rank, verdict->count, verdict->least_ns,
                       e->room, e->memory)) {
        return -1;
    }
    sink_member(e->out, "longer_in");
    sink_put(e->out, "[", 1);
    for (uint32_t i = 0; i < excesses.count; ++i) {
        const struct rank_excess *excess = &excesses.of[i];
        if (i) {
            sink_put(e->out, ",", 1);
        }
        if (excess->name == RANK_NONE) {
            sink_text(e->out, "{\"name\":\"" RANK_OUTSIDE "\",\"set\":\"\"");
        } else {
            rank_put_name(e->out, e->ranks, excess->name);
        }
        sink_member_u64(e->out, "self_ns", excess->own_ns);
        sink_member_u64(e->out, "by_ns", excess->by_ns);
        sink_put(e->out, "}", 1);
    }
    sink_put(e->out, "]", 1);
    return 0;
}

/* Whether ranks are the cause, and which; or why none is named. */
static int rank_put_cause(const struct rank_export *e, uint32_t name) {
    struct rank_verdict verdict;
    if (rank_judge_name(&verdict, e->ranks, name, e->rows, e->room, e->memory)) {
        return -1;
    }
    if (verdict.why == RANK_WHY_NO_COST) {
        return 0;
    }
    rank_put_bool(e->out, "is_cause", verdict.why == RANK_WHY_CAUSE);
    if (verdict.why != RANK_WHY_CAUSE) {
        const char *why = rank_why_text(verdict.why);
        sink_member(e->out, "no_cause");
        sink_json(e->out, why, strlen(why));
        return 0;
    }
    sink_member(e->out, "causes");
    for (uint32_t i = 0; i < verdict.count; ++i) {
        const struct arena_rank *of = &e->ranks->rank[verdict.rank[i]];
        struct export_name host = export_text(ranks_text(e->ranks, of->host));
        sink_text(e->out, i ? ",{\"host\":" : "[{\"host\":");
        sink_json(e->out, host.bytes, host.length);
        sink_member_u64(e->out, "pid", of->pid);
        if (of->rank) {
            sink_member_u64(e->out, "rank", of->rank - 1);
        }
        sink_put(e->out, "}", 1);
    }
    sink_put(e->out, "]", 1);
    sink_member_u64(e->out, "covered_ppm", verdict.covered_ppm);
    return rank_put_excesses(e, &verdict);
}

static void rank_put_tally(const struct rank_export *e, const struct rank_tally *tally) {
    sink_member(e->out, "last");
    sink_put(e->out, "[", 1);
    for (uint32_t i = 0; i < tally->ranks && i < e->most; ++i) {
        const struct rank_last *last = &tally->of[tally->order[i]];
        sink_text(e->out, i ? ",{\"windows\":" : "{\"windows\":");
        sink_u64(e->out, last->windows);
        sink_member_u64(e->out, "alone", last->alone);
        sink_member_u128(e->out, "cost_ns", last->cost_ns);
        export_rank(e->out, "last", e->ranks, tally->order[i]);
        sink_put(e->out, "}", 1);
    }
    sink_put(e->out, "]", 1);
}

static void rank_put_windows(const struct rank_export *e, const struct rank_windows *w) {
    struct rank_wait wait;
    sink_member(e->out, "windows");
    sink_put(e->out, "[", 1);
    for (uint32_t i = 0; i < w->count; ++i) {
        rank_windows_wait(&wait, w, i, e->room);
        sink_text(e->out, i ? ",{\"first_step\":" : "{\"first_step\":");
        sink_u64(e->out, i * w->width);
        if (!wait.calls_differ) {
            sink_member_u128(e->out, "cost_ns", wait.cost_ns);
        }
        rank_put_last(e, &wait);
        if (!wait.calls_differ && wait.cost_ns) {
            rank_put_bool(e->out, "is_cause", ranks_wait_is_alone(&wait));
        }
        sink_put(e->out, "}", 1);
    }
    sink_put(e->out, "]", 1);
}

static int rank_put_steps(const struct rank_export *e, uint32_t name) {
    struct rank_windows w;
    struct rank_tally tally;
    if (rank_windows_read(&w, e->ranks, name, e->room, e->memory)) {
        return -1;
    }
    if (w.with < 2 || !w.count || !ranks_room_knows_last(e->room)) {
        return 0;
    }
    if (rank_windows_tally(&tally, &w, 0, w.count, e->room, e->memory)) {
        return -1;
    }
    sink_text(e->out, ",\"by_steps\":{\"steps\":");
    sink_u64(e->out, w.steps);
    sink_member_u64(e->out, "window_steps", w.width);
    rank_put_bool(e->out, "by_calls", w.by_calls);
    sink_member_u64(e->out, "ranks", w.with);
    sink_member_u64(e->out, "ranks_without", w.without);
    sink_member_u64(e->out, "compared", tally.windows);
    sink_member_u64(e->out, "not_compared", tally.differ);
    rank_put_tally(e, &tally);
    rank_put_windows(e, &w);
    sink_put(e->out, "}", 1);
    return 0;
}

static int rank_put_wait(const struct rank_export *e, uint32_t name) {
    struct rank_wait wait;
    ranks_wait(&wait, e->ranks, name, e->room);
    rank_put_name(e->out, e->ranks, name);
    sink_member_u64(e->out, "ranks", wait.spread.ranks);
    sink_member_u64(e->out, "calls_per_rank", wait.calls);
    sink_member_u128(e->out, "total_ns", wait.spread.total_ns);
    sink_member_u128(e->out, "cost_ns", wait.cost_ns);
    sink_member_u64(e->out, "first_gap_ns", wait.first_gap_ns);
    sink_member_u64(e->out, "second_gap_ns", wait.second_gap_ns);
    sink_member_u64(e->out, "last_gap_ns", wait.last_gap_ns);
    rank_put_last(e, &wait);
    if (rank_put_cause(e, name) || rank_put_steps(e, name)) {
        return -1;
    }
    sink_put(e->out, "}", 1);
    return 0;
}

static int rank_put_waits(const struct rank_export *e, const struct ranks_spreads *spreads) {
    uint64_t item = 0;
    sink_member(e->out, "waiting");
    sink_put(e->out, "[", 1);
    for (uint32_t i = 0; i < e->ranks->name_count; ++i) {
        uint32_t name = spreads->order[i];
        if (spreads->of[name].ranks > 1 && ranks_waiting_role(e->ranks, name)) {
            struct scratch_mark before = scratch_mark(e->memory);
            export_start_item(e->out, item++);
            int failed = rank_put_wait(e, name);
            scratch_release(e->memory, before);
            if (failed) {
                return -1;
            }
        }
    }
    sink_put(e->out, "]", 1);
    return 0;
}

int export_json_ranks(struct sink *out, struct snapshot *s, uint32_t most) {
    struct ranks ranks;
    struct ranks_room room;
    struct ranks_spreads spreads;
    struct scratch_mark before = scratch_mark(&s->memory);
    if (ranks_read(&ranks, s)) {
        return 0;
    }
    struct rank_export e = {out, &s->memory, &ranks, &room, most, 0};
    int failed = ranks_room_get(&room, &s->memory, &ranks) ||
                 ranks_spreads(&spreads, &ranks, &room, &s->memory);
    if (!failed) {
        uint64_t item = 0;
        e.rows = rank_rows_judged(&ranks, &room);
        sink_text(out, ",\n\"ranks\":{\"count\":");
        sink_u64(out, ranks.count);
        sink_text(out, ",\"names\":[");
        for (uint32_t i = 0; i < ranks.name_count && item < most; ++i) {
            if (spreads.of[spreads.order[i]].ranks) {
                export_start_item(out, item++);
                rank_put_spread(out, &ranks, spreads.order[i], &spreads.of[spreads.order[i]]);
            }
        }
        sink_put(out, "]", 1);
        failed = rank_put_waits(&e, &spreads);
        sink_put(out, "}", 1);
    }
    scratch_release(&s->memory, before);
    return failed ? -1 : 0;
}

int export_json(struct sink *out, struct run *r) {
    return export_json_snapshot(out, &r->snapshot, r, export_json_ranks);
}
