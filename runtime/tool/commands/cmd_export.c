/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command export: writes a run in the format of another program, to standard output or to a
 * file that appears when it is complete. The format history is of several runs, and a folder.
 */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arithmetic.h"
#include "export/export_tables.h"
#include "export/tool/export_otlp.h"
#include "export/tool/formats.h"
#include "runfile/run_open.h"
#include "system/replace_file.h"
#include "tool/common/command.h"
#include "tool/follow/follow.h"
#include "tool/history/history.h"

#define SECONDS_MAX 1e9

/* The part of a trace that is exported: seconds since the start of the run, or up to its end. Below
 * 0: not given. */
struct window {
    double from;
    double until;
    double last;
};

struct request {
    const struct format *format;
    const char *output;
    uint32_t table;
    struct run *run;
    struct follow follow; /* its interval is 0: once */
    int otlp_options;     /* any that only otlp has */
    int windowed;
    struct window window;
};

/* The table that csv contains: TABLE_SCOPES, EXPORT_TABLES for the devices, or one of
 * export_table_names. */
#define TABLE_SCOPES UINT32_MAX

static int take_table(struct request *q, const char *name) {
    if (!strcmp(name, "scopes")) {
        q->table = TABLE_SCOPES;
        return 0;
    }
    if (!strcmp(name, "devices")) {
        q->table = EXPORT_TABLES;
        return 0;
    }
    for (q->table = 0; q->table < EXPORT_TABLES; ++q->table) {
        if (!strcmp(name, export_table_names[q->table])) {
            return 0;
        }
    }
    return -1;
}

static int take_moment(struct request *q, const char *text, double *out) {
    q->windowed = 1;
    return command_take_time(text, out) || *out > SECONDS_MAX ? -1 : 0;
}

static int take_export_option(void *to, const struct option_value *value) {
    struct request *q = to;
    switch (value->id) {
    case OPTION_TO:
        q->format = format_find(value->text);
        return q->format ? 0 : -1;
    case OPTION_TABLE:
        return take_table(q, value->text);
    case OPTION_OUTPUT:
        q->output = value->text;
        return 0;
    case OPTION_THREADS:
        q->follow.each_thread = q->otlp_options = 1;
        return 0;
    case OPTION_BUCKETS:
        q->follow.explicit_bounds = value->number == OPTION_BUCKETS_EXPLICIT;
        q->otlp_options = 1;
        return 0;
    case OPTION_TEMPORALITY:
        q->follow.delta = value->number == OPTION_TEMPORALITY_DELTA;
        q->otlp_options = 1;
        return 0;
    case OPTION_FROM:
        return take_moment(q, value->text, &q->window.from);
    case OPTION_UNTIL:
        return take_moment(q, value->text, &q->window.until);
    case OPTION_LAST:
        return take_moment(q, value->text, &q->window.last);
    case OPTION_FOLLOW:
        return command_take_interval(value->text, &q->follow.interval);
    default:
        return -1;
    }
}

static uint64_t window_ns(double seconds) {
    return (uint64_t)(seconds * 1e9 + 0.5);
}

/* 0, or -1 without memory. */
static int window_set(const struct window *w, struct run *r) {
    if (run_trace(r)) {
        return -1;
    }
    r->trace.from_ns = window_ns(w->from);
    if (w->until >= 0) {
        r->trace.until_ns = window_ns(w->until);
    }
    if (w->last >= 0) {
        r->trace.from_ns = saturating_subtract(r->snapshot.wall_ns, window_ns(w->last));
    }
    return 0;
}

static int export_run(struct sink *sink, void *what) {
    const struct request *q = what;
    struct run *r = q->run;
    if (q->windowed && window_set(&q->window, r)) {
        return -1;
    }
    if (q->table != TABLE_SCOPES) {
        return export_csv_table(sink, &r->snapshot, q->table);
    }
    if (!q->otlp_options) {
        return q->format->write(sink, r);
    }
    struct metrics m;
    if (metrics_read(&m, r, q->follow.each_thread)) {
        return -1;
    }
    m.delta = q->follow.delta;
    int failed = otlp_put(sink, &m, q->follow.explicit_bounds);
    metrics_free(&m);
    return failed;
}

