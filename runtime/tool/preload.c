/* SPDX-License-Identifier: Apache-2.0 */
#include "preload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"

/* Folders of libraries from that of the tool: where both are installed, and where both are built. */
static const char *const folders[] = {STINT_LIBRARY_FOLDER, ".."};

/* 0, or -1: it is in none of them. */
static int preload_find(char path[PATH_MAX], const char *name) {
    char tool[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 1);
    if (length < 0) {
        return -1;
    }
    tool[length] = '\0';
    char *end = strrchr(tool, '/');
    if (end) {
        *end = '\0';
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        int n = snprintf(path, PATH_MAX, "%s/%s/%s", tool, folders[i], name);
        if (n > 0 && n < PATH_MAX && !access(path, R_OK)) {
            return 0;
        }
    }
    return -1;
}

int preload_add(const char *name) {
    const char *old = getenv("LD_PRELOAD");
    char path[PATH_MAX];
    char *all = NULL;
    if (preload_find(path, name)) {
        snprintf(path, sizeof path, "%s", name);
    }
    if (strpbrk(path, " :")) {
        log_line("run: %.500s: LD_PRELOAD cannot have a path with a blank or a colon", path);
        return -1;
    }
    if (!old) {
        old = "";
    }
    int failed = asprintf(&all, *old ? "%s:%s" : "%s%s", path, old) < 0;
    if (failed || setenv("LD_PRELOAD", all, 1)) {
        log_line("run: cannot set LD_PRELOAD: %s", error_text(errno));
        failed = 1;
    }
    if (all) {
        free(all);
    }
    return -failed;
}
