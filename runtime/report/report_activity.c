/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that GPU profilers print: what ran on the GPUs, kernels in detail, copies and fills by
 * time and by size, API calls. A section is a row of the table below; its cells are a function.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "base/number.h"
#include "model/activity_name.h"
#include "model/activity_table.h"
#include "report.h"
#include "report_grid.h"

#define NAME_COLUMNS 120 /* kernels of templates differ late in their names, */
#define NAME_LEAST 24    /* but on a terminal they get a third of its width */

#define TITLES 18

/* Where it ran, as far as the report shows it. */
#define SHOW_DEVICE 1u
#define SHOW_CONTEXT 2u
#define SHOW_STREAM 4u

struct section {
    const char *title;
    unsigned kinds;
    unsigned by;
    int by_size;
    const char *titles[TITLES]; /* the first three are kept on a narrow terminal */
    uint32_t left;              /* columns set left */
    void (*cells)(struct report_grid *g, const struct activity_row *row);
    const char *note; /* below it, if a row is marked */
};

/* ---- Cells. */

/* With the two decimals of GPU profilers. */
static void share_cell(struct report_grid *g, uint64_t ppm) {
    grid_add(g, "%s", number_fixed((double)ppm / 1e4, 2).text);
}

static void put_times(struct report_grid *g, const struct activity_row *row) {
    const struct activity_sum *a = &row->sum;
    share_cell(g, row->share_ppm);
    grid_time(g, a->total);
    grid_count(g, a->count);
    grid_time(g, row->avg);
    if (row->has & ACTIVITY_HAS_MEDIAN) {
        grid_time_or_more(g, row->median, (row->has & ACTIVITY_MEDIAN_BEYOND) != 0);
    } else {
        grid_add(g, "-");
    }
    grid_time(g, a->min);
    grid_time(g, a->max);
    grid_time(g, row->stddev);
}

/* "128", "32x4", "64x64x2", and a mark if it differs between launches. */
static void put_extent(struct report_grid *g, const uint32_t n[3], uint32_t varies) {
    const char *mark = "";
    if (varies) {
        mark = "*";
    }
    if (!n[0]) {
        grid_add(g, "-");
    } else if (n[2] > 1) {
        grid_add(g, "%ux%ux%u%s", n[0], n[1], n[2], mark);
    } else if (n[1] > 1) {
        grid_add(g, "%ux%u%s", n[0], n[1], mark);
    } else {
        grid_add(g, "%u%s", n[0], mark);
    }
}

static void put_kernel(struct report_grid *g, const struct activity_row *row) {
    const struct activity_sum *a = &row->sum;
    const struct snapshot_activity *of = &a->of;
    const struct occupancy *o = &row->occupancy;
    share_cell(g, row->share_ppm);
    grid_time(g, a->total);
    grid_count(g, a->count);
    grid_time(g, row->avg);
    if (row->has & ACTIVITY_HAS_LAUNCH) {
        grid_time(g, row->launch_avg);
        grid_time(g, row->delay_avg);
    } else {
        grid_dashes(g, 2);
    }
    put_extent(g, of->grid, of->varies);
    put_extent(g, of->block, of->varies);
    grid_add(g, "%u", of->registers);
    grid_add(g, "%llu", (unsigned long long)of->shared_static + of->shared_dynamic);
    if (row->has & ACTIVITY_HAS_OCCUPANCY) {
        grid_add(g, "%u.%u", o->permille / 10, o->permille % 10);
        grid_add(g, "%s", *o->limiter ? o->limiter : "-");
    } else {
        grid_add(g, "n/a");
        grid_add(g, "-");
    }
    grid_add(g, "%s", row->lib);
    grid_add(g, "%s", *row->precision ? row->precision : "-");
}

/* From where to where, and whether the call was asynchronous. */
static void put_ends(struct report_grid *g, const struct snapshot_activity *a) {
    if (a->kind == ACTIVITY_COPY) {
        grid_add(g, "%s", activity_memory_text(ACTIVITY_COPY_FROM(a->detail)));
        grid_add(g, "%s", activity_memory_text(ACTIVITY_COPY_TO(a->detail)));
        grid_add(g, "%s", activity_copy_mode_text(a->detail));
    } else {
        grid_add(g, "-");
        grid_add(g, "%s", activity_memory_text(a->detail));
        grid_add(g, "-");
    }
}

static void put_copy(struct report_grid *g, const struct activity_row *row) {
    put_times(g, row);
    put_ends(g, &row->sum.of);
}

