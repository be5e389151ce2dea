/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is written under a temporary name and then renamed, so that a reader never sees half
 * of it (replace_file.h). No link is followed and no device opened.
 */
#ifndef STINT_TARGET_H
#define STINT_TARGET_H

#include <sys/types.h>

#include "sink.h"

/* Writes it by `put`, which returns 0, or another value after one line of its own. pattern: as
 * STINT_OUTPUT. who: begins the line that says why it cannot be written. STINT_OK, or an error (of
 * `put`: its result) after one line. */
int target_write(const char *who, const char *pattern, mode_t mode,
                 int (*put)(struct sink *to, void *what), void *what);

#endif
