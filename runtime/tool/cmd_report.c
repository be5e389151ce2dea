/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command report, which main.c calls: prints the report of run files, by the code that prints it in
 * the program, or with --uncovered the sites of a catalogue that the runs have not reached. A file
 * that cannot be read does not keep the others from being printed; it makes the exit status 2.
 */
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/filter.h"
#include "base/log.h"
#include "catalog.h"
#include "command.h"
#include "read/columns.h"
#include "run_open.h"
#include "run_view.h"

struct arguments {
    struct run_view view;
    uint32_t sort; /* UINT32_MAX = as the view says */
    uint32_t top;  /* 0 = as the view says */
    int filtered;
    const char *catalog; /* NULL: the report */
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

static int take_sort(struct arguments *a, const char *text) {
    a->sort = report_column_find(text, strlen(text));
    return a->sort == UINT32_MAX ? -1 : 0;
}

static int take_report_option(void *to, const struct option_value *value) {
    struct arguments *a = to;
    switch (value->id) {
    case OPTION_VIEW:
        return take_view(a, value->text);
    case OPTION_SORT:
        return take_sort(a, value->text);
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
    case OPTION_UNCOVERED:
        a->catalog = value->text;
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

/* The sites of the catalogue that no run has reached. */
static int report_uncovered(const char *path, char **files, int count) {
    struct catalog catalog;
    struct text out;
    int status = COMMAND_GOOD;
    if (catalog_read(&catalog, path)) {
        return COMMAND_BAD;
    }
    for (int i = 0; i < count; ++i) {
        struct run r;
        if (run_open(&r, files[i])) {
            status = COMMAND_BAD;
            continue;
        }
        catalog_reach(&catalog, &r.snapshot);
        status = command_worse(status, command_warn(&r));
        run_close(&r);
    }
    text_start(&out);
    catalog_print(&out, &catalog);
    if (command_write(STDOUT_FILENO, out.data, out.length)) {
        status = command_worse(status, COMMAND_FAILED);
    }
    text_free(&out);
    catalog_free(&catalog);
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
    if (a.catalog) {
        return report_uncovered(a.catalog, argv + optind, argc - optind);
    }
    options_combine(&a.view.options, &a);
    command_fit_report(&a.view.options, a.colour, STDOUT_FILENO);
    status = COMMAND_GOOD;
    for (int i = optind; i < argc; ++i) {
        status = command_worse(status, report_file(argv[i], &a, i == optind));
    }
    return status;
}