static void put_size(struct report_grid *g, const struct activity_row *row) {
    const struct activity_sum *a = &row->sum;
    grid_bytes(g, a->bytes);
    grid_count(g, a->count);
    if (a->total) {
        grid_rate(g, row->bytes_per_s);
    } else {
        grid_add(g, "-");
    }
    grid_bytes(g, a->bytes / a->count);
    if (row->has & ACTIVITY_HAS_MEDIAN_BYTES) {
        grid_bytes(g, row->median_bytes);
    } else {
        grid_add(g, "-");
    }
    grid_bytes(g, a->min_bytes);
    grid_bytes(g, a->max_bytes);
    grid_bytes(g, row->stddev_bytes);
    put_ends(g, &a->of);
}

/* "-": it moves nothing. */
static void put_unified(struct report_grid *g, const struct activity_row *row) {
    const struct activity_sum *a = &row->sum;
    put_times(g, row);
    if (a->max_bytes) {
        grid_bytes(g, a->bytes);
        grid_bytes(g, a->bytes / a->count);
        grid_bytes(g, a->max_bytes);
    } else {
        grid_dashes(g, 3);
    }
}

#define TIMES "% time", "total", "calls", "avg", "med", "min", "max", "stddev"
static const struct section sections[] = {
    {"GPU activities", ACTIVITY_IN_WORK, .titles = {TIMES}, .cells = put_times},
    {"Kernels", ACTIVITY_IN(ACTIVITY_KERNEL),
     .titles = {"% time", "total", "calls", "avg", "launch", "delay", "grid", "block", "regs",
                "shared B", "occupancy", "limit", "lib", "precision"},
     .left = 7u << 11, .cells = put_kernel,
     .note = "(* not of all its launches: of the longest one)\n"},
    {"Memory operations by time", ACTIVITY_IN_COPIES, ACTIVITY_BY_DETAIL,
     .titles = {TIMES, "from", "to", "call"}, .left = 7u << 8, .cells = put_copy},
    {"Memory operations by size", ACTIVITY_IN_COPIES, ACTIVITY_BY_DETAIL, .by_size = 1,
     .titles = {"bytes", "calls", "GB/s", "avg", "med", "min", "max", "stddev", "from", "to",
                "call"},
     .left = 7u << 8, .cells = put_size},
    {"Unified memory", ACTIVITY_IN(ACTIVITY_UNIFIED), .titles = {TIMES, "bytes", "each", "largest"},
     .cells = put_unified},
    {"API calls", ACTIVITY_IN_CALLS, .titles = {TIMES}, .cells = put_times},
};

/* ---- Sections. */

static enum activity_sort section_sort(const struct report_options *o,
                                       const struct section *section) {
    enum activity_sort by = report_form_activity_sort(o);
    if (by == ACTIVITY_SORT_TOTAL && section->by_size) {
        return ACTIVITY_SORT_BYTES;
    }
    return by;
}

static unsigned places_of(const struct report *r, const struct activity_table *t) {
    unsigned shown = 0;
    for (uint32_t i = 0; i < t->count; ++i) {
        const struct snapshot_activity *a = &t->row[i]->sum.of, *first = &t->row[0]->sum.of;
        if (a->device != first->device) {
            shown |= SHOW_DEVICE;
        }
        if (a->context != first->context) {
            shown |= SHOW_CONTEXT;
        }
        if (r->options->threads && a->device != SNAPSHOT_NONE) {
            shown |= SHOW_STREAM;
        }
    }
    return shown;
}

static void put_places(const struct report *r, struct report_grid *g,
                       const struct snapshot_activity *a, unsigned shown) {
    const struct snapshot *s = r->snapshot;
    if (shown & SHOW_DEVICE) {
        if (a->device < s->device_count) {
            grid_add(g, "%u", s->devices[a->device].number);
        } else {
            grid_add(g, "-");
        }
    }
    if (shown & SHOW_CONTEXT) {
        grid_add(g, "%u", a->context);
    }
    if (shown & SHOW_STREAM) {
        grid_add(g, "%u", a->stream);
    }
}

static void section_start(const struct report *r, struct report_grid *g,
                          const struct section *section, unsigned shown) {
    const char *titles[TITLES + 5] = {NULL};
    uint32_t count = 0;
    for (; count < TITLES && section->titles[count]; ++count) {
        titles[count] = section->titles[count];
    }
    static const char *const places[] = {"device", "context", "stream"};
    for (uint32_t i = 0; i < 3; ++i) {
        if (shown >> i & 1) {
            titles[count++] = places[i];
        }
    }
    titles[count] = "name";
    grid_start(g, titles, section->left | 1u << count);
    grid_fit(g, r->options, 7u | 1u << count);
}

