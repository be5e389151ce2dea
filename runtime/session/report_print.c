/* SPDX-License-Identifier: Apache-2.0 */
#include "report_print.h"

#include <string.h>

#include "base/api.h"
#include "base/config.h"
#include "base/errno_keep.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/output.h"
#include "cost.h"
#include "gpu/gpu.h"
#include "interval.h"
#include "process.h"
#include "report/report.h"
#include "tracer/tracer.h"

static int report_no_memory(void) {
    log_line("no memory for the report");
    return -1;
}

/* What a report says of this process. */
struct here {
    struct report_about about;
    struct machine machine;
    struct machine_usage usage;
    char gpu[160];
};

/* But for the GPU's text, which is there. */
static const struct report_about *here_fill(struct here *h) {
    machine_read(&h->machine);
    machine_usage(&h->usage);
    h->about = (struct report_about){.program = h->machine.program,
                                     .host = h->machine.host,
                                     .cpu = h->machine.cpu,
                                     .compiler = h->machine.compiler,
                                     .clock = clock_name(),
                                     .gpu = h->gpu,
                                     .cpus = h->machine.cpus,
                                     .usage = &h->usage};
    return &h->about;
}

/* line: of the legacy view. quiet: nothing to say, nothing said. */
static int report_render_interval(struct text *out, const struct report_options *o, int line,
                                  int reset, int quiet) {
    struct snapshot s;
    struct here here;
    uint64_t cost = cost_ticks_x1000();
    tracer_flush(0); /* what is said of it counts what is there */
    /* Before the interval: it has a lock, which a fork takes first. */
    process_describe_gpu(here.gpu, sizeof here.gpu);
    if (interval_open(&s, reset)) {
        return quiet ? 0 : report_no_memory();
    }
    struct report r = {&s, o, out, (uint64_t)((double)cost * s.ns_per_tick), here_fill(&here)};
    int result = 0;
    if (!quiet || s.node_count > s.thread_count) {
        result = report_render(&r, line) | out->failed;
    }
    interval_close(&s);
    return result ? report_no_memory() : 0;
}

static int report_print_interval(const struct report_options *o, int line, int reset, int quiet) {
    struct text out;
    text_start(&out);
    int result = report_render_interval(&out, o, line, reset, quiet);
    if (!result && out.length) {
        result = output_write(out.data, out.length);
    }
    text_free(&out);
    return result;
}

/* NULL: what STINT_REPORT says, else the table. */
static int report_read_options(const char *view, struct report_options *out) {
    const char *text = view ? view : config.report ? config.report : WORDS_DEFAULT_VIEW;
    if (report_options_parse(text, out)) {
        log_line("report \"%.200s\": expected " REPORT_OPTIONS_FORM, text);
        return -1;
    }
    out->threads |= __atomic_load_n(&config.threads, __ATOMIC_RELAXED);
    return 0;
}

int report_into(struct text *out, const char *view) {
    struct report_options o;
    return report_read_options(view, &o) ? -1 : report_render_interval(out, &o, 1, 0, 0);
}

int report_print_at_exit(const char *view) {
    struct report_options o;
    return report_read_options(view, &o) ? -1 : report_print_interval(&o, 1, 0, 1);
}

int report_profile(const struct fluid_options *as, int quiet) {
    struct report_options o;
    int result = report_read_options("fluid", &o);
    o.fluid = *as;
    return result ? result : report_print_interval(&o, 1, 0, quiet);
}

int stint_report(const char *view) {
    ERRNO_KEEP;
    struct report_options o;
    return report_read_options(view, &o) ? -1 : report_print_interval(&o, 1, 0, 0);
}

int stint_report_and_reset(void) {
    ERRNO_KEEP;
    struct report_options o;
    return report_read_options(NULL, &o) ? -1 : report_print_interval(&o, 1, 1, 0);
}

int stint_report_legacy(int with_line) {
    ERRNO_KEEP;
    struct report_options o;
    return report_read_options("legacy", &o) ? -1 : report_print_interval(&o, with_line, 0, 0);
}

int stint_set_report(stint_set *set, const char *view) {
    ERRNO_KEEP;
    struct report_options o;
    int result = report_read_options(view, &o);
    if (!result) {
        o.set = set ? set->id : 0;
        result = report_print_interval(&o, 1, 0, 0);
    }
    return result;
}

int stint_set_print(stint_set *set, const char *name) {
    ERRNO_KEEP;
    struct snapshot s;
    struct text out;
    struct report_options o;
    int result = report_read_options("legacy", &o);
    o.set = set ? set->id : 0;
    if (!result && interval_open(&s, 0)) {
        result = report_no_memory();
    } else if (!result) {
        struct report r = {&s, &o, &out, 0, NULL};
        text_start(&out);
        result = name && o.set < s.set_count ? report_legacy_row(&r, name) : -1;
        if (result) {
            log_line("printStatus: \"%.200s\" is not registered in %s", name ? name : "(NULL)",
                     o.set < s.set_count ? s.sets[o.set] : "this set");
        }
        interval_close(&s);
        result = result ? result : output_write(out.data, out.length);
        text_free(&out);
    }
    return result;
}
