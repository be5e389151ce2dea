/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that writes a run file, by /proc: which run file a process has mapped. run_open.c and
 * cmd_top.c call this.
 */
#include "run_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/error_text.h"
#include "system/log.h"
#include "system/replace_file.h"

/* A line of /proc/PID/maps: "from-to perms offset device inode   path". 0 if it is a shared mapping
 * of a file that can be written. */
static int parse_mapping(char *line, unsigned long long *inode, char **path) {
    char perms[8];
    int at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%*s %7s %*s %*s %llu %n", perms, inode, &at) < 2 || strcmp(perms, "rw-s") ||
        !*inode) {
        return -1;
    }
    *path = line + at;
    return 0;
}

static FILE *mappings_open(uint32_t pid) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%u/maps", pid);
    return fopen(name, "re");
}

int run_writer_maps(uint32_t pid, ino_t inode) {
    FILE *maps = mappings_open(pid);
    char *line = NULL, *path;
    size_t size = 0;
    unsigned long long number;
    int found = 0;
    while (maps && !found && getline(&line, &size, maps) > 0) {
        found = !parse_mapping(line, &number, &path) && number == (unsigned long long)inode;
    }
    if (maps) {
        fclose(maps);
    }
    free(line);
    return found;
}

static int is_run_file(const char *path) {
    struct stat s;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int yes = fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode) && replace_file_is_run(fd);
    if (fd >= 0) {
        close(fd);
    }
    return yes;
}

/* Finds it by its name, as this process sees it, then as that one does, or, if it was removed, by
 * its address. */
static int find_mapped_file(uint32_t pid, const char *line, const char *name, char *path,
                            size_t size) {
    snprintf(path, size, "%s", name);
    if (is_run_file(path)) {
        return 0;
    }
    snprintf(path, size, "/proc/%u/root%s", pid, name);
    if (is_run_file(path)) {
        return 0;
    }
    snprintf(path, size, "/proc/%u/map_files/%.*s", pid, (int)strcspn(line, " "), line);
    return is_run_file(path) ? 0 : -1;
}

int run_writer_find(uint32_t pid, char *path, size_t size) {
    FILE *maps = mappings_open(pid);
    char *line = NULL, *name;
    size_t room = 0;
    unsigned long long inode;
    int found = 0;
    if (!maps) {
        const char *why = errno == ENOENT ? "no such process" : error_text(errno);
        log_error("process %u: %s", pid, why);
        return -1;
    }
    while (!found && getline(&line, &room, maps) > 0) {
        found =
            !parse_mapping(line, &inode, &name) && !find_mapped_file(pid, line, name, path, size);
    }
    int unreadable = ferror(maps);
    fclose(maps);
    free(line);
    if (found) {
        return 0;
    }
    if (unreadable) {
        log_error("process %u: its mappings cannot be read; give its run file", pid);
    } else {
        log_error("process %u writes no run file: start it with STINT_FILE=FILE", pid);
    }
    return -1;
}
