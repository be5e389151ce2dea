/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is written beside its place, as PATH.PID.N.tmp, and then renamed to it: a reader
 * never sees half of it, no link is followed, no device or FIFO opened, and a file that a running
 * program is writing (it holds a write lock on it, as on run files) is left alone.
 */
#ifndef STINT_REPLACE_FILE_H
#define STINT_REPLACE_FILE_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

struct replace_file {
    int fd; /* to write to; -1: closed */
    char path[PATH_MAX];
    char temporary[PATH_MAX]; /* "" once it is in place or gone */
};

/* All return NULL, or why it failed, for a message "cannot write PATH: …". */
const char *replace_file_open(struct replace_file *f, const char *path, mode_t mode);
const char *replace_file_commit(struct replace_file *f);
/* Removes what was written; nothing after a commit. */
void replace_file_abort(struct replace_file *f);

/* Makes a new file beside `path` and puts its name into `temporary`. A descriptor, or -1 with errno
 * and an empty name. flags: O_WRONLY or O_RDWR. */
int replace_file_temporary(const char *path, char *temporary, size_t size, int flags, mode_t mode);
/* Whether another program, or another part of this one, holds a write lock on the file. */
int replace_file_is_locked(const char *path);
/* Takes that lock: it goes with the last descriptor of this open file, however the process ends. 0,
 * or -1: another one holds it. Where there are no locks, 0. */
int replace_file_lock(int fd);

#define REPLACE_FILE_LOCKED "a running program is writing it"
#define REPLACE_FILE_IRREGULAR "it exists and is not a regular file"

#endif
