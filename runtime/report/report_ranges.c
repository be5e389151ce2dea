/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes and ranges of libraries in the columns of the tables in which profilers list ranges, so
 * that the two can be compared row by row (docs/ranges.md).
 */
#include <string.h>

#include "base/arithmetic.h"
#include "model/columns.h"
#include "report.h"
#include "report_grid.h"

#define RANGE_COLUMNS 60u
#define MEDIAN_EVEN_MOST 1000u /* samples; of more, two middles are one bucket */

struct range_view {
    const struct report *report;
    struct rows rows;
    u128 total; /* of all rows, the whole of the shares */
};

static int is_range_wanted(const struct range_view *v, const struct stint_row *row) {
    const struct report_options *o = v->report->options;
    if (o->set != REPORT_ALL_SETS && row->set != o->set) {
        return 0;
    }
    return row->samples && report_options_want(o, row->name, row->name_length);
}

/* The mean of the two middle samples of an even number. -1: it is not known. */
static int find_range_median(const struct range_view *v, uint32_t at, uint64_t *median) {
    const struct stint_row *row = &v->rows.row[at];
    uint64_t lower, upper;
    if (rows_quantile(&lower, &v->rows, at, 500) || rows_quantile(&upper, &v->rows, at, 501)) {
        return -1;
    }
    *median = lower;
    if (row->samples % 2 == 0 && row->samples <= MEDIAN_EVEN_MOST && upper >= lower) {
        *median = lower + (upper - lower) / 2;
    }
    return 0;
}

/* "domain:range", or ":range" without a domain. */
static void put_range_name(const struct range_view *v, struct report_grid *g,
                           const struct stint_row *row) {
    struct text name = {0};
    const char *set = v->report->snapshot->sets[row->set];
    if (row->set) {
        text_put(&name, set, strlen(set));
    }
    text_put(&name, ":", 1);
    text_put(&name, row->name, row->name_length);
    if (name.data) {
        grid_name(g, name.data, name.length, RANGE_COLUMNS);
    }
    g->failed |= name.failed;
    text_free(&name);
}

static void put_range(const struct range_view *v, struct report_grid *g, uint32_t at) {
    const struct stint_row *row = &v->rows.row[at];
    uint64_t median;
    grid_share(g, row->total_ns, v->total);
    grid_time(g, row->total_ns);
    grid_count(g, row->calls);
    grid_time(g, row->avg_ns);
    if (find_range_median(v, at, &median)) {
        grid_add(g, "-");
    } else {
        grid_time(g, median);
    }
    grid_time(g, row->min_ns);
    grid_time(g, row->max_ns);
    grid_time(g, row->stddev_ns);
    put_range_name(v, g, row);
}

static int put_ranges(struct range_view *v) {
    static const char *const titles[] = {"time %", "total", "instances", "avg",   "med",
                                         "min",    "max",   "stddev",    "range", NULL};
    const struct report *r = v->report;
    uint32_t *order = report_sort(r->snapshot, &v->rows, r->options->sort);
    uint32_t count = 0, more = 0;
    struct report_grid g;
    if (!order) {
        return -1;
    }
    for (uint32_t i = 0; i < v->rows.count; ++i) {
        if (is_range_wanted(v, &v->rows.row[i])) {
            v->total += v->rows.row[i].total_ns;
        }
    }
    grid_start(&g, titles, 1u << 8);
    grid_fit(&g, r->options, 1u << 8 | 7u);
    for (uint32_t i = 0; i < v->rows.count; ++i) {
        if (!is_range_wanted(v, &v->rows.row[order[i]])) {
            continue;
        }
        if (r->options->top && count == r->options->top) {
            ++more;
            continue;
        }
        put_range(v, &g, order[i]);
        ++count;
    }
    int failed = grid_print(&g, r->out, 0);
    if (more) {
        text_add(r->out, "(%u more)\n", more);
    }
    if (!count && r->options->wanted) {
        text_add(r->out, "(" REPORT_NO_MATCH ")\n");
    }
    return failed;
}

int report_ranges(const struct report *r) {
    struct scratch_mark before = scratch_mark(&r->snapshot->memory);
    struct range_view v = {.report = r};
    int failed = rows_flat(&v.rows, r->snapshot, 0) || put_ranges(&v);
    scratch_release(&r->snapshot->memory, before);
    return failed ? -1 : 0;
}
