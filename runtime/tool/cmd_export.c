/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/replace_file.h"
#include "command.h"
#include "export/export.h"
#include "export/export_tables.h"
#include "progress.h"
#include "run_open.h"

static const char help[] =
    "usage: stint export FILE --to FORMAT [-o OUT]\n"
    "Writes a run in a format of other programs.\n\n"
    "  -t, --to FORMAT   chrome       trace events: ui.perfetto.dev, speedscope, chrome://tracing\n"
    "                    perfetto     its own, smaller: ui.perfetto.dev, trace_processor\n"
    "                    speedscope   speedscope.app: a flame graph over time\n"
    "                    folded       flamegraph.pl, inferno: a line a stack\n"
    "                    csv          spreadsheets: a row a statistic, or of another --table\n"
    "                    json         everything, see docs/stint.schema.json\n"
    "                    prometheus   for a textfile collector\n"
    "                    html         a report in one file for a browser\n"
    "      --table TABLE of csv: scopes (default), devices, kernels, memory, api, gaps, steps or\n"
    "                    activities\n"
    "  -o, --output OUT  appears when it is complete; default and '-': standard output\n"
    "      --help\n";

struct format {
    const char *name;
    int (*write)(struct sink *out, struct run *r);
    int binary;
};

struct request {
    const struct format *format;
    const char *output;
    uint32_t table;
};

static const struct format formats[] = {
    {"chrome", export_chrome, 0},
    {"perfetto", export_perfetto, 1},
    {"speedscope", export_speedscope, 0},
    {"folded", export_folded, 0},
    {"csv", export_csv, 0},
    {"json", export_json, 0},
    {"prometheus", export_prometheus, 0},
    {"html", export_html, 0},
};

static const struct format *format_of(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        if (!strcmp(formats[i].name, name)) {
            return &formats[i];
        }
    }
    log_line("--to %.100s: expected chrome, perfetto, speedscope, folded, csv, json, prometheus or "
             "html",
             name);
    return NULL;
}

/* What of the run csv is of: TABLE_SCOPES, EXPORT_TABLES for the devices, or one of them. */
#define TABLE_SCOPES UINT32_MAX

static int table_of(const char *name, uint32_t *out) {
    *out = !strcmp(name, "scopes") ? TABLE_SCOPES : 0;
    while (*out < EXPORT_TABLES && strcmp(name, export_table_names[*out])) {
        ++*out;
    }
    if (*out == EXPORT_TABLES && strcmp(name, "devices")) {
        log_line("--table %.100s: expected scopes, devices, kernels, memory, api, gaps, steps or "
                 "activities",
                 name);
        return -1;
    }
    return 0;
}

/* ---- Where it goes. */

struct target {
    const char *path; /* NULL = stdout */
    int fd;
    int replaces; /* by `file`; else written in place */
    struct replace_file file;
};

static int refuse(const struct target *t, const char *why) {
    log_line("cannot write %.500s: %s", t->path ? t->path : "to standard output", why);
    return -1;
}

/* What is there and is no file (a device, a pipe) is written to; a link is followed, but not to a
 * file that is being written. */
static int target_open(struct target *t, const char *path) {
    struct stat s;
    t->path = path && strcmp(path, "-") ? path : NULL;
    t->fd = STDOUT_FILENO;
    t->replaces = 0;
    if (!t->path) {
        return 0;
    }
    t->replaces = lstat(path, &s) || S_ISREG(s.st_mode);
    if (t->replaces) {
        const char *why = replace_file_open(&t->file, path, 0666);
        t->fd = t->file.fd;
        return why ? refuse(t, why) : 0;
    }
    if (!stat(path, &s) && S_ISREG(s.st_mode) && replace_file_is_locked(path)) {
        return refuse(t, REPLACE_FILE_LOCKED);
    }
    t->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
    return t->fd < 0 ? refuse(t, strerror(errno)) : 0;
}

static int target_close(struct target *t, int failed) {
    if (!t->path) {
        return failed;
    }
    if (!t->replaces) {
        return close(t->fd) && !failed ? refuse(t, strerror(errno)) : failed;
    }
    if (failed) {
        replace_file_abort(&t->file);
        return failed;
    }
    const char *why = replace_file_commit(&t->file);
    return why ? refuse(t, why) : 0;
}

static int export_to(struct target *t, const struct request *q, struct run *r) {
    static struct sink sink; /* 64 KiB */
    sink_start(&sink, t->fd);
    progress_start("writing", &sink);
    int failed = q->table == TABLE_SCOPES ? q->format->write(&sink, r)
                                          : export_csv_table(&sink, &r->snapshot, q->table);
    int unwritten = sink_close(&sink), why = errno;
    progress_stop();
    if (unwritten) {
        return refuse(t, strerror(why));
    }
    if (failed) {
        log_line("%.500s: no memory to export it", r->path);
    }
    return failed;
}

static int export_file(const char *path, const struct request *q) {
    struct run r;
    struct target t;
    progress_start("reading", NULL);
    int failed = run_open(&r, path);
    progress_stop();
    if (failed) {
        return COMMAND_BAD;
    }
    int status = COMMAND_FAILED;
    if (!target_open(&t, q->output) && !target_close(&t, export_to(&t, q, &r))) {
        status = command_warn(&r);
    }
    run_close(&r);
    return status;
}

/* -1: go on; else the exit status. */
static int read_options(struct request *q, int argc, char **argv) {
    static const struct option options[] = {{"to", required_argument, NULL, 't'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"table", required_argument, NULL, COMMAND_OPTION},
                                            {"help", no_argument, NULL, COMMAND_HELP},
                                            {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "t:o:", options, NULL)) != -1) {
        if (c == COMMAND_HELP) {
            return command_help(help);
        }
        if (c == '?') {
            return command_bad_option(argv);
        }
        if (c == 'o') {
            q->output = optarg;
        } else if (c == 't' ? !(q->format = format_of(optarg)) : table_of(optarg, &q->table)) {
            return COMMAND_BAD;
        }
    }
    return -1;
}

int cmd_export(int argc, char **argv) {
    struct request q = {.table = TABLE_SCOPES};
    int status = read_options(&q, argc, argv);
    if (status >= 0) {
        return status;
    }
    if (!q.format) {
        return command_bad_usage(argv, "--to FORMAT is missing");
    }
    if (q.table != TABLE_SCOPES && q.format->write != export_csv) {
        return command_bad_usage(argv, "--table is for --to csv");
    }
    if (argc - optind != 1) {
        return command_bad_usage(argv, optind == argc ? "a run file is missing"
                                                      : "one run file at a time");
    }
    if (q.format->binary && (!q.output || !strcmp(q.output, "-")) && isatty(STDOUT_FILENO)) {
        return command_bad_usage(argv, "this format is not text: give -o FILE or a pipe");
    }
    return export_file(argv[optind], &q);
}
