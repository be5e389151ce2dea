/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output that is written by one function, and appears when it is complete (replace_file.h).
 */
#ifndef STINT_TARGET_H
#define STINT_TARGET_H

#include <sys/types.h>

#include "base/sink.h"
#include "replace_file.h"

/* Too large for the stack of a small thread. */
struct target {
    struct sink sink;
    struct replace_file file;
};

/* Writes an output; 0 for good. */
typedef int target_putter(struct sink *to, void *what);
/* One that writes a struct text. */
int target_put_text(struct sink *to, void *text);

/* Opens `path` as `how` says, and writes it by `put`. 0; -1 and *why: it cannot be written; or what
 * `put` returned, and *why is NULL. */
int target_put(struct target *t, const char *path, int how, mode_t mode, target_putter *put,
               void *what, const char **why);
/* For the library: `put` prints one line when it fails. pattern: as STINT_OUTPUT. who: begins the
 * line that says why it cannot be written. STINT_OK, or an error (of `put`: its result) after one
 * line. */
int target_write(const char *who, const char *pattern, int how, mode_t mode, target_putter *put,
                 void *what);

#endif
