/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for the user: "stint: …" on stderr, each in one write, or without the prefix to the
 * program's callback (stint_log_set). Async-signal-safe.
 *
 * With a lock of the runtime held (system/lock.h) a line waits until the lock has been released. A
 * line for the callback also waits where the thread may be in a signal handler; log_function_end
 * delivers it. 64 lines may wait; more are dropped, and counted in a line of their own.
 */
#ifndef STINT_LOG_H
#define STINT_LOG_H

#include <stddef.h>

#include "base/errno_keep.h"

/* By level: something the caller asked for was not done; something works less well than requested;
 * for information. STINT_LOG selects levels. */
__attribute__((format(printf, 1, 2))) void log_error(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_note(const char *format, ...);
/* Lines as PaddlePaddle's Stat.h prints them: without "stint: ", and with the glog prefix where
 * STINT_LOG_PREFIX requests it. log_slow is for a call that took long. */
__attribute__((format(printf, 1, 2))) void log_legacy(const char *format, ...);
__attribute__((format(printf, 1, 2))) void log_slow(const char *format, ...);
/* The prefix itself, "" unless requested; returns its length. */
size_t log_prefix(char *out, size_t size);

/* NULL: stderr. Takes LOCK_LOG. */
void log_set_callback(void (*fn)(void *data, int level, const char *line), void *data);
/* Writes what waits to stderr; later lines go there, too. At the end of the program. */
void log_end(void);

/* Delivers what waits, on a thread that is not in a signal handler. */
void log_deliver(void);
static inline void log_function_end(const char *unused) {
    (void)unused;
    log_deliver();
}

/* ERRNO_KEEP for a function that programs call and signal handlers must not: at its end no line
 * waits any more. */
#define FUNCTION_KEEP                                                                              \
    ERRNO_KEEP;                                                                                    \
    __attribute__((cleanup(log_function_end), unused)) const char function_runs = 0

#endif
