/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens every output of the library and the tool.
 * - A file is written beside its place, as PATH.PID.N.tmp, and then renamed to it: a reader never
 *   sees half of it. A link to a file, or to none, is replaced itself. The new file has no
 *   permission that the old one lacks.
 * - A file that a running program is writing (it holds a write lock on it, as on run files) is left
 *   alone, and so is any run file, unless the new one is a run file, too.
 * - /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N are descriptors of the process.
 */
#ifndef STINT_REPLACE_FILE_H
#define STINT_REPLACE_FILE_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#define RUN_FILE_MAGIC "STINTRUN" /* 8 bytes, without the NUL: copied, no initialiser */

/* How an output is opened: any of these. */
enum replace_how {
    REPLACE_WHOLE = 0,
    REPLACE_BY_RUN = 1, /* a run file is written */
    /* A user of the tool names it: NULL and "-" are standard output, and a device or a FIFO is
     * written to. */
    REPLACE_NAMED = 2,
    REPLACE_APPEND = 4, /* in place, at its end; a device is written to, a link refused */
};

struct replace_file {
    int fd;       /* to write to; -1: closed */
    int borrowed; /* fd is a descriptor of the process, and stays open */
    int how;
    char path[PATH_MAX];
    char temporary[PATH_MAX]; /* "" once it is in place or gone, and if it is written in place */
};

/* All return NULL, or why it failed, for a message "cannot write PATH: …". `path` may be
 * f->path. */
const char *replace_file_open(struct replace_file *f, const char *path, int how, mode_t mode);
const char *replace_file_commit(struct replace_file *f);
/* Removes what was written beside the file; nothing after a commit. */
void replace_file_abort(struct replace_file *f);

/* The descriptor that a name means; -1: it is a name like others. */
int replace_file_descriptor(const char *path);
/* Whether the file begins as run files do. */
int replace_file_is_run(int fd);
/* Makes a new file beside `path` and puts its name into `temporary`. A descriptor, or -1 with errno
 * and an empty name. flags: O_WRONLY or O_RDWR. */
int replace_file_temporary(const char *path, char *temporary, size_t size, int flags, mode_t mode);
/* Takes that lock: it goes with the last descriptor of this open file, however the process ends. 0,
 * or -1: another one holds it. Where there are no locks, 0. */
int replace_file_lock(int fd);

#define REPLACE_FILE_LOCKED "a running program is writing it"
#define REPLACE_FILE_IRREGULAR "it exists and is not a regular file"
#define REPLACE_FILE_RUN "it is a run file; give another name, or remove it before"

#endif
