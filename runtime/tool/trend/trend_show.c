/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the changes of a series of runs as text, and the whole series as JSON. cmd_trend.c calls
 * one of them. Names come from run files: text_name and sink_json make them safe.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/config.h"
#include "base/number.h"
#include "read/snapshot.h"
#include "tool/common/run_view.h"
#include "trend.h"

#define NAME_COLUMNS 44u
#define LABEL_COLUMNS 16u

static const struct diff_run *point_run(const struct trend *t, uint32_t point) {
    return &t->d.run[0][t->order[t->point[point].first]];
}

static double change_percent_of(const struct trend_change *c) {
    return 100 * expm1(c->after - c->before);
}

static void format_time(char out[TEXT_NUMBER], double ns) {
    text_time(out, snapshot_whole(ns + 0.5), CONFIG_UNIT_AUTO);
}

/* "25 (2026-01-25 03:00:00 +0000, abc1234)" */
static void put_point(const struct trend *t, struct text *out, uint32_t point) {
    char when[64];
    const struct diff_run *run = point_run(t, point);
    run_view_time(when, sizeof when, run->start_ns);
    text_add(out, "%u (%s", point + 1, when);
    if (*run->label) {
        text_add(out, ", ");
        text_name(out, run->label, strlen(run->label), LABEL_COLUMNS);
    }
    text_add(out, ")");
}

static size_t put_series_name(struct text *out, const struct trend_series *s) {
    size_t columns = text_name(out, s->name, s->length, NAME_COLUMNS);
    if (*s->set) {
        text_put(out, " @", 2);
        columns += 2 + text_name(out, s->set, strlen(s->set), NAME_COLUMNS);
    }
    return columns;
}

static void put_change_line(const struct trend *t, struct text *out, const struct trend_series *s,
                            const struct trend_change *c, size_t width) {
    char before[TEXT_NUMBER], after[TEXT_NUMBER];
    double percent = change_percent_of(c);
    size_t columns = put_series_name(out, s);
    text_spaces(out, width - columns + 2);
    format_time(before, exp(c->before));
    format_time(after, exp(c->after));
    text_add(out, "%s%s %%  %s -> %s  from run ", percent > 0 ? "+" : "",
             number_fixed(percent, 1).text, before, after);
    put_point(t, out, s->at[c->at]);
    text_add(out, ", p %s", number_short(c->p, 2).text);
    if (c->back) {
        text_add(out, ", went away at run %u", s->at[s->change[c->back - 1].at] + 1);
    }
    text_add(out, "\n");
}

static void put_move_line(const struct trend *t, struct text *out, const struct trend_move *m) {
    char lost[TEXT_NUMBER], gained[TEXT_NUMBER];
    format_time(lost, m->lost);
    format_time(gained, m->gained);
    text_add(out, "moved: ");
    put_series_name(out, &t->series[m->from]);
    text_add(out, " -> ");
    put_series_name(out, &t->series[m->to]);
    text_add(out, "  -%s, +%s  from run ", lost, gained);
    put_point(t, out, m->at);
    text_add(out, "\n");
}

static size_t find_name_width(const struct trend *t) {
    size_t width = 0;
    struct text name;
    text_start(&name);
    for (uint32_t i = 0; i < t->changed; ++i) {
        width = (size_t)u64_max(width, put_series_name(&name, &t->series[i]));
    }
    text_free(&name);
    return width;
}

static void put_trend_head(const struct trend *t, struct text *out) {
    const char *program = text_or_unknown(point_run(t, 0)->program);
    text_add(out, "stint trend: ");
    text_name(out, program, strlen(program), NAME_COLUMNS);
    text_add(out, ", %u runs", t->runs);
    if (t->points < t->runs) {
        text_add(out, " of %u commits", t->points);
    }
    text_add(out, ", run ");
    put_point(t, out, 0);
    text_add(out, " to ");
    put_point(t, out, t->points - 1);
    text_add(out, "\n\n");
}

void trend_show(const struct trend *t, struct text *out) {
    size_t width = find_name_width(t);
    put_trend_head(t, out);
    for (uint32_t i = 0; i < t->moves; ++i) {
        put_move_line(t, out, &t->move[i]);
    }
    for (uint32_t i = 0; i < t->changed; ++i) {
        const struct trend_series *s = &t->series[i];
        for (uint32_t k = 0; k < s->changes; ++k) {
            if (!trend_is_moved(t, i, s->at[s->change[k].at])) {
                put_change_line(t, out, s, &s->change[k], width);
            }
        }
    }
    text_add(out, "%stotal: %u of %u series changed", t->changed ? "\n" : "", t->changed, t->count);
    if (t->brief) {
        text_add(out, ", %u in fewer than %u runs not tested", t->brief, TREND_LEAST);
    }
    text_add(out, "\n");
}

