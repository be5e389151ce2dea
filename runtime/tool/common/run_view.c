/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as a report: parses the view and describes the run in the lines above the table. The
 * commands report and run print with it; info and top print its state.
 */
#include "run_view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arithmetic.h"
#include "ranks/rank_tables.h"
#include "system/launch.h"
#include "system/log.h"

/* A name of a view that only the tool takes, and the text that it means. */
struct view_name {
    const char *name;
    const char *means;
};

#include "tool_views.inc"

int run_view_parse(const char *text, struct run_view *out) {
    char form[200];
    size_t width = strcspn(text, ",");
    const struct view_name *v = view_names;
    while (v->name && (strlen(v->name) != width || memcmp(v->name, text, width))) {
        ++v;
    }
    memset(out, 0, sizeof *out);
    if (!v->name) {
        return report_options_parse(text, &out->options);
    }
    int n = snprintf(form, sizeof form, "%s%s", v->means, text + width);
    if (n < 0 || (size_t)n >= sizeof form) {
        return -1;
    }
    return report_options_parse(form, &out->options);
}

void run_view_time(char *out, size_t size, uint64_t real_ns) {
    time_t seconds = (time_t)(real_ns / 1000000000);
    struct tm day;
    if (!real_ns || !localtime_r(&seconds, &day) ||
        !strftime(out, size, "%Y-%m-%d %H:%M:%S %z", &day)) {
        snprintf(out, size, "?");
    }
}

static int has_open(const struct snapshot *s) {
    for (uint32_t t = 0; t < s->thread_count; ++t) {
        if (s->threads[t].open_count) {
            return 1;
        }
    }
    return 0;
}

/* "pid 4711", after the rank where it is known: processes of several hosts may have equal pids. */
static void describe_process(char out[40], const struct run *r) {
    int used = 0;
    if (r->rank) {
        used = snprintf(out, 40, "rank %u, ", r->rank - 1);
    }
    snprintf(out + used, (size_t)(40 - used), "pid %u", r->pid);
}

static const char no_end[] = "killed, crashed or ended by _exit or exec";

void run_view_state(char *out, size_t size, const struct run *r) {
    char process[40];
    describe_process(process, r);
    if (!r->pid && r->killed) {
        snprintf(out, size, "several runs, merged, %u of %u %s", r->killed, r->merged, no_end);
    } else if (!r->pid) {
        snprintf(out, size, "several runs, merged");
    } else if (r->state == RUN_ENDED) {
        snprintf(out, size, "ended, %s", process);
    } else if (r->state == RUN_LIVE) {
        snprintf(out, size, "running, %s", process);
    } else {
        const char *open = has_open(&r->snapshot) ? ": its open scopes are below" : "";
        snprintf(out, size, "%s, %s%s", no_end, process, open);
    }
}

/* One line with the names of the sets, as many as fit. */
static void refuse_set(const struct run *r, const char *name) {
    char names[400] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < r->snapshot.set_count && length < sizeof names; ++i) {
        const char *comma = i ? ", " : "";
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%.60s", comma,
                                   r->snapshot.sets[i]);
    }
    log_error("%.500s: no set %.100s in it; it has %s", r->path, name, names);
}

static int run_find_set(const struct run *r, const char *name, uint32_t *out) {
    for (uint32_t i = 0; i < r->snapshot.set_count; ++i) {
        if (!strcmp(r->snapshot.sets[i], name)) {
            *out = i;
            return 0;
        }
    }
    refuse_set(r, name);
    return -1;
}

/* ---- The report. */

/* The first device's name if the file was cut off before the text about the GPU was written. */
static const char *describe_gpu(const struct run *r) {
    if (!*r->gpu && r->snapshot.device_count) {
        return r->snapshot.devices[0].name;
    }
    return r->gpu;
}

static int render_run(struct text *out, struct run *r, const struct report_options *o) {
    char started[64], state[128], line[256], place[LAUNCH_PLACE_BYTES];
    launch_place(place, r->rank, r->local, r->size, r->job);
    run_view_time(started, sizeof started, r->start_real_ns);
    run_view_state(state, sizeof state, r);
    snprintf(line, sizeof line, "started %s, %s", started, state);
    struct report_about about = {.program = r->program,
                                 .host = r->host,
                                 .cpu = r->cpu,
                                 .compiler = r->compiler,
                                 .clock = r->clock,
                                 .gpu = describe_gpu(r),
                                 .cpus = r->cpus,
                                 .place = place,
                                 .state = line,
                                 .killed = r->at_least,
                                 .ranks = report_rank_tables};
    struct report_cost cost;
    struct report report = {&r->snapshot, o, out, NULL, &about};
    if (r->cost) {
        report_cost_read(&cost, r->cost, r->snapshot.ns_per_tick);
        report.cost = &cost;
    }
    return report_render(&report);
}

static int render_folded(struct text *out, struct run *r, const struct report_options *o) {
    struct text whole;
    text_start(&whole);
    int failed = render_run(&whole, r, o) || whole.failed;
    if (!failed) {
        report_fold(out, &whole, o->width);
    }
    text_free(&whole);
    return failed;
}

int run_view_print(struct text *out, struct run *r, const struct run_view *view) {
    struct report_options o = view->options;
    size_t length = out->length;
    if (view->set && run_find_set(r, view->set, &o.set)) {
        return -1;
    }
    int failed;
    if (o.width) {
        failed = render_folded(out, r, &o);
    } else {
        failed = render_run(out, r, &o);
    }
    if (failed || out->failed) {
        out->length = u64_min(length, out->length); /* a part of it may be out already */
        log_error("%.500s: not enough memory for the report", r->path);
        return -1;
    }
    return 0;
}
