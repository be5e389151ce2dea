/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `stint export --follow`: reads each run file once per interval and writes or posts its metrics.
 * For each file the last reading is kept: numbers never fall, and differences are exact. A file
 * whose program has ended is read once more, so that its last counts are delivered, and never
 * again.
 */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "base/replace_file.h"
#include "http_post.h"
#include "interval_report.h"
#include "run_watch.h"
#include "runfile/run_open.h"
#include "tool/common/command.h"
#include "tool/common/export_target.h"
#include "viewers/formats.h"

/* At the end: how often requests that are left are tried. */
#define LAST_TRIES 3

static volatile sig_atomic_t over;

static void end_following(int signal) {
    (void)signal;
    over = 1;
}

void follow_catch_signals(void) {
    struct sigaction action = {.sa_handler = end_following};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int follow_is_over(void) {
    return over;
}

int follow_wait(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    if (!over) {
        nanosleep(&t, NULL);
    }
    return over;
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

static struct last_reading *last_of(struct watched *f) {
    if (!f->state) {
        f->state = calloc(1, sizeof(struct last_reading));
    }
    return f->state;
}

struct follower {
    const struct follow *f;
    struct run_watch watch;
    struct post *post; /* NULL: to the output */
    struct sink *sink;
    int fd;
    struct run *run; /* of the reading at hand */
};

/* ---- Where it goes. */

static int follow_write(struct follower *w, struct metrics *m) {
    sink_start(w->sink, w->fd);
    if (otlp_put(w->sink, m, &w->f->form)) {
        return -1;
    }
    if (sink_close(w->sink)) {
        log_error("cannot write %.500s: %s", w->f->output ? w->f->output : "to standard output",
                  error_text(errno));
        return 1;
    }
    return 0;
}

/* The body of a request, allocated; NULL without memory. */
static char *make_body(struct follower *w, struct metrics *m, size_t *length) {
    int fd = memfd_create("stint", MFD_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    sink_start(w->sink, fd);
    char *body = NULL;
    if (!otlp_put(w->sink, m, &w->f->form) && !sink_close(w->sink)) {
        *length = w->sink->written;
        body = malloc(*length + 1);
    }
    if (body && pread(fd, body, *length, 0) != (ssize_t)*length) {
        free(body);
        body = NULL;
    }
    close(fd);
    return body;
}

static int follow_print(struct follower *w, const struct metrics *run, const struct metrics *m) {
    struct text t;
    text_start(&t);
    int failed = interval_report_put(&t, run, m);
    if (!failed && command_write(w->fd, t.data, t.length)) {
        failed = 1;
    }
    text_free(&t);
    return failed;
}

static int put_page(struct sink *out, const void *what, struct run *r) {
    return export_html_interval(out, r, what);
}

/* run: the whole reading that m is of. 0; -1 without memory; 1 after one line. */
static int follow_deliver(struct follower *w, const struct metrics *run, struct metrics *m) {
    if (w->f->page) {
        return export_target_write(w->f->output, put_page, m, w->run) ? 1 : 0;
    }
    if (!m->histograms && !m->counters) {
        return 0;
    }
    if (w->f->report) {
        return follow_print(w, run, m);
    }
    if (!w->post) {
        return follow_write(w, m);
    }
    size_t length;
    char *body = make_body(w, m, &length);
    if (!body) {
        return -1;
    }
    post_add(w->post, body, length);
    return 0;
}

/* ---- A reading. */

static int deliver_delta(struct follower *w, struct metrics *now, const struct metrics *then) {
    struct metrics since;
    if (!then) {
        now->delta = 1;
        return follow_deliver(w, now, now);
    }
    if (metrics_since(&since, now, then)) {
        return -1;
    }
    int failed = follow_deliver(w, now, &since);
    metrics_free(&since);
    return failed;
}

/* Takes the reading over. As follow_deliver. */
static int deliver_reading(struct follower *w, struct last_reading *last, struct metrics *now) {
    const struct metrics *then = NULL;
    if (last->there && last->m.pid == now->pid && last->m.start_ns == now->start_ns) {
        then = &last->m;
    }
    int failed = then ? metrics_raise(now, then) : 0;
    if (!failed && w->f->delta) {
        failed = deliver_delta(w, now, then);
    } else if (!failed) {
        failed = follow_deliver(w, now, now);
    }
    metrics_free(&last->m);
    last->m = *now;
    last->there = 1;
    return failed;
}

static int follow_file(struct follower *w, struct watched *file) {
    struct run r;
    struct metrics now;
    int opened = run_watch_open(file, &r);
    if (opened) {
        return opened > 0 ? 0 : 2;
    }
    struct last_reading *last = last_of(file);
    int failed = -1;
    double tick = r.snapshot.ns_per_tick;
    w->run = &r;
    if (last && !metrics_read(&now, &r, w->f->each_thread)) {
        r.snapshot.ns_per_tick = tick; /* the other numbers of a page are those of reports */
        failed = deliver_reading(w, last, &now);
    }
    w->run = NULL;
    run_close(&r);
    return failed;
}

/* All files once. The exit status so far. */
static int follow_once(struct follower *w) {
    int status = COMMAND_GOOD;
    if (run_watch_look(&w->watch)) {
        log_error("not enough memory to look for run files");
        return COMMAND_FAILED;
    }
    for (uint32_t i = 0; i < w->watch.runs; ++i) {
        int failed = follow_file(w, &w->watch.run[i]);
        if (failed < 0) {
            log_error("%.500s: not enough memory to export it", w->watch.run[i].path);
        }
        if (failed == 1) {
            over = 1; /* the output takes nothing any more */
        }
        if (failed) {
            status = command_worse(status, failed == 2 ? COMMAND_BAD : COMMAND_FAILED);
        }
    }
    if (w->post) {
        post_send(w->post, 0);
    }
    return status;
}

/* ---- The command. */

static int open_lines(const char *path) {
    if (!path || !strcmp(path, "-")) {
        return STDOUT_FILENO;
    }
    if (replace_file_is_locked(path)) {
        log_error("cannot write %.500s: %s", path, REPLACE_FILE_LOCKED);
        return -1;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0) {
        log_error("cannot write %.500s: %s", path, error_text(errno));
    }
    return fd;
}

static int post_rest(struct post *p) {
    for (int i = 0; p->count && i < LAST_TRIES; ++i) {
        if (i) {
            struct timespec second = {1, 0};
            nanosleep(&second, NULL);
        }
        post_send(p, 1);
    }
    if (!p->count && !p->dropped) {
        return COMMAND_GOOD;
    }
    log_warning("%llu requests were not delivered", (unsigned long long)(p->dropped + p->count));
    return COMMAND_FAILED;
}

static double monotonic_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int follow_loop(struct follower *w) {
    int status = COMMAND_GOOD;
    double next = monotonic_seconds();
    for (;;) {
        int last = follow_is_over();
        status = command_worse(status, follow_once(w));
        if (last || follow_is_over() || run_watch_all_ended(&w->watch)) {
            break;
        }
        next += w->f->interval;
        double left = next - monotonic_seconds();
        if (left < 0) { /* the collector was slow */
            next -= left;
            left = 0;
        }
        follow_wait(left);
    }
    return status;
}

int follow_runs(const struct follow *f) {
    static struct sink sink;
    static struct post post;
    struct follower w = {.f = f, .sink = &sink, .fd = -1};
    w.watch =
        (struct run_watch){.names = f->names, .name_count = f->name_count, .free_state = last_free};
    if (f->post) {
        if (post_start(&post, f->post, "application/json")) {
            log_error(
                "--post %.200s: expected http://HOST[:PORT][/PATH]; for https pipe the lines to "
                "curl",
                f->post);
            return COMMAND_BAD;
        }
        w.post = &post;
    } else if (!f->page) {
        w.fd = open_lines(f->output);
        if (w.fd < 0) {
            return COMMAND_FAILED;
        }
    }
    follow_catch_signals();
    int status = follow_loop(&w);
    if (w.post) {
        status = command_worse(status, post_rest(w.post));
        post_free(w.post);
    }
    run_watch_free(&w.watch);
    return status;
}