/* ---- JSON. */

static void put_json_fixed(struct sink *out, const char *key, double value, int decimals) {
    sink_text(out, key);
    sink_text(out, number_fixed(value, decimals).text);
}

static void put_json_whole(struct sink *out, const char *key, uint64_t value) {
    sink_text(out, key);
    sink_u64(out, value);
}

static void put_json_point(const struct trend *t, struct sink *out, uint32_t point) {
    const struct diff_run *run = point_run(t, point);
    put_json_whole(out, "{\"run\":", point + 1);
    put_json_whole(out, ",\"start_ns\":", run->start_ns);
    sink_text(out, ",\"label\":");
    sink_json(out, run->label, strlen(run->label));
    sink_text(out, ",\"file\":");
    sink_json(out, run->path, strlen(run->path));
    put_json_whole(out, ",\"runs\":", t->point[point].runs);
    sink_text(out, "}");
}

static void put_json_change(const struct trend *t, struct sink *out, uint32_t series,
                            const struct trend_change *c) {
    const struct trend_series *s = &t->series[series];
    put_json_whole(out, "{\"run\":", s->at[c->at] + 1);
    put_json_fixed(out, ",\"change_percent\":", change_percent_of(c), 3);
    put_json_fixed(out, ",\"before_ns\":", exp(c->before), 1);
    put_json_fixed(out, ",\"after_ns\":", exp(c->after), 1);
    sink_text(out, ",\"p\":");
    sink_text(out, number_short(c->p, 6).text);
    if (c->back) {
        put_json_whole(out, ",\"went_away\":", s->at[s->change[c->back - 1].at] + 1);
    }
    int moved = trend_is_moved(t, series, s->at[c->at]);
    sink_text(out, moved ? ",\"moved\":true}" : ",\"moved\":false}");
}

static void put_json_series(const struct trend *t, struct sink *out, uint32_t series) {
    const struct trend_series *s = &t->series[series];
    sink_text(out, "{\"name\":");
    sink_json(out, s->name, s->length);
    sink_text(out, ",\"set\":");
    sink_json(out, s->set, strlen(s->set));
    sink_text(out, ",\"runs\":[");
    for (uint32_t i = 0; i < s->count; ++i) {
        put_json_whole(out, i ? "," : "", s->at[i] + 1);
    }
    sink_text(out, "],\"self_ns\":[");
    for (uint32_t i = 0; i < s->count; ++i) {
        put_json_fixed(out, i ? "," : "", exp(s->value[i]), 1);
    }
    sink_text(out, "],\"changes\":[");
    for (uint32_t i = 0; i < s->changes; ++i) {
        sink_text(out, i ? "," : "");
        put_json_change(t, out, series, &s->change[i]);
    }
    sink_text(out, "]}");
}

static void put_json_move(const struct trend *t, struct sink *out, const struct trend_move *m) {
    const struct trend_series *from = &t->series[m->from], *to = &t->series[m->to];
    sink_text(out, "{\"from\":");
    sink_json(out, from->name, from->length);
    sink_text(out, ",\"to\":");
    sink_json(out, to->name, to->length);
    put_json_whole(out, ",\"run\":", m->at + 1);
    put_json_fixed(out, ",\"lost_ns\":", m->lost, 1);
    put_json_fixed(out, ",\"gained_ns\":", m->gained, 1);
    sink_text(out, "}");
}

void trend_write_json(const struct trend *t, struct sink *out) {
    const char *program = point_run(t, 0)->program;
    sink_text(out, "{\"schema\":\"stint.trend/1\",\n\"program\":");
    sink_json(out, program, strlen(program));
    sink_text(out, ",\n\"points\":[");
    for (uint32_t i = 0; i < t->points; ++i) {
        sink_text(out, i ? ",\n" : "\n");
        put_json_point(t, out, i);
    }
    sink_text(out, "],\n\"moved\":[");
    for (uint32_t i = 0; i < t->moves; ++i) {
        sink_text(out, i ? "," : "");
        put_json_move(t, out, &t->move[i]);
    }
    sink_text(out, "],\n\"series\":[");
    for (uint32_t i = 0; i < t->count; ++i) {
        sink_text(out, i ? ",\n" : "\n");
        put_json_series(t, out, i);
    }
    sink_text(out, "]}\n");
}
