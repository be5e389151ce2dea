/* SPDX-License-Identifier: Apache-2.0 */
#include "run_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "stint/detail/impl_layout.h"
#include "system/log.h"

#define NUMBER_TEXT_(n) #n
#define NUMBER_TEXT(n) NUMBER_TEXT_(n)
#define SUFFIX ".so." NUMBER_TEXT(STINT_ABI)

/* The ways from the tool's folder to the libraries: where both are installed, where both are
 * built. */
static const char *const folders[] = {STINT_LIBRARY_FOLDER, ".."};

/* The folder of the tool. 0, or errno. */
static int find_tool_folder(char folder[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length < 0) {
        return errno;
    }
    folder[length] = '\0';
    char *end = strrchr(folder, '/');
    if (end) {
        *end = '\0';
    }
    return 0;
}

int run_library_seek(char path[PATH_MAX], const char *name) {
    char tool[PATH_MAX];
    if (find_tool_folder(tool)) {
        return -1;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        int n = snprintf(path, PATH_MAX, "%s/%s/lib%s" SUFFIX, tool, folders[i], name);
        if (n > 0 && n < PATH_MAX && !access(path, R_OK)) {
            return 0;
        }
    }
    return -1;
}

int run_library_find(char path[PATH_MAX], const char *name) {
    char tool[PATH_MAX];
    int failed = find_tool_folder(tool);
    if (failed) {
        log_error("run: /proc/self/exe: %s", error_text(failed));
        return -1;
    }
    if (!run_library_seek(path, name)) {
        return 0;
    }
    log_error("run: lib%s" SUFFIX " is not in %.400s/" STINT_LIBRARY_FOLDER
              "; it is installed with the shared library",
              name, tool);
    return -1;
}

/* Sets the variable to the value and, after a colon, what it was. 0, or -1 after one line. */
static int prepend_variable(const char *name, const char *value) {
    const char *old = getenv(name);
    char *all = NULL;
    if (!old) {
        old = "";
    }
    int failed = asprintf(&all, *old ? "%s:%s" : "%s%s", value, old) < 0;
    if (failed || setenv(name, all, 1)) {
        log_error("run: cannot set %s: %s", name, error_text(errno));
        failed = 1;
    }
    free(all);
    return -failed;
}

/* Else a program, or one that it starts, that is linked with the shared library of AddressSanitizer
 * would end at once because another library comes before it. That library's malloc is the one that
 * libstint-mem.so calls. What the user has set comes later and wins. */
static int allow_before_asan(void) {
    return prepend_variable("ASAN_OPTIONS", "verify_asan_link_order=0");
}

int run_library_preload_path(const char *path) {
    if (strpbrk(path, " :")) {
        log_error("run: %.500s: LD_PRELOAD cannot have a path with a blank or a colon", path);
        return -1;
    }
    if (prepend_variable("LD_PRELOAD", path)) {
        return -1;
    }
    return allow_before_asan();
}

int run_library_preload(const char *name) {
    char path[PATH_MAX];
    if (run_library_find(path, name)) {
        return -1;
    }
    return run_library_preload_path(path);
}
