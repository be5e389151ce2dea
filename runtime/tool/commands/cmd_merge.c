/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command merge: finds the run that began first, whose clock the merged file counts in, and
 * adds the runs one by one.
 */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "runfile/run_open.h"
#include "tool/common/command.h"
#include "tool/merge/merge.h"

#define NO_FILE (-1) /* not the place of a file on the command line */

/* Room besides the sizes of the files: named threads need texts that no file has. */
#define SPARE ((uint64_t)16 << 20)

/* The place of the first of the files that is this one, by another name perhaps; NO_FILE if it is
 * none of them. */
static int find_same_file(const char *path, int count, char **paths) {
    struct stat s, other;
    if (stat(path, &s)) {
        return NO_FILE;
    }
    for (int i = 0; i < count; ++i) {
        if (!stat(paths[i], &other) && other.st_dev == s.st_dev && other.st_ino == s.st_ino) {
            return i;
        }
    }
    return NO_FILE;
}

/* A file that is counted twice, or that would be lost. -1 after one line. */
static int check_files(const char *out, int count, char **paths) {
    for (int i = 1; i < count; ++i) {
        int before = find_same_file(paths[i], i, paths);
        if (before != NO_FILE) {
            log_error("merge: %.500s: the same file as %.500s; nothing was merged", paths[i],
                      paths[before]);
            return -1;
        }
    }
    int input = find_same_file(out, count, paths);
    if (input != NO_FILE) {
        log_error("merge: -o %.500s: the same file as the input %.500s; nothing was merged", out,
                  paths[input]);
        return -1;
    }
    return 0;
}

/* The bytes that hold the contents of all files, and the file of the run that began first. -1 after
 * one line. */
static int measure_files(int count, char **paths, uint64_t *bytes, int *first) {
    uint64_t earliest = UINT64_MAX;
    *bytes = SPARE;
    *first = 0;
    for (int i = 0; i < count; ++i) {
        struct arena_header h;
        struct stat s;
        int fd = open(paths[i], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &s)) {
            log_error("%.500s: %s", paths[i], error_text(errno));
            if (fd >= 0) {
                close(fd);
            }
            return -1;
        }
        *bytes += (uint64_t)s.st_size + sizeof h;
        if (pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && h.start.real_ns < earliest) {
            earliest = h.start.real_ns;
            *first = i;
        }
        close(fd);
    }
    return 0;
}

/* Only whole runs are merged. -1 after one line. */
static int open_whole(struct run *r, const char *path) {
    if (run_open(r, path)) {
        return -1;
    }
    if (*r->warning) {
        log_error("%.500s: %s; nothing was merged", path, r->warning);
        run_close(r);
        return -1;
    }
    return 0;
}

static int start_merge(struct merge *m, const char *out, int count, char **paths) {
    struct run r;
    uint64_t bytes;
    int first;
    if (measure_files(count, paths, &bytes, &first) || open_whole(&r, paths[first])) {
        return -1;
    }
    int failed = merge_start(m, out, (uint32_t)count, bytes, &r);
    if (failed) {
        merge_end(m);
    }
    run_close(&r);
    return failed;
}

static int merge_files(const char *out, int count, char **paths) {
    struct merge m;
    if (check_files(out, count, paths) || start_merge(&m, out, count, paths)) {
        return COMMAND_BAD;
    }
    int failed = 0;
    for (int i = 0; !failed && i < count; ++i) {
        struct run r;
        failed = open_whole(&r, paths[i]);
        if (!failed) {
            failed = merge_add(&m, &r);
            run_close(&r);
        }
    }
    failed = failed || merge_finish(&m);
    merge_end(&m);
    return failed ? COMMAND_BAD : COMMAND_GOOD;
}

static int take_merge_output(void *out, const struct option_value *value) {
    *(const char **)out = value->text;
    return 0;
}

int cmd_merge(int argc, char **argv) {
    const char *out = NULL;
    int status = options_parse(TOOL_MERGE, argc, argv, take_merge_output, &out);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return command_bad_usage(argv, "run files are missing");
    }
    if (!out || !*out) {
        return command_bad_usage(argv, "-o OUT is missing");
    }
    return merge_files(out, argc - optind, argv + optind);
}
