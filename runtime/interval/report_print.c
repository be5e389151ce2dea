/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of this process: the public functions that print one, the exit report and the report of a
 * profile. Each reads the options of its view, opens the interval (which locks it, so that one
 * report is formatted at a time), formats the snapshot into a text, closes the interval, and writes
 * the text to where STINT_OUTPUT says. The formatting itself is in report/.
 */
#include "report_print.h"

#include <string.h>

#include "base/api.h"
#include "capture/tracer.h"
#include "compat/report_legacy.h"
#include "gpu/gpu.h"
#include "interval.h"
#include "model/baseline.h"
#include "record/cost.h"
#include "record/thread.h"
#include "report/report.h"
#include "session/gpu_about.h"
#include "system/config.h"
#include "system/launch.h"
#include "system/log.h"
#include "system/machine.h"
#include "system/output.h"

static int report_no_memory(void) {
    log_error("no memory for the report");
    return STINT_ERROR_NO_MEMORY;
}

/* The facts about this process in the header of a report. */
struct here {
    struct report_about about;
    struct machine machine;
    struct machine_usage usage;
    char gpu[160];
    char place[LAUNCH_PLACE_BYTES];
};

/* All but the text about the GPU, which is filled in before. */
static const struct report_about *here_fill(struct here *h) {
    struct launch launch;
    machine_read(&h->machine);
    /* With STINT_WAITS=0 the library makes no getrusage: a sandbox may end the process at it. */
    int usage_failed = machine_usage(&h->usage, config.waits || config.rusage);
    launch_read(&launch);
    launch_place(h->place, (uint32_t)(launch.rank + 1), (uint32_t)(launch.local + 1), launch.size,
                 launch.job);
    h->about = (struct report_about){.program = h->machine.program,
                                     .host = h->machine.host,
                                     .cpu = h->machine.cpu,
                                     .compiler = h->machine.compiler,
                                     .clock = clock_name(),
                                     .gpu = h->gpu,
                                     .cpus = h->machine.cpus,
                                     .place = h->place,
                                     .usage = usage_failed ? NULL : &h->usage};
    return &h->about;
}

enum {
    PRINT_RESET = 1,  /* the next interval starts at this snapshot */
    PRINT_QUIET = 2,  /* nothing is printed if nothing was recorded */
    PRINT_NO_LINE = 4 /* the legacy view without its line */
};

static int report_render_interval(struct text *out, const struct report_options *o, int how) {
    struct snapshot s;
    struct here here;
    struct arena_cost cost;
    cost_read(&cost);
    tracer_flush(TRACER_COMPLETE); /* before the tracer's counts are read */
    /* Before the interval's lock is taken: it takes a lock of a lower rank. */
    gpu_about_describe(here.gpu, sizeof here.gpu);
    if (interval_open(&s, how & PRINT_RESET)) {
        return how & PRINT_QUIET ? 0 : report_no_memory();
    }
    thread_seen(s.now.ticks);
    struct report_cost each;
    report_cost_read(&each, &cost, s.ns_per_tick);
    /* Without scopes a report of scopes has nothing to show, a report of GPUs may. */
    struct report_options chosen = *o;
    chosen.no_line = how & PRINT_NO_LINE;
    int is_empty = (how & PRINT_QUIET) && s.node_count <= s.thread_count;
    if (is_empty &&
        (o->view == REPORT_LEGACY || o->view == REPORT_TABLE || o->view == REPORT_TREE)) {
        chosen.view = REPORT_GPU;
    }
    struct report r = {&s, &chosen, out, &each, here_fill(&here)};
    int failed = 0;
    if (!is_empty || s.activity_count) {
        failed = report_render(&r) | out->failed;
    }
    interval_close(&s);
    if (failed) {
        return report_no_memory();
    }
    return 0;
}

static int report_write_text(const struct text *report) {
    if (output_write(report->data, report->length)) {
        return STINT_ERROR_CANNOT_WRITE;
    }
    return STINT_OK;
}

/* Writes a report whose options were fitted, in lines of the terminal's width. */
static int report_write(const struct text *report, const struct report_options *o) {
    struct text folded;
    if (!o->width) {
        return report_write_text(report);
    }
    text_start(&folded);
    report_fold(&folded, report, o->width);
    int result = folded.failed ? report_no_memory() : report_write_text(&folded);
    text_free(&folded);
    return result;
}

