/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/api.h"
#include "base/error_text.h"
#include "base/scratch.h"
#include "base/text.h"
#include "calm.h"
#include "log.h"
#include "output.h"

static int target_refuse(const char *who, const char *path, const char *why) {
    log_error("%s: cannot write %.500s: %s", who, path, why);
    return STINT_ERROR_CANNOT_WRITE;
}

int target_put_text(struct sink *to, void *text) {
    const struct text *t = text;
    sink_put(to, t->data, t->length);
    return 0;
}

int target_put(struct target *t, const char *path, int how, mode_t mode, target_putter *put,
               void *what, const char **why) {
    *why = replace_file_open(&t->file, path, how, mode);
    if (*why) {
        return -1;
    }
    sink_start(&t->sink, t->file.fd);
    int failed = put(&t->sink, what);
    if (!failed && sink_close(&t->sink)) {
        *why = error_text(errno);
        failed = -1;
    }
    if (failed) {
        replace_file_abort(&t->file);
        return failed;
    }
    *why = replace_file_commit(&t->file);
    return *why ? -1 : 0;
}

static int target_write_path(struct target *t, const char *who, const char *pattern, int how,
                             mode_t mode, target_putter *put, void *what) {
    const char *why = NULL;
    char *path = t->file.path;
    if (output_path(path, sizeof t->file.path, pattern)) {
        snprintf(path, sizeof t->file.path, "%.200s", pattern);
        return target_refuse(who, path, "too long, or a % that is not %p %h %r");
    }
    int result = target_put(t, path, how, mode, put, what, &why);
    if (why) {
        return target_refuse(who, path, why);
    }
    return result;
}

int target_write(const char *who, const char *pattern, int how, mode_t mode, target_putter *put,
                 void *what) {
    struct target *t = pages_get(sizeof *t);
    struct calm calm;
    calm_start(&calm);
    int result = STINT_ERROR_NO_MEMORY;
    if (!t) {
        log_error("%s: no memory", who);
    } else {
        result = target_write_path(t, who, pattern, how, mode, put, what);
    }
    pages_put(t, sizeof *t);
    calm_end(&calm);
    return result;
}
