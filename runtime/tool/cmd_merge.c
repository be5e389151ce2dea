/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command merge: finds the run that began first, whose clock the merged file counts in, and
 * adds the runs one by one.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "command.h"
#include "merge.h"
#include "run_open.h"

/* Room besides the sizes of the files: named threads need texts that no file has. */
#define SPARE ((uint64_t)16 << 20)

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
            log_line("%.500s: %s", paths[i], error_text(errno));
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
        log_line("%.500s: %s; nothing was merged", path, r->warning);
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
    if (start_merge(&m, out, count, paths)) {
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
