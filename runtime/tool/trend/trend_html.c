/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a series of runs as a page for browsers: a small chart per series, those with changes
 * first. cmd_trend.c calls trend_write_html. The page has no script and loads nothing; names are
 * escaped as XML, so that none can end a tag.
 */
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/config.h"
#include "base/number.h"
#include "read/snapshot.h"
#include "tool/common/run_view.h"
#include "trend.h"

#define WIDTH 320.0 /* of a chart, pixels */
#define HEIGHT 80.0
#define EDGE 4.0
#define LEAST_RANGE 0.02 /* logarithm: noise of less is not drawn larger */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>stint trend</title>\n"
    "<style>body{font:14px sans-serif;margin:1em;color:#222;background:#fff}"
    "main{display:flex;flex-wrap:wrap;gap:1em}figure{margin:0;width:320px}"
    "figcaption{overflow-wrap:anywhere}svg{background:#f4f4f4;display:block}"
    ".line{fill:none;stroke:#36c}.level{stroke:#222}.mark{stroke:#c22;stroke-dasharray:3 2}"
    "p{margin:0;color:#555;font-size:12px}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}svg{background:#282828}"
    ".level{stroke:#ddd}.line{stroke:#7af}.mark{stroke:#f66}p{color:#aaa}}</style></head>\n<body>";

struct chart {
    const struct trend *t;
    const struct trend_series *s;
    struct sink *out;
    double low, high; /* logarithms */
};

static double chart_x(const struct chart *c, uint32_t point) {
    double last = double_max((double)c->t->points - 1, 1);
    return EDGE + (WIDTH - 2 * EDGE) * point / last;
}

static double chart_y(const struct chart *c, double value) {
    return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - c->low) / (c->high - c->low);
}

static void put_fixed(struct sink *out, const char *before, double value) {
    sink_text(out, before);
    sink_text(out, number_fixed(value, 1).text);
}

static void find_chart_range(struct chart *c) {
    c->low = c->high = c->s->value[0];
    for (uint32_t i = 1; i < c->s->count; ++i) {
        c->low = double_min(c->low, c->s->value[i]);
        c->high = double_max(c->high, c->s->value[i]);
    }
    double lacking = double_max(LEAST_RANGE - (c->high - c->low), 0);
    c->low -= lacking / 2;
    c->high += lacking / 2;
}

static void put_level(const struct chart *c, uint32_t from, uint32_t to, double value) {
    put_fixed(c->out, "<line class=\"level\" x1=\"", chart_x(c, c->s->at[from]));
    put_fixed(c->out, "\" x2=\"", chart_x(c, c->s->at[to - 1]));
    put_fixed(c->out, "\" y1=\"", chart_y(c, value));
    put_fixed(c->out, "\" y2=\"", chart_y(c, value));
    sink_text(c->out, "\"/>");
}

static void put_marks(const struct chart *c) {
    const struct trend_series *s = c->s;
    for (uint32_t i = 0; i < s->changes; ++i) {
        double x = chart_x(c, s->at[s->change[i].at]);
        uint32_t end = i + 1 < s->changes ? s->change[i + 1].at : s->count;
        put_fixed(c->out, "<line class=\"mark\" x1=\"", x);
        put_fixed(c->out, "\" x2=\"", x);
        put_fixed(c->out, "\" y1=\"0\" y2=\"", HEIGHT);
        sink_text(c->out, "\"/>");
        if (!i) {
            put_level(c, 0, s->change[0].at, s->change[0].before);
        }
        put_level(c, s->change[i].at, end, s->change[i].after);
    }
}

static void put_polyline(const struct chart *c) {
    sink_text(c->out, "<polyline class=\"line\" points=\"");
    for (uint32_t i = 0; i < c->s->count; ++i) {
        put_fixed(c->out, i ? " " : "", chart_x(c, c->s->at[i]));
        put_fixed(c->out, ",", chart_y(c, c->s->value[i]));
    }
    sink_text(c->out, "\"/>");
}