static void put_heading(const struct report *r, const struct section *section,
                        const struct activity_table *t) {
    char all[TEXT_NUMBER];
    u128 bytes = 0;
    for (uint32_t i = 0; i < t->count; ++i) {
        bytes += t->row[i]->sum.bytes;
    }
    if (section->by_size) {
        text_bytes(all, bytes);
    } else {
        text_time(all, t->total, CONFIG_UNIT_AUTO);
    }
    text_add(r->out, "%s, %s in all\n", section->title, all);
}

static size_t kernel_name_columns(const struct report_options *o) {
    size_t part = o->width / 3;
    if (!o->width) {
        return NAME_COLUMNS;
    }
    return u64_clamp(part, NAME_LEAST, NAME_COLUMNS);
}

/* name: room for ACTIVITY_NAME_BYTES. -1 without memory. */
static int section_put_rows(const struct report *r, const struct section *section,
                            const struct activity_table *t, const uint8_t *wanted, char *name) {
    unsigned shown = places_of(r, t);
    uint32_t lines = 0, more = 0;
    int marked = 0;
    struct report_grid g;
    section_start(r, &g, section, shown);
    for (uint32_t i = 0; i < t->count; ++i) {
        const struct activity_row *row = t->row[i];
        if (!wanted[i]) {
            continue;
        }
        if (r->options->top && lines == r->options->top) {
            ++more;
            continue;
        }
        ++lines;
        marked |= row->sum.of.varies != 0;
        section->cells(&g, row);
        put_places(r, &g, &row->sum.of, shown);
        grid_name(&g, name, activity_title(name, r->snapshot, &row->sum.of),
                  kernel_name_columns(r->options));
    }
    int failed = grid_print(&g, r->out, 0);
    if (more) {
        text_add(r->out, "(%u more)\n", more);
    }
    text_add(r->out, "%s\n", marked && section->note ? section->note : "");
    return failed;
}

static int put_section(const struct report *r, const struct section *section) {
    const struct report_options *o = r->options;
    struct scratch *memory = &r->snapshot->memory;
    char *name = scratch_get(memory, ACTIVITY_NAME_BYTES);
    struct activity_ask ask = {section->kinds, section->by | (o->threads ? ACTIVITY_BY_STREAM : 0),
                               o->set};
    struct activity_table t;
    if (activity_table(&t, r->snapshot, &ask)) {
        return -1;
    }
    uint8_t *wanted = scratch_array(memory, (size_t)t.count + 1, sizeof *wanted);
    if (scratch_failed(memory)) {
        return -1;
    }
    activity_table_sort(&t, section_sort(o, section));
    uint32_t count = 0;
    for (uint32_t i = 0; i < t.count; ++i) {
        wanted[i] =
            (uint8_t)(report_options_want(
                          o, name, activity_title(name, r->snapshot, &t.row[i]->sum.of)) != 0);
        count += wanted[i];
    }
    if (!count) {
        return 0;
    }
    put_heading(r, section, &t);
    return section_put_rows(r, section, &t, wanted, name);
}

/* Nothing was seen: why. */
static void put_none(const struct report *r) {
    const char *gpu = NULL;
    if (r->about) {
        gpu = r->about->gpu;
    }
    if (r->snapshot->activity_count) {
        text_add(r->out, "No GPU activity %s\n\n",
                 r->snapshot->since ? "since the last reset" : "of this kind");
    } else if (!r->snapshot->tracer_requested) {
        static const char setting[] = "STINT_GPU="
#include "env_tracer_value.inc"
            ;
        text_add(r->out, "No GPU activity was recorded; %s records it\n\n", setting);
    } else if (gpu && *gpu) {
        text_add(r->out, "No GPU activity was recorded: ");
        text_name(r->out, gpu, strlen(gpu), 0);
        text_add(r->out, "\n\n");
    } else {
        text_add(r->out, "No GPU activity was recorded\n\n");
    }
}

int report_activity(const struct report *r) {
    size_t before = r->out->length;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) {
        if (put_section(r, &sections[i])) {
            return -1;
        }
    }
    if (r->out->length == before) {
        put_none(r);
    }
    return 0;
}