static void options_fit_terminal(struct report_options *o) {
    struct output_terminal terminal;
    output_find_terminal(&terminal);
    o->width = terminal.width;
    o->colour = terminal.colour;
    o->bar = terminal.found;
}

int report_print_text(const struct text *report) {
    struct report_options o = {.width = 0};
    options_fit_terminal(&o);
    return report_write(report, &o);
}

static int report_print_interval(const struct report_options *options, int how) {
    struct text out;
    struct report_options o = *options;
    options_fit_terminal(&o);
    text_start(&out);
    int result = report_render_interval(&out, &o, how);
    if (!result && out.length) {
        result = report_write(&out, &o);
    }
    text_free(&out);
    return result;
}

/* STINT_OK, or STINT_ERROR_UNKNOWN after one line. */
static int report_read_options(const char *view, struct report_options *out) {
    if (report_options_parse(view, out)) {
        log_error("report \"%.200s\": expected " REPORT_NONE_OR REPORT_OPTIONS_FORM, view);
        return STINT_ERROR_UNKNOWN;
    }
    out->threads |= __atomic_load_n(&config.threads, __ATOMIC_RELAXED);
    return 0;
}

/* view: NULL is the view of STINT_REPORT, else the default. set: REPORT_ALL_SETS, or the one
 * shown. */
static int report_print_view(const char *view, uint32_t set, int how) {
    struct report_options o;
    if (!view) {
        view = config.report ? config.report : WORDS_DEFAULT_VIEW;
    }
    if (!strcmp(view, REPORT_NONE)) {
        if (how & PRINT_RESET) {
            interval_reset(BASELINE_ALL_SETS);
        }
        return 0;
    }
    if (report_read_options(view, &o)) {
        return STINT_ERROR_UNKNOWN;
    }
    o.set = set;
    return report_print_interval(&o, how);
}

int report_into(struct text *out, const char *view) {
    struct report_options o;
    if (report_read_options(view, &o)) {
        return STINT_ERROR_UNKNOWN;
    }
    return report_render_interval(out, &o, 0);
}

/* One report of a job, where all its ranks would write into one place. */
int report_print_at_exit(const char *view) {
    struct launch launch;
    launch_read(&launch);
    if (launch.rank > 0 && output_is_shared()) {
        return 0;
    }
    return report_print_view(view, REPORT_ALL_SETS, PRINT_QUIET);
}

int report_profile(const struct fluid_options *as, int quiet) {
    struct report_options o;
    if (report_read_options("fluid", &o)) {
        return STINT_ERROR_UNKNOWN;
    }
    o.fluid = *as;
    return report_print_interval(&o, quiet ? PRINT_QUIET : 0);
}

int stint_report(const char *view) {
    FUNCTION_KEEP;
    return report_print_view(view, REPORT_ALL_SETS, 0);
}

int stint_report_and_reset(void) {
    FUNCTION_KEEP;
    return report_print_view(NULL, REPORT_ALL_SETS, PRINT_RESET);
}

int stint_report_legacy(int with_line) {
    FUNCTION_KEEP;
    return report_print_view("legacy", REPORT_ALL_SETS, with_line ? 0 : PRINT_NO_LINE);
}

int stint_set_report(stint_set *set, const char *view) {
    FUNCTION_KEEP;
    return report_print_view(view, stint_impl_set_id(set), 0);
}

/* Adds the row of that name to the report's text. 0, or -1 after one line. */
static int report_add_row(struct report *r, const char *name) {
    const struct snapshot *s = r->snapshot;
    uint32_t set = r->options->set;
    if (name && set < s->set_count && !report_legacy_row(r, name)) {
        return 0;
    }
    if (!name) {
        name = "(NULL)";
    }
    const char *set_name = set < s->set_count ? s->sets[set] : "this set";
    log_error("printStatus: \"%.200s\" is not registered in %s", name, set_name);
    return STINT_ERROR_UNKNOWN;
}

int stint_set_print(stint_set *set, const char *name) {
    FUNCTION_KEEP;
    struct snapshot s;
    struct text out;
    struct report_options o;
    if (report_read_options("legacy", &o)) {
        return STINT_ERROR_UNKNOWN;
    }
    o.set = stint_impl_set_id(set);
    if (interval_open(&s, 0)) {
        return report_no_memory();
    }
    options_fit_terminal(&o);
    struct report r = {&s, &o, &out, NULL, NULL};
    text_start(&out);
    int result = report_add_row(&r, name);
    interval_close(&s);
    if (!result) {
        result = report_write(&out, &o);
    }
    text_free(&out);
    return result;
}