static void put_point_text(const struct trend *t, struct sink *out, uint32_t point) {
    char when[64];
    const struct diff_run *run = &t->d.run[0][t->order[t->point[point].first]];
    run_view_time(when, sizeof when, run->start_ns);
    sink_u64(out, point + 1);
    sink_text(out, " (");
    sink_text(out, when);
    if (*run->label) {
        sink_text(out, ", ");
        diff_put_xml(out, run->label, strlen(run->label));
    }
    sink_text(out, ")");
}

static void put_changes(const struct chart *c) {
    const struct trend_series *s = c->s;
    for (uint32_t i = 0; i < s->changes; ++i) {
        const struct trend_change *change = &s->change[i];
        double percent = 100 * expm1(change->after - change->before);
        sink_text(c->out, percent > 0 ? "<p>+" : "<p>");
        sink_text(c->out, number_fixed(percent, 1).text);
        sink_text(c->out, " %");
        sink_text(c->out, " from run ");
        put_point_text(c->t, c->out, s->at[change->at]);
        if (change->back) {
            sink_text(c->out, ", went away at run ");
            sink_u64(c->out, s->at[s->change[change->back - 1].at] + 1);
        }
        sink_text(c->out, "</p>");
    }
}

static void put_chart(const struct trend *t, struct sink *out, const struct trend_series *s) {
    struct chart c = {t, s, out, 0, 0};
    char low[TEXT_NUMBER], high[TEXT_NUMBER];
    find_chart_range(&c);
    text_time(low, snapshot_whole(exp(c.low) + 0.5), CONFIG_UNIT_AUTO);
    text_time(high, snapshot_whole(exp(c.high) + 0.5), CONFIG_UNIT_AUTO);
    sink_text(out, "<figure><figcaption><b>");
    diff_put_xml(out, s->name, s->length);
    if (*s->set) {
        sink_text(out, " @");
        diff_put_xml(out, s->set, strlen(s->set));
    }
    sink_text(out, "</b> ");
    sink_text(out, low);
    sink_text(out, " to ");
    sink_text(out, high);
    sink_text(out, "</figcaption><svg width=\"320\" height=\"80\" role=\"img\">");
    put_polyline(&c);
    put_marks(&c);
    sink_text(out, "</svg>");
    put_changes(&c);
    sink_text(out, "</figure>\n");
}

static void put_moves(const struct trend *t, struct sink *out) {
    for (uint32_t i = 0; i < t->moves; ++i) {
        const struct trend_series *from = &t->series[t->move[i].from];
        const struct trend_series *to = &t->series[t->move[i].to];
        sink_text(out, "<p>moved: ");
        diff_put_xml(out, from->name, from->length);
        sink_text(out, " &#8594; ");
        diff_put_xml(out, to->name, to->length);
        sink_text(out, ", from run ");
        put_point_text(t, out, t->move[i].at);
        sink_text(out, "</p>\n");
    }
}

void trend_write_html(const struct trend *t, struct sink *out) {
    const char *program = t->d.run[0][t->order[0]].program;
    sink_text(out, head);
    sink_text(out, "<h1>");
    diff_put_xml(out, program, strlen(program));
    sink_text(out, "</h1>\n<p>");
    sink_u64(out, t->runs);
    sink_text(out, " runs, 1 is ");
    put_point_text(t, out, 0);
    sink_text(out, "; ");
    sink_u64(out, t->changed);
    sink_text(out, " of ");
    sink_u64(out, t->count);
    sink_text(out, " series changed; time of a run in the scope itself</p>\n");
    put_moves(t, out);
    sink_text(out, "<main>\n");
    for (uint32_t i = 0; i < t->count; ++i) {
        put_chart(t, out, &t->series[i]);
    }
    sink_text(out, "</main></body></html>\n");
}
