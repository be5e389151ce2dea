/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on stderr, in one write: "stint: …". With a lock of the runtime held (base/lock.h) it is
 * written when the lock has been released. Async-signal-safe.
 */
#ifndef STINT_LOG_H
#define STINT_LOG_H

#include <stddef.h>

__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);
/* A line as PaddlePaddle's Stat.h prints it: without "stint: ", and with the glog prefix where
 * STINT_LOG_PREFIX requests it. */
__attribute__((format(printf, 1, 2))) void log_legacy(const char *format, ...);
/* The prefix itself, "" unless requested; returns its length. */
size_t log_prefix(char *out, size_t size);

#endif
