/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command top: reads the run file of a running program once per interval and shows what was
 * added. On a terminal it fills the screen until a key or a signal ends it; else, and with --once,
 * it prints the table.
 */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arithmetic.h"
#include "base/error_text.h"
#include "base/number.h"
#include "runfile/run_open.h"
#include "system/filter.h"
#include "system/log.h"
#include "system/terminal.h"
#include "tool/common/command.h"
#include "tool/top/top.h"

#define KEYS_COLUMNS 72 /* of the line about keys, in full */
#define ESCAPE '\x1b'
#define BACKSPACE '\b'
#define DELETE '\x7f' /* what the key is on most terminals */

#define FILTER_BYTES 256u

/* The choices of the user by options, and then by keys. */
struct choice {
    enum top_sort sort;
    int each_thread;
    int tree;
    int paused;
    int filtered;
    int typing;  /* a filter, */
    int refused; /* the last one typed */
    char text[FILTER_BYTES];
};

struct arguments {
    double interval; /* seconds */
    uint64_t rows;
    int once;
    enum option_color colour;
    struct choice choice;
};

/* The name of an existing file is that file; any other number is a process. 0, or -1 after one
 * line. */
static int run_file_find(const char *what, char *path, size_t size) {
    struct stat s;
    uint64_t pid;
    if (stat(what, &s) && !number_read_whole(what, 0, UINT32_MAX, &pid)) {
        return run_writer_find((uint32_t)pid, path, size);
    }
    int n = snprintf(path, size, "%s", what);
    if (n < 0 || (size_t)n >= size) {
        log_error("%.500s: %s", what, error_text(ENAMETOOLONG));
        return -1;
    }
    return 0;
}

/* Reads the file and computes what was added since the last time. */
static int read_next(struct top_table *table, const char *path, const struct choice *c,
                     enum run_state *state) {
    struct run r;
    if (run_open(&r, path)) {
        return COMMAND_BAD;
    }
    *state = r.state;
    struct top_rows which = {.each_thread = c->each_thread, .tree = c->tree};
    if (c->filtered) {
        which.wanted = filter_allows;
    }
    int failed = top_table_look(table, &r, &which);
    if (failed) {
        log_error("%.500s: not enough memory", path);
    }
    run_close(&r);
    return failed ? COMMAND_FAILED : COMMAND_GOOD;
}

/* As many characters as there is room for: those that were typed last. */
static const char *text_end(const char *text, size_t room) {
    const char *at = text + saturating_subtract(strlen(text), room);
    while (((unsigned char)*at & 0xc0) == 0x80) { /* not from the middle of one */
        ++at;
    }
    return at;
}

static void describe_keys(char *out, size_t size, const struct choice *c, uint32_t width) {
    if (c->typing) {
        const char *label = "filter: ";
        if (c->refused) {
            label = "filter (expected glob,-glob,..., at most 64): ";
        }
        uint64_t room = saturating_subtract(width, strlen(label) + 1);
        snprintf(out, size, "%s%s_", label, text_end(c->text, (size_t)room));
        return;
    }
    const char *view = c->tree ? "tree" : "flat";
    const char *state = c->paused ? "PAUSED" : "pause";
    const char *filter = c->filtered ? "FILTERED" : "filter";
    if (width < KEYS_COLUMNS) {
        const char *slash = c->filtered ? "FILTERED (/)" : "/";
        snprintf(out, size, "by %s (s), %s (v), t, %s, %s (p), q", top_sort_name(c->sort), view,
                 slash, state);
        return;
    }
    snprintf(out, size, "by %s (s), %s (v), threads (t), %s (/), %s (p), quit (q)",
             top_sort_name(c->sort), view, filter, state);
}

static int show_table(const struct top_table *table, const struct arguments *a,
                      const struct choice *c, int screen) {
    struct top_table_form form = {.rows = a->rows ? (uint32_t)a->rows : UINT32_MAX,
                                  .width = terminal_columns(STDOUT_FILENO),
                                  .colour = command_colour(a->colour, STDOUT_FILENO),
                                  .sort = c->sort,
                                  .keys = "",
                                  .typing = c->typing};
    const struct top_screen_size size = top_screen_measure();
    char keys[FILTER_BYTES + 80];
    struct text t;
    if (screen) {
        describe_keys(keys, sizeof keys, c, size.width);
        form.keys = keys;
        form.width = size.width;
        form.height = size.height;
    }
    text_start(&t);
    int failed = top_table_print(&t, table, &form) || t.failed;
    if (failed) {
        log_error("top: not enough memory");
    } else if (screen) {
        failed = top_screen_show(t.data, t.length, &size);
    } else {
        failed = command_write(t.data, t.length);
    }
    text_free(&t);
    return failed ? COMMAND_FAILED : COMMAND_GOOD;
}

