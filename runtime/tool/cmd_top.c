/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/number.h"
#include "command.h"
#include "run_open.h"
#include "run_view.h"
#include "run_writer.h"
#include "top_screen.h"
#include "top_table.h"

static const char help[] =
    "usage: stint top [OPTION]… FILE|PID\n"
    "What a running program spends its time on, by what was added since the last look. Reading "
    "its\n"
    "file costs the program nothing. On a terminal, q or ^C leaves.\n\n"
    "  -i, --interval S   seconds between two looks, 0.1 to 3600 (default 1)\n"
    "  -n, --top N        rows (default: what fits the terminal)\n"
    "      --once         one interval, printed, for scripts\n"
    "      --color WHEN   auto, always, never\n"
    "      --help\n";

struct arguments {
    double interval; /* seconds */
    uint64_t rows;
    int once;
    enum command_colour colour;
};

static int parse_interval(const char *text, double *out) {
    const char *rest = number_parse(text, out);
    if (!rest || *rest || !(*out >= 0.1 && *out <= 3600)) {
        log_line("--interval %.100s: expected seconds, 0.1 to 3600", text);
        return -1;
    }
    return 0;
}

/* A name that is a file is that file; else a number is a process. */
static int find(const char *what, char *path, size_t size) {
    struct stat s;
    char *rest;
    unsigned long pid = strtoul(what, &rest, 10);
    if (stat(what, &s) && !*rest && *what >= '0' && *what <= '9' && pid <= UINT32_MAX) {
        return run_writer_find((uint32_t)pid, path, size);
    }
    int n = snprintf(path, size, "%s", what);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

static uint32_t rows_of(const struct arguments *a, int whole_screen) {
    uint32_t height = command_height(STDOUT_FILENO);
    return a->rows ? (uint32_t)a->rows : whole_screen ? height - TOP_TABLE_HEAD - 1 : UINT32_MAX;
}

/* One look: *was becomes *is. */
static int look(struct top_table *table, const char *path, enum run_state *state) {
    struct run r;
    if (run_open(&r, path)) {
        return COMMAND_BAD;
    }
    *state = r.state;
    int failed = top_table_look(table, &r);
    if (failed) {
        log_line("%.500s: no memory", path);
    }
    run_close(&r);
    return failed ? COMMAND_FAILED : COMMAND_GOOD;
}

static int show(const struct top_table *table, const struct arguments *a, int screen) {
    struct top_table_form form = {.rows = rows_of(a, screen),
                                  .width = command_width(STDOUT_FILENO),
                                  .colour = command_colour(a->colour, STDOUT_FILENO)};
    struct text t;
    text_start(&t);
    int failed = top_table_print(&t, table, &form) || t.failed;
    if (failed) {
        log_line("no memory");
    } else if (screen) {
        failed = top_screen_show(t.data, t.length);
    } else {
        failed = command_write(STDOUT_FILENO, t.data, t.length);
    }
    text_free(&t);
    return failed ? COMMAND_FAILED : COMMAND_GOOD;
}

/* The first table is of the whole run so far; with --once it is left out. */
static int watch(const char *path, const struct arguments *a, int screen) {
    struct top_table table = {0};
    enum run_state state = RUN_LIVE;
    int status = look(&table, path, &state);
    int live = state == RUN_LIVE;
    if (!status && (!a->once || !live)) {
        status = show(&table, a, screen && live);
    }
    while (!status && live && !top_screen_wait(a->interval)) {
        status = look(&table, path, &state);
        live = state == RUN_LIVE && !a->once;
        if (!live) {
            top_screen_leave(); /* what it was at the end stays to be read */
        }
        if (!status) {
            status = show(&table, a, screen && live);
        }
    }
    top_table_free(&table);
    return status;
}

static int parse_option(int c, struct arguments *a) {
    switch (c) {
    case 'i':
        return parse_interval(optarg, &a->interval);
    case 'n':
        return command_number("--top", optarg, 1, 100000000, &a->rows);
    case 'O':
        a->once = 1;
        return 0;
    default:
        return command_colour_parse(optarg, &a->colour);
    }
}

static int top(const char *what, const struct arguments *a) {
    char path[4096];
    int screen = !a->once && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    if (find(what, path, sizeof path)) {
        return COMMAND_BAD;
    }
    if (top_screen_enter(screen)) {
        log_line("the terminal cannot be used: %s", strerror(errno));
        return COMMAND_FAILED;
    }
    int status = watch(path, a, screen);
    top_screen_leave();
    return status;
}

int cmd_top(int argc, char **argv) {
    static const struct option options[] = {{"interval", required_argument, NULL, 'i'},
                                            {"top", required_argument, NULL, 'n'},
                                            {"once", no_argument, NULL, 'O'},
                                            {"color", required_argument, NULL, 'c'},
                                            {"colour", required_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, COMMAND_HELP},
                                            {NULL, 0, NULL, 0}};
    struct arguments a = {.interval = 1};
    int c;
    while ((c = getopt_long(argc, argv, "i:n:", options, NULL)) != -1) {
        if (c == COMMAND_HELP) {
            return command_help(help);
        }
        if (c == '?') {
            return command_bad_option(argv);
        }
        if (parse_option(c, &a)) {
            return COMMAND_BAD;
        }
    }
    if (argc - optind != 1) {
        return command_bad_usage(argv, optind == argc ? "a run file or a process id is missing"
                                                      : "one run at a time");
    }
    return top(argv[optind], &a);
}
