/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `stint export --follow` and `stint report --every`: reads each run file once per interval and
 * writes its metrics.
 * - For each file the reading is kept that was written last: numbers never fall, and differences
 *   are exact. A reading that could not be written is dropped: the next one has its numbers, too.
 * - A file whose program has ended is read once more, until that is written, and never again.
 * - An output that cannot be written is reported once, and tried again at each interval; the end of
 *   a run is not, if it was for want of memory or a limit of file sizes, as these stay.
 */
#include "follow.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error_text.h"
#include "export/tool/export_prometheus.h"
#include "export/tool/formats.h"
#include "runfile/run_open.h"
#include "system/log.h"
#include "system/target.h"
#include "tool/common/command.h"
#include "tool/common/tool_process.h"

static volatile sig_atomic_t over;

static void end_following(int signal) {
    (void)signal;
    over = 1;
}

/* ---- What is known of a file. */

struct last_reading {
    struct metrics m;
    int there;
};

static void last_free(void *state) {
    struct last_reading *last = state;
    metrics_free(&last->m);
    free(last);
}

struct follower {
    const struct follow *f;
    struct run_watch watch;
    struct line_file lines;
    const char *name;               /* of the output */
    struct target *target;          /* lines go to its sink, too */
    struct run *run;                /* of the reading at hand */
    const struct metrics *interval; /* of the page at hand */
    int at_end;                     /* no other reading follows this one */
    int failing;                    /* the output was reported */
    int looking_failed;             /* so were run files that are not followed */
    uint32_t unwritten;             /* readings, since the last look at the files */
};

enum delivery { DELIVERED, TRY_AGAIN, LOST, BAD_FILE };

static const char NO_MEMORY[] = "not enough memory";
static const char NOT_READ[] = "not all runs could be read";

/* ---- Where it goes. */

/* Whether it will be so, too, at the next try. */
static int is_of_limit(const char *why) {
    return why == NO_MEMORY || why == NOT_READ || !strcmp(why, error_text(EFBIG)) ||
           !strcmp(why, error_text(EMFILE));
}

/* why: NULL if it was written. */
static enum delivery delivery_end(struct follower *w, const char *why) {
    if (why && (w->lines.over || (w->at_end && is_of_limit(why)))) {
        command_refuse_output(w->f->output, why);
        over |= w->lines.over;
        return LOST;
    }
    if (why && !w->failing) {
        log_warning("cannot write %.500s: %s; it is tried again", w->name, why);
    } else if (!why && w->failing) {
        log_note("%.500s is written again", w->name);
    }
    w->failing = why != NULL;
    w->unwritten += why != NULL;
    return why ? TRY_AGAIN : DELIVERED;
}

static enum delivery deliver_line(struct follower *w, struct metrics *m) {
    struct sink *sink = &w->target->sink;
    struct text line;
    text_start(&line);
    sink_start_text(sink, &line);
    const char *why = NO_MEMORY;
    if (!otlp_put(sink, m, w->f->explicit_bounds) && !sink_close(sink)) {
        why = line_file_put(&w->lines, line.data, line.length);
    }
    text_free(&line);
    return delivery_end(w, why);
}

static enum delivery deliver_table(struct follower *w, const struct metrics *run,
                                   const struct metrics *m) {
    struct text t;
    text_start(&t);
    int failed = interval_report_put(&t, run, m);
    enum delivery d = delivery_end(w, failed ? NO_MEMORY : NULL);
    if (!failed && command_write(t.data, t.length)) {
        over = 1;
        d = LOST;
    }
    text_free(&t);
    return d;
}

/* Replaces the output by what `put` writes, which returns -1 without memory. */
static enum delivery replace_output(struct follower *w, target_putter *put, void *what) {
    const char *why;
    if (target_put(w->target, w->f->output, REPLACE_WHOLE, 0666, put, what, &why) && !why) {
        why = NO_MEMORY;
    }
    return delivery_end(w, why);
}

static int put_page(struct sink *out, void *of) {
    const struct follower *w = of;
    return export_html_interval(out, w->run, w->interval);
}

/* run: the whole reading that m is of. */
static enum delivery deliver_metrics(struct follower *w, const struct metrics *run,
                                     struct metrics *m) {
    if (w->f->kind == FOLLOW_PAGE) {
        w->interval = m;
        return replace_output(w, put_page, w);
    }
    if (m->count == m->hidden) {
        return DELIVERED;
    }
    if (w->f->kind == FOLLOW_TABLES) {
        return deliver_table(w, run, m);
    }
    return deliver_line(w, m);
}

/* ---- A reading. */

static enum delivery deliver_delta(struct follower *w, const struct metrics *now,
                                   const struct metrics *then) {
    struct metrics since;
    if (metrics_since(&since, now, then)) {
        return delivery_end(w, NO_MEMORY);
    }
    enum delivery d = deliver_metrics(w, now, &since);
    metrics_free(&since);
    return d;
}

/* Takes the reading over. */
static enum delivery deliver_reading(struct follower *w, struct last_reading *last,
                                     struct metrics *now) {
    const struct metrics *then = NULL;
    enum delivery d;
    if (last->there && last->m.pid == now->pid && last->m.start_ns == now->start_ns) {
        then = &last->m;
    }
    if (then && metrics_raise(now, then)) {
        d = delivery_end(w, NO_MEMORY);
    } else if (then && w->f->delta) {
        d = deliver_delta(w, now, then);
    } else {
        now->delta = w->f->delta;
        d = deliver_metrics(w, now, now);
    }
    if (d != DELIVERED) {
        metrics_free(now);
        return d;
    }
    metrics_free(&last->m);
    last->m = *now;
    last->there = 1;
    return d;
}

