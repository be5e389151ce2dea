/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "calm.h"
#include "error_text.h"
#include "log.h"
#include "output.h"
#include "replace_file.h"
#include "scratch.h"

static int target_refuse(const char *who, const char *path, const char *why) {
    log_error("%s: cannot write %.500s: %s", who, path, why);
    return STINT_ERROR_CANNOT_WRITE;
}

/* Too large for the stack of a small thread. */
struct target {
    struct sink sink;
    struct replace_file file;
    char path[PATH_MAX];
};

static int open_target(struct target *t, const char *who, const char *pattern, mode_t mode) {
    if (output_path(t->path, sizeof t->path, pattern)) {
        snprintf(t->path, sizeof t->path, "%.200s", pattern);
        return target_refuse(who, t->path, "too long, or a % that is not %p %h %r");
    }
    const char *why = replace_file_open(&t->file, t->path, mode);
    if (why) {
        return target_refuse(who, t->path, why);
    }
    return 0;
}

/* STINT_OK, or an error after one line and without a file. */
static int put_into(struct target *t, const char *who, int (*put)(struct sink *to, void *what),
                    void *what) {
    sink_start(&t->sink, t->file.fd);
    int failed = put(&t->sink, what);
    if (!failed && sink_close(&t->sink)) {
        failed = target_refuse(who, t->path, error_text(errno));
    }
    if (failed) {
        replace_file_abort(&t->file);
        return failed;
    }
    const char *why = replace_file_commit(&t->file);
    if (why) {
        return target_refuse(who, t->path, why);
    }
    return 0;
}

int target_write(const char *who, const char *pattern, mode_t mode,
                 int (*put)(struct sink *to, void *what), void *what) {
    struct target *t = pages_get(sizeof *t);
    struct calm calm;
    calm_start(&calm);
    int result = STINT_ERROR_NO_MEMORY;
    if (!t) {
        log_error("%s: no memory", who);
    } else {
        result = open_target(t, who, pattern, mode);
    }
    if (!result) {
        result = put_into(t, who, put, what);
    }
    pages_put(t, sizeof *t);
    calm_end(&calm);
    return result;
}
