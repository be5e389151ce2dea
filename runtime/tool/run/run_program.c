/* SPDX-License-Identifier: Apache-2.0 */
#include "run_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* As execvp looks for it. -1: not found. */
static int open_program(const char *program) {
    const char *paths = getenv("PATH");
    char path[PATH_MAX];
    if (strchr(program, '/') || !paths) {
        return open(program, OPEN_FLAGS);
    }
    while (*paths) {
        size_t length = strcspn(paths, ":");
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)length, paths, program);
        if (n > 0 && (size_t)n < sizeof path && !access(path, X_OK)) {
            return open(path, OPEN_FLAGS);
        }
        paths += length + (paths[length] == ':');
    }
    return -1;
}

int run_program_has(const char *program, const char *text) {
    struct stat s;
    void *bytes = MAP_FAILED;
    int fd = open_program(program);
    if (fd < 0) {
        return 0;
    }
    if (!fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size) {
        bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (bytes == MAP_FAILED) {
        return 0;
    }
    int found = memmem(bytes, (size_t)s.st_size, text, strlen(text)) != NULL;
    munmap(bytes, (size_t)s.st_size);
    return found;
}
