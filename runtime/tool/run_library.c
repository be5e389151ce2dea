/* SPDX-License-Identifier: Apache-2.0 */
#include "run_library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "stint/detail/impl_layout.h"

/* Where an installation has it, and the build; the number is that of the shared library. */
#define NUMBER_TEXT_(n) #n
#define NUMBER_TEXT(n) NUMBER_TEXT_(n)
static const char *const folders[] = {"lib/" STINT_LIBRARY_ARCHITECTURE "/", "lib64/", "lib/", ""};
#define FOLDERS (sizeof folders / sizeof *folders)

int run_library_find(char path[PATH_MAX], const char *name) {
    char tool[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 1);
    if (length < 0) {
        log_line("run: /proc/self/exe: %s", error_text(errno));
        return -1;
    }
    tool[length] = '\0';
    for (int i = 0; i < 2; ++i) {
        char *end = strrchr(tool, '/');
        if (end) {
            *end = '\0';
        }
    }
    for (size_t i = 0; i < FOLDERS; ++i) {
        int n = snprintf(path, PATH_MAX, "%s/%slib%s.so." NUMBER_TEXT(STINT_ABI), tool, folders[i],
                         name);
        if (n > 0 && n < PATH_MAX && !access(path, R_OK)) {
            return 0;
        }
    }
    log_line("run: lib%s.so." NUMBER_TEXT(STINT_ABI) " is not in %.400s/lib; it is installed with "
                                                     "the shared library",
             name, tool);
    return -1;
}
