/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/filter.h"
#include "base/log.h"
#include "command.h"
#include "read/columns.h"
#include "run_open.h"
#include "run_view.h"

static const char help[] =
    "usage: stint report [OPTION]… FILE…\n"
    "Prints the report of a run, of a running, ended or killed program.\n\n"
    "  -v, --view VIEW      table (default), tree, legacy, or threads: a table with a row a "
    "thread;\n"
    "                       gpu: kernels, copies, API calls, idle time (of STINT_GPU=cupti);\n"
    "                       fluid: the report of the fluid profiler\n"
    "  -s, --sort KEY       total (default), self, calls, min, max, avg, p99,\n"
    "                       gpu_total, gpu_calls, gpu_max, gpu_p99, device_total\n"
    "  -n, --top N          the first N rows\n"
    "  -f, --filter GLOBS   only names that match: 'a*,-ab*'; the last that matches decides\n"
    "      --set NAME       one set of statistics; default: all\n"
    "  -u, --unit UNIT      auto (default), ms, us or ns\n"
    "      --color WHEN     auto (default: on a terminal, without NO_COLOR), always, never\n"
    "      --help\n"
    "COLUMNS sets the width; what has no room is named.\n";

struct arguments {
    struct run_view view;
    enum command_colour colour;
};

static int parse_view(const char *text, struct report_options *out) {
    struct run_view view;
    if (run_view_parse(text, &view)) {
        log_line("--view %.100s: expected " RUN_VIEW_FORM, text);
        return -1;
    }
    *out = view.options;
    return 0;
}

static int parse_sort(const char *text, uint32_t *out) {
    *out = report_column_find(text, strlen(text));
    if (*out == UINT32_MAX) {
        log_line("--sort %.100s: expected total, self, calls, min, max, avg, p99, gpu_total, "
                 "gpu_calls, gpu_max, gpu_p99 or device_total",
                 text);
        return -1;
    }
    return 0;
}

static int parse_unit(const char *text) {
    static const char *const names[] = {"ms", "us", "ns", "auto"};
    for (int i = 0; i < 4; ++i) {
        if (!strcmp(text, names[i])) {
            config.unit = i;
            return 0;
        }
    }
    log_line("--unit %.100s: expected auto, ms, us or ns", text);
    return -1;
}

static int parse_filter(const char *text, struct report_options *out) {
    if (filter_set(text)) {
        log_line("--filter %.100s: expected glob,-glob,... (at most 64)", text);
        return -1;
    }
    out->wanted = filter_allows;
    return 0;
}

static int parse_option(int c, struct arguments *a, struct report_options *given) {
    uint64_t top;
    switch (c) {
    case 's':
        return parse_sort(optarg, &given->sort);
    case 'n':
        if (command_number("--top", optarg, 1, 100000000, &top)) {
            return -1;
        }
        given->top = (uint32_t)top;
        return 0;
    case 'f':
        return parse_filter(optarg, given);
    case 'S':
        a->view.set = optarg;
        return 0;
    case 'u':
        return parse_unit(optarg);
    default:
        return command_colour_parse(optarg, &a->colour);
    }
}

/* What the view says of sorting and number, options of their own overrule. */
static void combine(struct report_options *view, const struct report_options *given) {
    view->sort = given->sort != UINT32_MAX ? given->sort : view->sort;
    view->top = given->top ? given->top : view->top;
    view->wanted = given->wanted;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, struct arguments *a) {
    static const struct option options[] = {
        {"view", required_argument, NULL, 'v'},    {"sort", required_argument, NULL, 's'},
        {"top", required_argument, NULL, 'n'},     {"filter", required_argument, NULL, 'f'},
        {"set", required_argument, NULL, 'S'},     {"unit", required_argument, NULL, 'u'},
        {"color", required_argument, NULL, 'c'},   {"colour", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, COMMAND_HELP}, {NULL, 0, NULL, 0}};
    struct report_options given = {.sort = UINT32_MAX};
    int c;
    run_view_parse("table", &a->view);
    while ((c = getopt_long(argc, argv, "v:s:n:f:u:", options, NULL)) != -1) {
        if (c == COMMAND_HELP) {
            return command_help(help);
        }
        if (c == '?') {
            return command_bad_option(argv);
        }
        if (c == 'v' ? parse_view(optarg, &a->view.options) : parse_option(c, a, &given)) {
            return COMMAND_BAD;
        }
    }
    combine(&a->view.options, &given);
    return optind == argc ? command_bad_usage(argv, "a run file is missing") : -1;
}

static int report_file(const char *path, const struct arguments *a, int first) {
    struct run r;
    struct text out;
    if (run_open(&r, path)) {
        return COMMAND_BAD;
    }
    text_start(&out);
    if (!first) {
        text_put(&out, "\n", 1);
    }
    int status = COMMAND_BAD;
    if (!run_view_print(&out, &r, &a->view)) {
        status =
            command_write(STDOUT_FILENO, out.data, out.length) ? COMMAND_FAILED : command_warn(&r);
    }
    text_free(&out);
    run_close(&r);
    return status;
}

int cmd_report(int argc, char **argv) {
    struct arguments a = {0};
    int status = parse(argc, argv, &a);
    if (status >= 0) {
        return status;
    }
    a.view.options.width = command_width(STDOUT_FILENO);
    a.view.options.colour = command_colour(a.colour, STDOUT_FILENO);
    status = COMMAND_GOOD;
    for (int i = optind; i < argc; ++i) {
        int one = report_file(argv[i], &a, i == optind);
        status = one > status ? one : status;
    }
    return status;
}