static int export_file(const char *path, struct request *q) {
    struct run r;
    progress_start("reading", NULL);
    int failed = run_open(&r, path);
    progress_stop();
    if (failed) {
        return COMMAND_BAD;
    }
    q->run = &r;
    int status = export_target_write(q->output, REPLACE_NAMED, export_run, q, r.path);
    if (r.trace.vanished && !*r.warning) {
        snprintf(r.warning, sizeof r.warning,
                 "cut off while it was read: events of the trace are missing");
    }
    if (status == COMMAND_GOOD) {
        status = command_warn(&r);
    }
    run_close(&r);
    return status;
}

/* The output that --follow has of a format. 0, or -1: none. */
static int follow_output_of(const struct format *format, enum follow_output *out) {
    *out = FOLLOW_LINES;
    if (format->write == export_prometheus) {
        *out = FOLLOW_TEXT;
    } else if (format->write == export_html) {
        *out = FOLLOW_PAGE;
    } else if (format->write != export_otlp) {
        return -1;
    }
    return 0;
}

/* Returns what is wrong about the options for a part of the trace, or NULL. */
static const char *find_window_fault(const struct request *q) {
    const struct window *w = &q->window;
    if (!q->windowed) {
        return NULL;
    }
    if ((q->format->write != export_chrome && q->format->write != export_perfetto &&
         q->format->write != export_html) ||
        q->follow.interval > 0) {
        return "--from, --until and --last are for --to chrome, perfetto and html without --follow";
    }
    if (w->last >= 0 && (w->from > 0 || w->until >= 0)) {
        return "--last is without --from and --until";
    }
    if (w->until >= 0 && w->until <= w->from) {
        return "--until is not later than --from";
    }
    return NULL;
}

/* Returns what is wrong about the options for monitoring, or NULL. */
static const char *find_contradiction(struct request *q, int files) {
    struct follow *f = &q->follow;
    int to_file = q->output && strcmp(q->output, "-");
    if (q->otlp_options && q->format->write != export_otlp) {
        return "--threads, --buckets and --temporality are for --to otlp";
    }
    if (f->interval <= 0) {
        return NULL;
    }
    if (follow_output_of(q->format, &f->kind)) {
        return "--follow is for --to otlp, --to prometheus and --to html";
    }
    if (f->kind == FOLLOW_PAGE && (files != 1 || !to_file)) {
        return "--to html with --follow needs one run file and -o FILE, which it replaces";
    }
    if (f->kind == FOLLOW_TEXT && !to_file) {
        return "--to prometheus with --follow needs -o FILE, which it replaces";
    }
    return NULL;
}

/* Checks what the table of options cannot. COMMAND_GOOD, or the exit status after one line. */
static int request_check(struct request *q, int files, char **argv) {
    if (!q->format) {
        return command_bad_usage(argv, "--to FORMAT is missing");
    }
    if (q->table != TABLE_SCOPES && q->format->write != export_csv) {
        return command_bad_usage(argv, "--table is for --to csv");
    }
    const char *wrong = find_window_fault(q);
    if (!wrong) {
        wrong = find_contradiction(q, files);
    }
    if (wrong) {
        return command_bad_usage(argv, wrong);
    }
    if (files < 1) {
        return command_bad_usage(argv, "a run file is missing");
    }
    int to_stdout = !q->output || !strcmp(q->output, "-");
    if (!q->format->write && (to_stdout || !*q->output)) {
        return command_bad_usage(argv,
                                 "--to history writes several files: give their folder, -o DIR");
    }
    if (!q->format->write || q->follow.interval > 0) {
        return COMMAND_GOOD;
    }
    if (files > 1) {
        return command_bad_usage(argv, "one run file at a time");
    }
    if (q->format->binary && to_stdout && isatty(STDOUT_FILENO)) {
        return command_bad_usage(argv, "this format is not text: give -o FILE or a pipe");
    }
    return COMMAND_GOOD;
}

int cmd_export(int argc, char **argv) {
    struct request q = {.table = TABLE_SCOPES, .window = {.until = -1, .last = -1}};
    int status = options_parse(TOOL_EXPORT, argc, argv, take_export_option, &q);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    status = request_check(&q, argc - optind, argv);
    if (status != COMMAND_GOOD) {
        return status;
    }
    if (!q.format->write) {
        return history_export(q.output, argc - optind, argv + optind);
    }
    if (q.follow.interval > 0) {
        q.follow.names = argv + optind;
        q.follow.name_count = argc - optind;
        q.follow.output = q.output;
        q.follow.delta |= q.follow.kind == FOLLOW_PAGE;
        return follow_runs(&q.follow);
    }
    return export_file(argv[optind], &q);
}
