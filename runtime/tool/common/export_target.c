/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the output of an export, writes the run, and makes the file appear under its name. The
 * commands export and run use it. A regular file is replaced by a whole one or not at all; one that
 * a running program is writing is refused.
 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "base/replace_file.h"

struct target {
    const char *path; /* NULL = stdout */
    int fd;
    int replaces; /* by `file`; else written in place */
    struct replace_file file;
};

static int refuse_target(const struct target *t, const char *why) {
    const char *name = t->path ? t->path : "to standard output";
    log_error("cannot write %.500s: %s", name, why);
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

static int output_run(struct target *t, export_target_writer *put, const void *what,
                      struct run *r) {
    static struct sink sink; /* 64 KiB */
    sink_start(&sink, t->fd);
    progress_start("writing", &sink);
    int failed = put(&sink, what, r);
    int unwritten = sink_close(&sink), why = errno;
    progress_stop();
    if (unwritten) {
        return refuse_target(t, error_text(why));
    }
    if (failed) {
        log_error("%.500s: not enough memory to export it", r->path);
    }
    return failed;
}

int export_target_write(const char *output, export_target_writer *put, const void *what,
                        struct run *r) {
    struct target t;
    if (target_open(&t, output)) {
        return -1;
    }
    if (output_run(&t, put, what, r)) {
        return target_abort(&t);
    }
    return target_close(&t);
}
