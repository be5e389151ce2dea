/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command export: writes a run in the format of another program, to standard output or to a
 * file that appears when it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "base/replace_file.h"
#include "command.h"
#include "export/export_tables.h"
#include "progress.h"
#include "run_open.h"
#include "viewers/formats.h"

struct request {
    const struct format *format;
    const char *output;
    uint32_t table;
};

static int take_format(struct request *q, const char *name) {
    q->format = format_find(name);
    return q->format ? 0 : -1;
}

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

static int take_export_option(void *to, const struct option_value *value) {
    struct request *q = to;
    switch (value->id) {
    case OPTION_TO:
        return take_format(q, value->text);
    case OPTION_TABLE:
        return take_table(q, value->text);
    case OPTION_OUTPUT:
        q->output = value->text;
        return 0;
    default:
        return -1;
    }
}

/* ---- The output. */

struct target {
    const char *path; /* NULL = stdout */
    int fd;
    int replaces; /* by `file`; else written in place */
    struct replace_file file;
};

static int refuse_target(const struct target *t, const char *why) {
    const char *name = t->path ? t->path : "to standard output";
    log_line("cannot write %.500s: %s", name, why);
    return -1;
}

/* A regular file, or none, is replaced. */
static int target_replace(struct target *t) {
    const char *why = replace_file_open(&t->file, t->path, 0666);
    t->fd = t->file.fd;
    t->replaces = 1;
    if (why) {
        return refuse_target(t, why);
    }
    return 0;
}

/* A device or a pipe is written to; a link is followed, but not to a file that a running program is
 * writing. */
static int target_open(struct target *t, const char *path) {
    struct stat s;
    memset(t, 0, sizeof *t);
    t->fd = STDOUT_FILENO;
    if (!path || !strcmp(path, "-")) {
        return 0;
    }
    t->path = path;
    if (lstat(path, &s) || S_ISREG(s.st_mode)) {
        return target_replace(t);
    }
    if (!stat(path, &s) && S_ISREG(s.st_mode) && replace_file_is_locked(path)) {
        return refuse_target(t, REPLACE_FILE_LOCKED);
    }
    t->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
    if (t->fd < 0) {
        return refuse_target(t, error_text(errno));
    }
    return 0;
}

static int target_abort(struct target *t) {
    if (t->replaces) {
        replace_file_abort(&t->file);
    } else if (t->path) {
        close(t->fd);
    }
    return -1;
}

static int target_close(struct target *t) {
    if (!t->path) {
        return 0;
    }
    if (!t->replaces) {
        return close(t->fd) ? refuse_target(t, error_text(errno)) : 0;
    }
    const char *why = replace_file_commit(&t->file);
    if (why) {
        return refuse_target(t, why);
    }
    return 0;
}

static int export_run(struct sink *sink, const struct request *q, struct run *r) {
    if (q->table != TABLE_SCOPES) {
        return export_csv_table(sink, &r->snapshot, q->table);
    }
    return q->format->write(sink, r);
}

static int export_to(struct target *t, const struct request *q, struct run *r) {
    static struct sink sink; /* 64 KiB */
    sink_start(&sink, t->fd);
    progress_start("writing", &sink);
    int failed = export_run(&sink, q, r);
    int unwritten = sink_close(&sink), why = errno;
    progress_stop();
    if (unwritten) {
        return refuse_target(t, error_text(why));
    }
    if (failed) {
        log_line("%.500s: not enough memory to export it", r->path);
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
    if (!target_open(&t, q->output)) {
        failed = export_to(&t, q, &r) ? target_abort(&t) : target_close(&t);
        if (!failed) {
            status = command_warn(&r);
        }
    }
    run_close(&r);
    return status;
}

/* Checks what the table of options cannot. COMMAND_GOOD, or the exit status after one line. */
static int request_check(const struct request *q, int files, char **argv) {
    if (!q->format) {
        return command_bad_usage(argv, "--to FORMAT is missing");
    }
    if (q->table != TABLE_SCOPES && q->format->write != export_csv) {
        return command_bad_usage(argv, "--table is for --to csv");
    }
    if (files < 1) {
        return command_bad_usage(argv, "a run file is missing");
    }
    if (files > 1) {
        return command_bad_usage(argv, "one run file at a time");
    }
    int to_stdout = !q->output || !strcmp(q->output, "-");
    if (q->format->binary && to_stdout && isatty(STDOUT_FILENO)) {
        return command_bad_usage(argv, "this format is not text: give -o FILE or a pipe");
    }
    return COMMAND_GOOD;
}

int cmd_export(int argc, char **argv) {
    struct request q = {.table = TABLE_SCOPES};
    int status = options_parse(TOOL_EXPORT, argc, argv, take_export_option, &q);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    status = request_check(&q, argc - optind, argv);
    if (status != COMMAND_GOOD) {
        return status;
    }
    return export_file(argv[optind], &q);
}
