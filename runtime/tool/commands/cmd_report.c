/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command report, which main.c calls: prints the report of run files, by the code that prints
 * it in the program. A file that cannot be read does not keep the others from being printed; it
 * makes the exit status 2.
 */
#include "commands.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "model/columns.h"
#include "runfile/run_open.h"
#include "system/config.h"
#include "system/filter.h"
#include "system/log.h"
#include "tool/common/command.h"
#include "tool/common/run_view.h"
#include "tool/follow/follow.h"

struct arguments {
    struct run_view view;
    uint32_t sort; /* UINT32_MAX = as the view says */
    uint32_t top;  /* 0 = as the view says */
    int filtered;
    double every; /* seconds; 0: once */
    int shaped;   /* options of the report are given, which --every does not have */
    enum option_color colour;
};

/* Replaces the options that a view contains; set and filter are separate. */
static int take_view(struct arguments *a, const char *text) {
    struct run_view view;
    if (run_view_parse(text, &view)) {
        return -1;
    }
    a->view.options = view.options;
    return 0;
}

static int take_report_option(void *to, const struct option_value *value) {
    struct arguments *a = to;
    a->shaped |= value->id != OPTION_EVERY && value->id != OPTION_UNIT;
    switch (value->id) {
    case OPTION_EVERY:
        return command_take_interval(value->text, &a->every);
    case OPTION_VIEW:
        return take_view(a, value->text);
    case OPTION_SORT:
        a->sort = report_column_find(value->text, strlen(value->text));
        return a->sort == UINT32_MAX ? -1 : 0;
    case OPTION_TOP:
        a->top = (uint32_t)value->number;
        return 0;
    case OPTION_FILTER:
        a->filtered = 1;
        return filter_set(value->text);
    case OPTION_SET:
        a->view.set = value->text;
        return 0;
    case OPTION_UNIT:
        config.unit = (int)value->number; /* enum config_unit is in the order of units.ini, too */
        return 0;
    case OPTION_COLOR:
        a->colour = (enum option_color)value->number;
        return 0;
    default:
        return -1;
    }
}

/* --sort and --top take precedence over what the view says. */
static void options_combine(struct report_options *view, const struct arguments *a) {
    if (a->sort != UINT32_MAX) {
        view->sort = a->sort;
    }
    if (a->top) {
        view->top = a->top;
    }
    if (a->filtered) {
        view->wanted = filter_allows;
    }
}

static int report_file(const char *path, const struct arguments *a, int first) {
    struct run r;
    struct text out;
    if (run_open(&r, path)) {
        return COMMAND_BAD;
    }
    text_start(&out);
    out.drain = command_write;
    if (!first) {
        text_put(&out, "\n", 1);
    }
    int status = COMMAND_BAD;
    int failed = run_view_print(&out, &r, &a->view);
    if (!failed && (out.not_drained || command_write(out.data, out.length))) {
        status = COMMAND_FAILED;
    } else if (!failed) {
        status = command_warn(&r);
    }
    text_free(&out);
    run_close(&r);
    return status;
}

int cmd_report(int argc, char **argv) {
    struct arguments a = {.sort = UINT32_MAX};
    run_view_parse(WORDS_DEFAULT_VIEW, &a.view);
    int status = options_parse(TOOL_REPORT, argc, argv, take_report_option, &a);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return command_bad_usage(argv, "a run file is missing");
    }
    if (a.every > 0 && a.shaped) {
        return command_bad_usage(argv, "--every has a table of its own: only --unit goes with it");
    }
    if (a.every > 0) {
        const struct follow follow = {.names = argv + optind,
                                      .name_count = argc - optind,
                                      .interval = a.every,
                                      .kind = FOLLOW_TABLES,
                                      .delta = 1};
        return follow_runs(&follow);
    }
    options_combine(&a.view.options, &a);
    command_fit_report(&a.view.options, a.colour, STDOUT_FILENO);
    status = COMMAND_GOOD;
    for (int i = optind; i < argc; ++i) {
        status = command_worse(status, report_file(argv[i], &a, i == optind));
    }
    return status;
}