static enum delivery follow_file(struct follower *w, struct watched *file) {
    struct run r;
    struct metrics now;
    int opened = run_watch_open(file, &r);
    if (opened) {
        return opened > 0 ? DELIVERED : BAD_FILE;
    }
    if (!file->state) {
        file->state = calloc(1, sizeof(struct last_reading));
    }
    struct last_reading *last = file->state;
    enum delivery d;
    double tick = r.snapshot.ns_per_tick;
    w->run = &r;
    w->at_end = file->ended;
    if (!last || metrics_read(&now, &r, w->f->each_thread)) {
        d = delivery_end(w, NO_MEMORY);
    } else {
        r.snapshot.ns_per_tick = tick; /* the other numbers of a page are as in reports */
        d = deliver_reading(w, last, &now);
    }
    w->run = NULL;
    run_close(&r);
    if (d == TRY_AGAIN) {
        file->ended = 0;
    }
    return d;
}

/* Returns the worse of the exit statuses. */
static int delivery_status(enum delivery d, int status) {
    static const int statuses[] = {
        [TRY_AGAIN] = COMMAND_GOOD, [LOST] = COMMAND_FAILED, [BAD_FILE] = COMMAND_BAD};
    return command_worse(status, statuses[d]);
}

/* ---- The text of all runs. */

/* Adds the files that are there, also those that have ended. NULL, or why a good one is missing. */
static const char *text_add_runs(struct follower *w, struct exposition *x, int *status) {
    const char *why = w->watch.missed;
    for (uint32_t i = 0; i < w->watch.runs; ++i) {
        struct watched *file = &w->watch.run[i];
        struct run r;
        int opened = 1;
        if (file->listed) {
            file->ended = 0;
            opened = run_watch_open(file, &r);
        }
        if (file->refused == RUN_SHORTAGE) {
            why = NOT_READ;
        }
        if (opened) {
            *status = delivery_status(opened > 0 ? DELIVERED : BAD_FILE, *status);
            continue;
        }
        if (!why && prometheus_add_run(x, &r, 1)) {
            why = NO_MEMORY;
        }
        run_close(&r);
    }
    return why;
}

static int follow_text(struct follower *w) {
    static struct exposition x;
    struct text t;
    int status = COMMAND_GOOD;
    text_start(&t);
    exposition_start(&x, NULL);
    const char *why = text_add_runs(w, &x, &status);
    if (!why && exposition_put(&t, &x)) {
        why = NO_MEMORY;
    }
    w->at_end = run_watch_all_ended(&w->watch);
    enum delivery d = why ? delivery_end(w, why) : replace_output(w, target_put_text, &t);
    status = delivery_status(d, status);
    exposition_free(&x);
    text_free(&t);
    return status;
}

/* ---- The command. */

/* All files once. The exit status so far. */
static int follow_once(struct follower *w) {
    w->unwritten = 0;
    const char *why = run_watch_look(&w->watch);
    int status = why ? COMMAND_FAILED : COMMAND_GOOD;
    if (why && !w->looking_failed) {
        log_error("not all run files are followed: %s", why);
    }
    w->looking_failed = why != NULL;
    if (w->f->kind == FOLLOW_TEXT) {
        return command_worse(status, follow_text(w));
    }
    for (uint32_t i = 0; i < w->watch.runs; ++i) {
        struct watched *file = &w->watch.run[i];
        status = delivery_status(follow_file(w, file), status);
    }
    return status;
}

static int follow_loop(struct follower *w) {
    int status = COMMAND_GOOD;
    double next = tool_process_seconds();
    for (;;) {
        int last = over;
        status = command_worse(status, follow_once(w));
        if (last || over || (run_watch_all_ended(&w->watch) && !w->unwritten)) {
            break;
        }
        next += w->f->interval;
        double left = next - tool_process_seconds();
        if (left < 0) { /* a reading took longer than an interval */
            next -= left;
            left = 0;
        }
        tool_process_wait(NULL, 0, left, &over);
    }
    if (w->unwritten) {
        log_error("%.500s: the last numbers were not written", w->name);
        status = command_worse(status, COMMAND_FAILED);
    }
    return status;
}

/* Whether the output can be written to, in principle. NULL, or why not. */
static const char *output_prepare(struct follower *w) {
    struct replace_file *file = &w->target->file;
    if (w->f->kind == FOLLOW_LINES) {
        return line_file_open(&w->lines, w->f->output);
    }
    if (w->f->kind == FOLLOW_TABLES) {
        return NULL;
    }
    const char *why = replace_file_open(file, w->f->output, REPLACE_WHOLE, 0666);
    if (file->borrowed) { /* what is written there stays */
        why = REPLACE_FILE_IRREGULAR;
    }
    replace_file_abort(file);
    return why;
}

/* Each run file that is followed has a descriptor. */
static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int follow_runs(const struct follow *f) {
    static struct target target;
    struct follower w = {
        .f = f,
        .target = &target,
        .name = "standard output",
        .watch = {.names = f->names, .name_count = f->name_count, .free_state = last_free}};
    if (f->output && strcmp(f->output, "-")) {
        w.name = f->output;
    }
    const char *why = output_prepare(&w);
    if (why) {
        return command_refuse_output(f->output, why);
    }
    tool_process_catch(SIGINT, end_following);
    tool_process_catch(SIGTERM, end_following);
    tool_process_catch(SIGHUP, end_following);
    raise_descriptor_limit();
    int status = follow_loop(&w);
    if (f->kind == FOLLOW_LINES) {
        line_file_close(&w.lines);
    }
    run_watch_free(&w.watch);
    return status;
}
