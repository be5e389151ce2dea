/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a merged run for the HTML export; called by export_html.c. The object "ranks" is as
 * in json. For each waiting scope with windows of steps a heat map is added: how much earlier than
 * a rank the first one came, by rank and window, as two characters per cell. Of more than
 * HTML_HEAT_RANKS ranks, a row is of neighbours and has the latest of them: no late rank is hidden.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "export_html.h"
#include "export_json.h"
#include "ranks/rank_windows.h"
#include "stint/stint.h"

#define LEVELS 4095u /* of lateness, 0 to the most of the map: two digits of 64 */
#define NO_LEVEL LEVELS

struct heat {
    struct html *h;
    const struct ranks *ranks;
    struct ranks_room *room;
    struct rank_windows windows;
    const uint32_t *order; /* of ranks: by number */
    uint32_t *row_of;      /* by rank; SNAPSHOT_NONE: it has no windows */
    uint32_t *level;       /* by row */
    uint32_t rows;
    uint32_t each; /* ranks of a row */
    uint64_t most_ns;
};

/* Ranks without a number come last. */
static int is_number_before(const void *what, uint32_t a, uint32_t b) {
    const struct arena_rank *rank = what;
    return rank[a].rank - 1 < rank[b].rank - 1;
}

static int heat_start(struct heat *heat, struct scratch *memory) {
    uint32_t count = heat->ranks->count, taken = 0;
    heat->row_of = scratch_array(memory, (size_t)count + 1, sizeof *heat->row_of);
    heat->level = scratch_array(memory, (size_t)count + 1, sizeof *heat->level);
    if (scratch_failed(memory)) {
        return -1;
    }
    heat->each = (heat->windows.with + HTML_HEAT_RANKS - 1) / HTML_HEAT_RANKS;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t rank = heat->order[i];
        heat->row_of[rank] = SNAPSHOT_NONE;
        if (heat->windows.record[rank]) {
            heat->row_of[rank] = taken++ / heat->each;
        }
    }
    heat->rows = (taken + heat->each - 1) / heat->each;
    return 0;
}

static void heat_find_most(struct heat *heat) {
    struct rank_wait wait;
    for (uint32_t i = 0; i < heat->windows.count; ++i) {
        rank_windows_wait(&wait, &heat->windows, i, heat->room);
        if (!wait.calls_differ) {
            heat->most_ns = u64_max(heat->most_ns, wait.spread.max_ns - wait.spread.min_ns);
        }
    }
}

static uint32_t heat_level(const struct heat *heat, uint64_t late_ns) {
    if (!heat->most_ns) {
        return 0;
    }
    return (uint32_t)((double)late_ns / (double)heat->most_ns * (LEVELS - 1) + 0.5);
}

static void heat_put_level(struct sink *out, uint32_t level) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    sink_put(out, &digits[level / 64], 1);
    sink_put(out, &digits[level % 64], 1);
}

/* Nothing is known of ranks without calls, nor where the ranks have different numbers of calls. */
static void heat_put_window(struct heat *heat, uint32_t window) {
    const struct ranks_room *room = heat->room;
    struct rank_wait wait;
    rank_windows_wait(&wait, &heat->windows, window, heat->room);
    for (uint32_t i = 0; i < heat->rows; ++i) {
        heat->level[i] = NO_LEVEL;
    }
    for (uint32_t i = 0; !wait.calls_differ && i < room->count; ++i) {
        uint32_t *level = &heat->level[heat->row_of[room->of[i]]];
        uint32_t is = heat_level(heat, wait.spread.max_ns - room->totals[i]);
        if (*level == NO_LEVEL || is > *level) {
            *level = is;
        }
    }
    for (uint32_t i = 0; i < heat->rows; ++i) {
        heat_put_level(heat->h->out, heat->level[i]);
    }
}

/* The first rank of each row. */
static void heat_put_rows(const struct heat *heat) {
    struct sink *out = heat->h->out;
    uint32_t row = 0;
    sink_text(out, ",\"rows\":[");
    for (uint32_t i = 0; i < heat->ranks->count; ++i) {
        uint32_t rank = heat->order[i];
        char label[RANKS_LABEL];
        if (heat->row_of[rank] != row) {
            continue;
        }
        ranks_label(label, heat->ranks, rank);
        sink_text(out, row ? ",[" : "[");
        sink_json(out, label, strlen(label));
        struct export_name host =
            export_text(ranks_text(heat->ranks, heat->ranks->rank[rank].host));
        sink_put(out, ",", 1);
        sink_json(out, host.bytes, host.length);
        sink_put(out, "]", 1);
        ++row;
    }
    sink_put(out, "]", 1);
}

static void heat_put(struct heat *heat, uint32_t name, uint32_t item) {
    struct sink *out = heat->h->out;
    struct export_name text = export_site(heat->ranks->snapshot, heat->ranks->name[name].site);
    export_start_item(out, item);
    sink_text(out, "{\"name\":");
    sink_json(out, text.bytes, text.length);
    html_text(out, "set", export_set_name(heat->ranks->snapshot, heat->ranks->name[name].set, "?"));
    sink_member_u64(out, "window_steps", heat->windows.width);
    sink_member_u64(out, "steps", heat->windows.steps);
    sink_member_u64(out, "windows", heat->windows.count);
    sink_member_u64(out, "ranks_each", heat->each);
    sink_member_u64(out, "most_ns", heat->most_ns);
    heat_put_rows(heat);
    sink_text(out, ",\"levels\":\"");
    for (uint32_t i = 0; i < heat->windows.count; ++i) {
        heat_put_window(heat, i);
    }
    sink_text(out, "\"}");
    if (heat->each > 1) {
        html_thinned(heat->h, "Heat map of ranks: a row is of %u ranks. ", heat->each);
    }
}

/* *items: maps so far. */
static int heat_put_name(struct heat *heat, uint32_t name, uint32_t *items) {
    struct scratch *memory = &heat->h->run->snapshot.memory;
    struct scratch_mark before = scratch_mark(memory);
    heat->most_ns = 0;
    int failed = rank_windows_read(&heat->windows, heat->ranks, name, heat->room, memory);
    if (!failed && heat->windows.with > 1 && heat->windows.count) {
        failed = heat_start(heat, memory);
        if (!failed) {
            heat_find_most(heat);
            heat_put(heat, name, (*items)++);
        }
    }
    scratch_release(memory, before);
    return failed;
}

int html_ranks(struct html *h) {
    struct snapshot *s = &h->run->snapshot;
    struct ranks ranks;
    struct ranks_room room;
    if (ranks_read(&ranks, s)) {
        return 0;
    }
    if (export_json_ranks(h->out, s, HTML_ROWS)) {
        return -1;
    }
    if (ranks.name_count > HTML_ROWS) {
        html_thinned(h, "Ranks: the %u of %u names with the most lost time. ", HTML_ROWS,
                     ranks.name_count);
    }
    struct heat heat = {.h = h, .ranks = &ranks, .room = &room};
    heat.order = order_by(&s->memory, ranks.count, is_number_before, ranks.rank);
    int failed = !heat.order || ranks_room_get(&room, &s->memory, &ranks);
    uint32_t items = 0;
    sink_text(h->out, ",\n\"heat\":[");
    for (uint32_t i = 0; i < ranks.name_count && !failed; ++i) {
        if (ranks_waiting_role(&ranks, i) == STINT_ROLE_WAITING) {
            failed = heat_put_name(&heat, i, &items);
        }
    }
    sink_put(h->out, "]", 1);
    return failed ? -1 : 0;
}
