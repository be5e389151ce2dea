/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on stderr, in one write: "stint: …". With a lock of the runtime held (base/lock.h) it is
 * written when the lock has been released. Async-signal-safe.
 */
#ifndef STINT_LOG_H
#define STINT_LOG_H

#include <stddef.h>

__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);
/* A line of the ancestor's wording: no "stint: ", but the glog prefix if STINT_LOG_PREFIX asks. */
__attribute__((format(printf, 1, 2))) void log_legacy(const char *format, ...);
/* The prefix itself, "" unless asked for; returns its length. */
size_t log_prefix(char *out, size_t size);

#endif
