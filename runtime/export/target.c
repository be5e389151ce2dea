/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/calm.h"
#include "base/log.h"
#include "base/output.h"
#include "base/scratch.h"

#define NAMES 100 /* tried when a name is taken */

struct target {
    const char *who;
    int fd;
    char path[PATH_MAX];
    char temporary[PATH_MAX];
};

static int refuse(const struct target *t, const char *why) {
    log_line("%s: cannot write %.500s: %s", t->who, t->path, why);
    return -1;
}

static int target_open(struct target *t, const char *pattern, mode_t mode) {
    struct stat s;
    t->fd = -1;
    if (output_path(t->path, sizeof t->path, pattern)) {
        snprintf(t->path, sizeof t->path, "%.200s", pattern);
        return refuse(t, "too long, or a % that is not %p %h %r");
    }
    if (!lstat(t->path, &s) && !S_ISREG(s.st_mode)) {
        return refuse(t, "it is there and is no regular file");
    }
    for (int n = 0; n < NAMES && t->fd < 0; ++n) {
        int length = snprintf(t->temporary, sizeof t->temporary, "%s.%ld.%d.tmp", t->path,
                              (long)getpid(), n);
        if (length < 0 || (size_t)length >= sizeof t->temporary) {
            return refuse(t, strerror(ENAMETOOLONG));
        }
        t->fd = open(t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (t->fd < 0 && errno != EEXIST) {
            break;
        }
    }
    return t->fd < 0 ? refuse(t, strerror(errno)) : 0;
}

/* In its place, unless something failed, and then gone. */
static int target_close(struct target *t, int failed) {
    int bad = close(t->fd) || (!failed && rename(t->temporary, t->path));
    if (!failed && bad) {
        refuse(t, strerror(errno));
    }
    if (failed || bad) {
        unlink(t->temporary);
    }
    return failed || bad ? -1 : 0;
}

int target_write(const char *who, const char *pattern, mode_t mode,
                 int (*put)(struct sink *to, void *what), void *what) {
    struct target t = {.who = who};
    struct calm calm;
    struct sink *to = pages_get(sizeof *to);
    int result = -1;
    calm_start(&calm);
    if (!to) {
        log_line("%s: no memory", who);
    } else if (!target_open(&t, pattern, mode)) {
        sink_start(to, t.fd);
        result = put(to, what);
        if (!result && sink_close(to)) {
            result = refuse(&t, strerror(errno));
        }
        result = target_close(&t, result);
    }
    pages_put(to, sizeof *to);
    calm_end(&calm);
    return result;
}
