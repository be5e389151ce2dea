/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where reports go: stderr, stdout or the file of STINT_OUTPUT, whose name may contain the process,
 * the host and the rank. Called by the session at a report, at most one at a time, and by the tool
 * for names of files. A report is never lost: what cannot be written to a file goes to stderr. The
 * session asks for the terminal before it formats a report.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "base/error_text.h"
#include "base/print.h"
#include "base/scratch.h"
#include "base/write_all.h"
#include "calm.h"
#include "config.h"
#include "launch.h"
#include "log.h"
#include "replace_file.h"
#include "terminal.h"

#define HOST_BYTES 65 /* Linux has none longer */

/* Whether the pattern has that letter after a percent sign. */
static int pattern_has(const char *pattern, char letter) {
    for (; *pattern; ++pattern) {
        if (*pattern == '%' && *++pattern == letter) {
            return 1;
        }
        if (!*pattern) {
            break;
        }
    }
    return 0;
}

int output_is_shared(void) {
    const char *to = config.output;
    return !to || (!pattern_has(to, 'r') && !pattern_has(to, 'p'));
}

/* 0 outside a parallel job. */
static size_t put_rank(char *out, size_t size) {
    struct launch launch;
    launch_read(&launch);
    if (launch.rank < 0) {
        launch.rank = 0;
    }
    return print_text(out, size, "%lld", (long long)launch.rank);
}

static pid_t output_process; /* 0: this one */

void output_set_process(pid_t pid) {
    output_process = pid;
}

int output_path(char *out, size_t size, const char *pattern) {
    size_t at = 0;
    char number[24], host[HOST_BYTES];
    for (; *pattern; ++pattern) {
        const char *piece = pattern;
        size_t n = 1;
        if (*pattern == '%') {
            ++pattern;
            if (*pattern == 'p') {
                n = print_text(number, sizeof number, "%ld",
                               (long)(output_process ? output_process : getpid()));
                piece = number;
            } else if (*pattern == 'r') {
                n = put_rank(number, sizeof number);
                piece = number;
            } else if (*pattern == 'h') {
                if (gethostname(host, sizeof host)) {
                    return -1;
                }
                piece = host;
                n = strnlen(host, sizeof host);
            } else if (*pattern != '%') {
                return -1;
            }
        }
        if (n >= size - at) {
            return -1;
        }
        memcpy(out + at, piece, n);
        at += n;
    }
    out[at] = '\0';
    return 0;
}

/* ---- Writing. */

/* After so long without a byte taken, on a non-blocking descriptor, the rest of the report is given
 * up: the end of the program waits for it. */
#define OUTPUT_WAIT_MS 2000

/* 0, or -1 with errno. */
static int write_calmly(int fd, const char *bytes, size_t length) {
    struct calm calm;
    calm_start(&calm);
    size_t done = write_all(fd, bytes, length, OUTPUT_WAIT_MS);
    calm_end(&calm);
    if (done < length) {
        return -1;
    }
    return 0;
}

static int write_to_stderr(const char *bytes, size_t length) {
    int failed = write_calmly(STDERR_FILENO, bytes, length);
    if (failed && errno == EAGAIN) {
        write_all(STDERR_FILENO, "\n", 1, WRITE_NO_WAIT);
        log_error("the report is cut off here: its reader took nothing for %d s",
                  OUTPUT_WAIT_MS / 1000);
    }
    return failed;
}

/* fresh: what is in the file goes. NULL, or why it failed. */
static const char *put_report(struct replace_file *f, int fresh, const char *bytes, size_t length) {
    struct stat s;
    const char *why = replace_file_open(f, f->path, REPLACE_APPEND, 0666);
    if (why) {
        return why;
    }
    fresh = fresh && !f->borrowed && !fstat(f->fd, &s) && S_ISREG(s.st_mode);
    if ((fresh && ftruncate(f->fd, 0)) || write_calmly(f->fd, bytes, length)) {
        return error_text(errno);
    }
    return replace_file_commit(f);
}

static int write_file(struct replace_file *f, const char *pattern, const char *bytes,
                      size_t length) {
    static pid_t written; /* by this process already: a child of a fork starts its own file */
    if (output_path(f->path, sizeof f->path, pattern)) {
        log_warning("STINT_OUTPUT=%.200s: too long, or a %% that is not %%p %%h %%r; "
                    "the report goes to stderr",
                    pattern);
        return write_to_stderr(bytes, length);
    }
    const char *why = put_report(f, written != getpid(), bytes, length);
    if (why) {
        replace_file_abort(f);
        log_warning("cannot write the report to %.500s: %s; it goes to stderr", f->path, why);
        return write_to_stderr(bytes, length);
    }
    written = getpid();
    return 0;
}

static int write_to_stdout(const char *bytes, size_t length) {
    fflush(stdout); /* what the program printed before comes before */
    int failed = write_calmly(STDOUT_FILENO, bytes, length);
    if (failed) {
        log_error("cannot write the report to stdout: %s", error_text(errno));
    }
    return failed;
}

/* A descriptor, or -1: a path. */
static int find_output_stream(const char *to) {
    if (!to || !strcmp(to, "stderr")) {
        return STDERR_FILENO;
    }
    if (!strcmp(to, "stdout")) {
        return STDOUT_FILENO;
    }
    return replace_file_descriptor(to);
}

int output_write(const char *bytes, size_t length) {
    ERRNO_KEEP;
    const char *to = config.output;
    int stream = find_output_stream(to);
    if (stream == STDERR_FILENO) {
        return write_to_stderr(bytes, length);
    }
    if (stream == STDOUT_FILENO) {
        return write_to_stdout(bytes, length);
    }
    struct replace_file *file = pages_get(sizeof *file); /* too much for a small stack */
    if (!file) {
        return write_to_stderr(bytes, length);
    }
    int result = write_file(file, to, bytes, length);
    pages_put(file, sizeof *file);
    return result;
}

static void describe_terminal(struct output_terminal *out, int fd) {
    out->found = isatty(fd);
    if (!out->found) {
        return;
    }
    out->colour = terminal_has_colours(fd);
    out->width = terminal_columns(fd);
}

void output_find_terminal(struct output_terminal *out) {
    ERRNO_KEEP;
    struct stat s;
    int fd = find_output_stream(config.output);
    memset(out, 0, sizeof *out);
    if (fd >= 0) {
        describe_terminal(out, fd);
        return;
    }
    if (stat(config.output, &s) || !S_ISCHR(s.st_mode)) {
        return;
    }
    fd = open(config.output, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) {
        describe_terminal(out, fd);
        close(fd);
    }
}
