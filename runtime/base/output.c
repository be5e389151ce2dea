/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calm.h"
#include "config/config.h"
#include "log.h"

/* The rank of a parallel run, as the common launchers tell it; "0" outside one. */
static const char *rank_text(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *value = getenv(names[i]);
        if (value && *value && strspn(value, "0123456789") == strlen(value)) {
            return value;
        }
    }
    return "0";
}

int output_path(char *out, size_t size, const char *pattern) {
    size_t at = 0;
    char piece[256];
    for (; *pattern; ++pattern) {
        int n = snprintf(piece, sizeof piece, "%c", *pattern);
        if (*pattern == '%') {
            ++pattern;
            if (*pattern == 'p') {
                n = snprintf(piece, sizeof piece, "%ld", (long)getpid());
            } else if (*pattern == 'r') {
                n = snprintf(piece, sizeof piece, "%s", rank_text());
            } else if (*pattern == 'h') {
                n = gethostname(piece, sizeof piece - 1) ? -1 : (int)strlen(piece);
            } else if (*pattern != '%') {
                return -1;
            }
        }
        if (n < 0 || (size_t)n >= sizeof piece || at + (size_t)n >= size) {
            return -1;
        }
        memcpy(out + at, piece, (size_t)n);
        at += (size_t)n;
    }
    out[at] = '\0';
    return 0;
}

static int write_all(int fd, const char *bytes, size_t length) {
    struct calm calm;
    int failed = 0;
    calm_start(&calm);
    while (length && !failed) {
        ssize_t n = write(fd, bytes, length);
        failed = n < 0 && errno != EINTR;
        bytes += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
    calm_end(&calm);
    return failed ? -1 : 0;
}

static int write_file(const char *pattern, const char *bytes, size_t length) {
    static pid_t written; /* by this process already: a child of a fork starts its own file */
    char path[PATH_MAX];
    if (output_path(path, sizeof path, pattern)) {
        log_line("STINT_OUTPUT=%.200s: too long, or a %% that is not %%p %%h %%r; "
                 "the report goes to stderr",
                 pattern);
        return write_all(STDERR_FILENO, bytes, length);
    }
    int fresh = written != getpid();
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (fresh ? O_TRUNC : O_APPEND), 0666);
    int failed = fd < 0 || write_all(fd, bytes, length);
    if (fd >= 0) {
        failed |= close(fd) != 0;
    }
    if (failed) {
        log_line("cannot write the report to %.500s: %s; it goes to stderr", path, strerror(errno));
        return write_all(STDERR_FILENO, bytes, length);
    }
    written = getpid();
    return 0;
}

int output_write(const char *bytes, size_t length) {
    int saved = errno;
    int result;
    const char *to = config.output;
    if (!to || !strcmp(to, "stderr")) {
        result = write_all(STDERR_FILENO, bytes, length);
    } else if (!strcmp(to, "stdout")) {
        fflush(stdout); /* what the program printed before stands before */
        result = write_all(STDOUT_FILENO, bytes, length);
        if (result) {
            log_line("cannot write the report to stdout: %s", strerror(errno));
        }
    } else {
        result = write_file(to, bytes, length);
    }
    errno = saved;
    return result;
}
