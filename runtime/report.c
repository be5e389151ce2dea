/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <string.h>

#include "api.h"
#include "config.h"
#include "cost.h"
#include "exit_report.h"
#include "interval.h"
#include "log.h"
#include "output.h"

static int render(const struct report *r) {
    switch (r->options->view) {
    case REPORT_TABLE:
        return report_header(r) || report_table(r) || report_footer(r) ? -1 : 0;
    case REPORT_TREE:
        return report_header(r) || report_tree(r) || report_footer(r) ? -1 : 0;
    default:
        return report_legacy(r, 1);
    }
}

static int set_has_calls(const struct snapshot *s, uint32_t set) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (s->nodes[i].set == set && s->nodes[i].count + s->nodes[i].recursions) {
            return 1;
        }
    }
    return 0;
}

/* The default set always, every other one if there is something in it; `line` after the last. */
static int render_legacy_sets(const struct report *r, int line) {
    struct report_options each = *r->options;
    struct report part = {r->snapshot, &each, r->out, r->cost_ns_x1000};
    uint32_t last = 0;
    for (uint32_t set = 1; set < r->snapshot->set_count; ++set) {
        last = set_has_calls(r->snapshot, set) ? set : last;
    }
    for (each.set = 0; each.set <= last; ++each.set) {
        if (each.set && !set_has_calls(r->snapshot, each.set)) {
            continue;
        }
        if (report_legacy(&part, line && each.set == last)) {
            return -1;
        }
    }
    return 0;
}

static int no_memory(void) {
    log_line("no memory for the report");
    return -1;
}

/* line: of the legacy view. quiet: nothing to say, nothing said. */
static int print(const struct report_options *o, int line, int reset, int quiet) {
    struct snapshot s;
    struct text out;
    uint64_t cost = cost_ticks_x1000();
    if (interval_open(&s, reset)) {
        return quiet ? 0 : no_memory();
    }
    struct report r = {&s, o, &out, (uint64_t)((double)cost * s.ns_per_tick)};
    int result = 0;
    text_start(&out);
    if (!quiet || s.node_count > s.thread_count) {
        result = o->view == REPORT_LEGACY && o->set == REPORT_ALL_SETS
                     ? render_legacy_sets(&r, line)
                     : render(&r);
        result |= out.failed;
    }
    interval_close(&s);
    if (result) {
        result = no_memory();
    } else if (out.length) {
        result = output_write(out.data, out.length);
    }
    text_free(&out);
    return result;
}

/* NULL: what STINT_REPORT says, else the table. */
static int options_of(const char *view, struct report_options *out) {
    const char *text = view ? view : config.report ? config.report : "table";
    if (report_options_parse(text, out)) {
        log_line("report \"%.200s\": expected " REPORT_OPTIONS_FORM, text);
        return -1;
    }
    out->threads |= config.threads;
    return 0;
}

int report_print_at_exit(const char *view) {
    struct report_options o;
    return options_of(view, &o) ? -1 : print(&o, 1, 0, 1);
}

int stint_report(const char *view) {
    int saved = errno;
    struct report_options o;
    int result = options_of(view, &o) ? -1 : print(&o, 1, 0, 0);
    errno = saved;
    return result;
}

int stint_report_and_reset(void) {
    int saved = errno;
    struct report_options o;
    int result = options_of(NULL, &o) ? -1 : print(&o, 1, 1, 0);
    errno = saved;
    return result;
}

int stint_report_legacy(int with_line) {
    int saved = errno;
    struct report_options o;
    int result = options_of("legacy", &o) ? -1 : print(&o, with_line, 0, 0);
    errno = saved;
    return result;
}

int stint_set_report(stint_set *set, const char *view) {
    int saved = errno;
    struct report_options o;
    int result = options_of(view, &o);
    if (!result) {
        o.set = set ? set->id : 0;
        result = print(&o, 1, 0, 0);
    }
    errno = saved;
    return result;
}

int stint_set_print(stint_set *set, const char *name) {
    int saved = errno;
    struct snapshot s;
    struct text out;
    struct report_options o;
    int result = options_of("legacy", &o);
    o.set = set ? set->id : 0;
    if (!result && interval_open(&s, 0)) {
        result = no_memory();
    } else if (!result) {
        struct report r = {&s, &o, &out, 0};
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
    errno = saved;
    return result;
}