/* A key while a filter is typed. 1 if there is a new one. */
static int type_filter(struct choice *c, char key) {
    size_t length = strlen(c->text);
    c->refused = 0;
    if (key == ESCAPE) {
        c->typing = 0;
    } else if (key == '\r' || key == '\n') {
        c->refused = filter_set(c->text) != 0;
        c->typing = c->refused;
        c->filtered = !c->refused && length;
        return !c->refused;
    } else if (key == BACKSPACE || key == DELETE) {
        c->text[length - (length > 0)] = '\0';
    } else if ((unsigned char)key >= ' ' && length + 1 < sizeof c->text) {
        c->text[length] = key;
        c->text[length + 1] = '\0';
    }
    return 0;
}

/* 1 if the file has to be read again before the table is shown. */
static int take_key(struct choice *c, struct top_table *table, char key) {
    if (c->typing) {
        int changed = type_filter(c, key);
        if (changed) {
            top_table_free(table);
        }
        return changed;
    }
    switch (key) {
    case '/':
        c->typing = 1;
        c->text[0] = '\0';
        return 0;
    case 'v':
        c->tree = !c->tree;
        top_table_free(table);
        return 1;
    case 's':
        c->sort = (enum top_sort)((c->sort + 1) % TOP_SORTS);
        return 0;
    case 't':
        c->each_thread = !c->each_thread;
        top_table_free(table); /* other rows: again since the run began */
        return 1;
    case 'p':
    case ' ':
        c->paused = !c->paused;
        return !c->paused;
    default:
        return 0;
    }
}

/* The first table shows the whole run so far; --once omits it. */
static int watch_run(const char *path, const struct arguments *a, int screen) {
    struct top_table table = {0};
    struct choice c = a->choice;
    enum run_state state = RUN_LIVE;
    int status = read_next(&table, path, &c, &state);
    int live = state == RUN_LIVE;
    if (!status && (!a->once || !live)) {
        status = show_table(&table, a, &c, screen && live);
    }
    while (!status && live) {
        char key = 0;
        enum top_event event = top_screen_wait(a->interval, c.typing, &key);
        int reads = !c.paused;
        if (event == TOP_END) {
            break;
        }
        if (event == TOP_RESIZED) {
            reads = 0;
        }
        if (event == TOP_KEY) {
            reads = take_key(&c, &table, key);
        }
        if (reads) {
            status = read_next(&table, path, &c, &state);
            live = state == RUN_LIVE && !a->once;
        }
        if (!live) {
            top_screen_leave(); /* the last table stays on the terminal */
        }
        if (!status) {
            status = show_table(&table, a, &c, screen && live);
        }
    }
    top_table_free(&table);
    return status;
}

static int take_top_sort(const char *text, enum top_sort *out) {
    for (enum top_sort sort = 0; sort < TOP_SORTS; ++sort) {
        if (!strcmp(text, top_sort_name(sort))) {
            *out = sort;
            return 0;
        }
    }
    return -1;
}

static int take_top_view(const char *text, int *tree) {
    *tree = !strcmp(text, "tree");
    return *tree || !strcmp(text, "table") ? 0 : -1;
}

static int take_top_option(void *to, const struct option_value *value) {
    struct arguments *a = to;
    switch (value->id) {
    case OPTION_INTERVAL:
        return command_take_interval(value->text, &a->interval);
    case OPTION_TOP:
        a->rows = value->number;
        return 0;
    case OPTION_ONCE:
        a->once = 1;
        return 0;
    case OPTION_SORT:
        return take_top_sort(value->text, &a->choice.sort);
    case OPTION_VIEW:
        return take_top_view(value->text, &a->choice.tree);
    case OPTION_FILTER:
        a->choice.filtered = 1;
        return filter_set(value->text);
    case OPTION_THREADS:
        a->choice.each_thread = 1;
        return 0;
    case OPTION_COLOR:
        a->colour = (enum option_color)value->number;
        return 0;
    default:
        return -1;
    }
}

static int run_top(const char *what, const struct arguments *a) {
    char path[4096];
    int screen = !a->once && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    if (run_file_find(what, path, sizeof path)) {
        return COMMAND_BAD;
    }
    if (top_screen_enter(screen)) {
        log_warning("the terminal cannot be used: %s", error_text(errno));
        return COMMAND_FAILED;
    }
    int status = watch_run(path, a, screen);
    top_screen_leave();
    return status;
}

int cmd_top(int argc, char **argv) {
    struct arguments a = {.interval = 1};
    int status = options_parse(TOOL_TOP, argc, argv, take_top_option, &a);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return command_bad_usage(argv, "a run file or a process id is missing");
    }
    if (argc - optind > 1) {
        return command_bad_usage(argv, "one run at a time");
    }
    return run_top(argv[optind], &a);
}
